// structure.h - random changes of IR that keep it well-formed, mostly.

#ifndef COLL_TEST_FUZZ_IR_STRUCTURE_H
#define COLL_TEST_FUZZ_IR_STRUCTURE_H

#include "test/fuzz/random.h"

#include "mlir/IR/BuiltinOps.h"

namespace coll::fuzz {

// Changes the module in up to a few places: operands become other values of their type that
// dominate them, operations are erased, cloned or moved, attributes changed or taken from
// others, axes and groups exchanged. Returns its text; "" where it cannot be parsed.
std::string mutateStructure(mlir::MLIRContext &context, const std::string &text, Random &random);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_IR_STRUCTURE_H
