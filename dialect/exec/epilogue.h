//===- epilogue.h - products with epilogues on buffers -----------------*- C++ -*-===//

#ifndef COLL_DIALECT_EXEC_EPILOGUE_H
#define COLL_DIALECT_EXEC_EPILOGUE_H

#include "dialect/epilogue.h"
#include "dialect/exec/exec.h"

#define GET_OP_CLASSES
#include "dialect/exec/epilogue_ops.h.inc"

#endif // COLL_DIALECT_EXEC_EPILOGUE_H
