//===- nest.h - a linalg operation on buffers, seen as loops -----------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_GPU_NEST_H
#define COLL_PASSES_EXPORT_GPU_NEST_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/export/gpu/launch.h"
#include "passes/export/kernels/loop_strides.h"

#include <optional>
#include <vector>

namespace mlir::coll {

struct NestOperand {
  OpOperand *use = nullptr;
  MemRefType type; // null: a scalar
  AffineMap map;
  /// Position of the element from the start of the allocation, in elements; none if it is no sum of
  /// multiples of the loops. Its offset counts only if `isOffsetKnown`.
  std::optional<LinearIndex> position;
  bool isOffsetKnown = false;

  /// Step of the loop in elements; none if unknown.
  std::optional<int64_t> stride(unsigned loop) const;
  /// Whether `width` elements along the loop are one aligned access.
  bool isVector(unsigned loop, unsigned width, ArrayRef<int64_t> extents) const;
  int64_t elementBytes() const;
};

/// How a result is computed.
struct NestOutput {
  unsigned result = 0;           // number of the output of the operation
  bool accumulates = false;      // along the reduction loops; else each element is written once
  Operation *combiner = nullptr; // of an accumulation in any order
  Value initial;                 // scalar that the accumulation starts from; null: the old content
};

/// Outputs that one launch computes.
struct Nest {
  mutable linalg::GenericOp op; // its accessors are not const
  SmallVector<int64_t> extents;
  SmallVector<NestOperand> operands; // of the operation, in order
  SmallVector<NestOutput> outputs;
  SmallVector<unsigned> parallel, reduction; // loops, outermost first, by the outputs' maps
  bool isOrdered = false; // the reduction loops have to run one after the other, in one thread

  const NestOperand &operandOf(const NestOutput &output) const {
    return operands[op.getNumDpsInputs() + output.result];
  }
  /// The scalars that outputs start from.
  SmallVector<Value> initialValues() const;
  int64_t count(ArrayRef<unsigned> loops) const;
  /// The extents of the loops, divided by `width` along loop `fast`.
  SmallVector<int64_t> sizes(ArrayRef<unsigned> loops, unsigned fast, unsigned width) const;
};

/// Cuts the operation into nests, in the order in which they have to run. Outputs that reduce along
/// the same loops share one. Fails without a diagnostic if an output has no such form.
/// `initial` has the scalar of each output whose buffer was to be filled before, or null.
FailureOr<std::vector<Nest>> analyzeNests(linalg::GenericOp op, ArrayRef<Value> initial);

/// Among `loops`, the one along which neighbouring threads access memory at the lowest cost.
unsigned findFastLoop(const Nest &nest, ArrayRef<unsigned> loops);

/// The largest number of elements along the loop, a power of two, that a thread can access at once.
unsigned findVectorWidth(const Nest &nest, unsigned loop);

/// Emits iterations of a nest inside a launch, `width` at a time along loop `fast`.
class NestEmitter {
public:
  NestEmitter(LaunchBuilder &launch, const Nest &nest, unsigned fast, unsigned width)
      : launch(launch), nest(nest), fast(fast), width(width) {}

  /// Values by iteration and output of the nest, or by operand and iteration.
  using Values = SmallVector<SmallVector<Value>>;

  /// The values that the iterations at `width` positions from `at` (an index per loop) read, by
  /// operand and position. May be far before the iteration: threads read what they write only at
  /// the same element. Operands whose values are `known`, by operand and position, are not loaded.
  Values loadInputs(ArrayRef<Value> at, const Values &known = {});

  /// The iterations themselves, from the accumulators, which only outputs that accumulate need.
  Values emit(ArrayRef<Value> at, const Values &inputs, const Values &accumulators);

  /// Stores the value of output `output` for each position.
  void store(unsigned output, ArrayRef<Value> at, const Values &values);

  /// The old content of an output.
  SmallVector<Value> load(const NestOperand &operand, ArrayRef<Value> at);

private:
  SmallVector<Value> positionsOf(const NestOperand &operand, ArrayRef<Value> at, unsigned lane);
  SmallVector<Value> emitLane(ArrayRef<Value> at, unsigned lane,
                              ArrayRef<SmallVector<Value>> loaded, ArrayRef<Value> accumulators);

  LaunchBuilder &launch;
  const Nest &nest;
  unsigned fast, width;
};

/// The combiner of an output with its accumulator and its other operand replaced.
Value emitCombine(LaunchBuilder &launch, const Nest &nest, const NestOutput &output,
                  Value accumulator, Value other);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_GPU_NEST_H
