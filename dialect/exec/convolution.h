//===- convolution.h - convolutions on buffers -------------------------*- C++ -*-===//

#ifndef COLL_DIALECT_EXEC_CONVOLUTION_H
#define COLL_DIALECT_EXEC_CONVOLUTION_H

#include "dialect/convolution.h"
#include "dialect/exec/exec.h"

#define GET_OP_CLASSES
#include "dialect/exec/convolution_ops.h.inc"

#endif // COLL_DIALECT_EXEC_CONVOLUTION_H
