// operations.h - what a random step is made of, one function per operation.

#ifndef COLL_TEST_FUZZ_PROGRAMS_OPERATIONS_H
#define COLL_TEST_FUZZ_PROGRAMS_OPERATIONS_H

#include "test/fuzz/programs/generator.h"

namespace coll::fuzz {

using AddOperation = bool(Generator &);

// elementwise.cc
AddOperation addUnary, addBinary, addIntegerBinary, addDivide, addCompare, addSelect, addClamp,
    addConvert, addLogical;
// shape.cc
AddOperation addBroadcast, addTranspose, addReshape, addSlice, addPad, addConcatenate, addReverse,
    addIota;
// reduce.cc
AddOperation addReduce, addArgmax, addReduceWindow, addPoolGradient;
// contract.cc, convolution.cc
AddOperation addDotGeneral, addConvolution;
// indexed.cc
AddOperation addGather, addScatter, addDynamicSlice, addDynamicUpdateSlice;
// order.cc
AddOperation addSort, addTopK, addRandomBits;
// control.cc
AddOperation addWhile, addBranch;

// upstream.cc
AddOperation addLinalg, addArith, addExtractSlice, addInsertSlice, addTensorConcat;

struct Operation {
  AddOperation *add;
  int weight;
  bool isUpstream = false; // of MLIR, not StableHLO
};
const std::vector<Operation> &allOperations();

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_PROGRAMS_OPERATIONS_H
