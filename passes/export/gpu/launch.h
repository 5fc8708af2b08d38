//===- launch.h - one launch of a kernel function ----------------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_GPU_LAUNCH_H
#define COLL_PASSES_EXPORT_GPU_LAUNCH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::coll {

/// On a gpu.func: the parameters whose memory no other parameter shares.
inline constexpr llvm::StringLiteral kUnaliasedAttr = "unaliased";

/// Writes the gpu.func of a launch, and the gpu.launch_func in the kernel function, before the
/// operation that the launch computes. A function has one-dimensional blocks and grids.
class LaunchBuilder {
public:
  /// Begins a launch that computes `op`: its parameters are the arguments and allocations of the
  /// kernel function from which `op` and `more` are computed.
  LaunchBuilder(func::FuncOp kernel, gpu::GPUModuleOp code, Operation *op, ValueRange more = {});
  /// The same, of several operations: the launch stands before `op` and computes with `used`.
  LaunchBuilder(func::FuncOp kernel, gpu::GPUModuleOp code, Operation *op,
                const SetVector<Value> &used);

  /// Ends it; runs on `threads` threads or a few more, in blocks of `blockSize`.
  void finish(int64_t threads, int64_t blockSize);

  /// The counterpart of a value outside.
  Value get(Value outside) const { return mapping.lookup(outside); }

  /// Number of this thread in the grid, which is below 2^31 where `threads` is.
  Value threadNumber(int64_t threads, int64_t blockSize);
  Value threadInBlock(int64_t blockSize);

  /// Runs the rest of the function only where `number` < `limit`; nothing if every thread of the
  /// grid is below.
  void guard(Value number, int64_t limit, int64_t blockSize);

  /// Memory that the threads of a block share.
  Value addShared(ArrayRef<int64_t> shape, Type element);

  Value index(int64_t value);
  Value add(Value x, Value y);
  Value add(Value x, int64_t y) { return y == 0 ? x : add(x, index(y)); }
  Value mul(Value x, int64_t y);
  /// Both for x of at most `limit`: 32-bit arithmetic where that is enough.
  Value div(Value x, int64_t y, int64_t limit);
  Value rem(Value x, int64_t y, int64_t limit);
  Value isBelow(Value x, Value limit);

  /// Coordinates of a row-major position in `sizes`, the last one fastest.
  SmallVector<Value> delinearize(Value position, ArrayRef<int64_t> sizes);

  ImplicitLocOpBuilder b;
  IRMapping mapping; // from outside into the function

  /// The value that the thread whose number differs in bit `distance` has; every thread of the warp
  /// takes part.
  Value shuffle(Value value, int64_t distance);

private:
  void createFunction();

  func::FuncOp kernel;
  gpu::GPUModuleOp code;
  gpu::GPUFuncOp function;
  Operation *op;
  SmallVector<Value> leaves; // outside values that are parameters
};

/// The buffer that a value is a part of: an argument, an allocation, a global.
Value getRootBuffer(Value buffer);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_GPU_LAUNCH_H
