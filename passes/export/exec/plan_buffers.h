//===- plan_buffers.h - the memory of every tensor of a step ----------*- C++ -*-===//
//
// Decides, for a driver function in kernel form (calls of outlined kernels,
// communication, scf over tensors), the memory of each tensor value, and the copies
// that remain. Analysis only: no IR is changed; coll-to-exec writes the plan down.
//
// Memory is: the argument buffers (only those that a result is paired with are
// writable), the result buffers, read-only constants, and one arena with fixed
// offsets. A state result is produced in its argument's buffer if the old state is
// not needed any more; otherwise it is copied there before the return.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_EXPORT_PLAN_BUFFERS_H
#define COLL_PASSES_EXPORT_PLAN_BUFFERS_H

#include "dialect/exec/memory_form.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

#include <vector>

namespace mlir::coll {

/// The accesses of a kernel to one argument.
struct KernelArg {
  enum class Access { Scalar, Read, Write, ReadWrite };
  Access access = Access::Scalar;
  /// Results whose buffer a read argument may be.
  SmallVector<int64_t> mayAlias;
};

/// The last `numResults` arguments are the destinations of the results.
struct KernelInfo {
  SmallVector<KernelArg> args;
  unsigned numResults = 0;
  int64_t scratchBytes = 0;

  unsigned firstDest() const { return args.size() - numResults; }
};

using KernelTable = llvm::StringMap<KernelInfo>;

/// Reads the `coll.access` and `coll.may_alias` attributes of `kernel`; reports an error if they
/// are missing or wrong.
FailureOr<KernelInfo> getKernelInfo(func::FuncOp kernel);

/// For each result of `func`, the argument that it updates, or -1.
SmallVector<int64_t> getUpdatedArgs(func::FuncOp func);

/// Whether values of the type live in memory: tensors and routes. Others are scalars of the driver.
bool livesInMemory(Type type);

/// Size of a tensor or a route in memory.
int64_t getBytes(Type type);

/// Set on a splat `arith.constant` that is to be written into a buffer of its own at its place,
/// instead of being read-only data.
inline constexpr llvm::StringLiteral kFillAttr = "emit.fill";

/// A piece of memory. `index` is the number of the argument, result or constant, or the byte offset
/// in the arena.
struct Slot {
  enum class Kind { Arg, Result, Constant, Arena };
  Kind kind = Kind::Arena;
  int64_t index = 0;
  int64_t bytes = 0;
};

/// The content of a value, or memory without a value: scratch, a result's buffer, a temporary.
struct PlannedContent {
  unsigned slot = 0;
  int64_t bytes = 0;
  bool isSlot = false; // it is the argument, the result or the constant that its slot is
  LocationAttr loc;    // of what makes it; null: unknown
};

/// `dst` takes the content of `src`, which is in the same slot or is copied from another.
struct Move {
  unsigned src, dst;
  bool isCopy;
};

/// The contents that an operation in flight reads and writes, of a future that a loop carries.
struct FutureMemory {
  SmallVector<unsigned> sources, results;
};

struct BufferPlan {
  std::vector<Slot> slots;
  std::vector<PlannedContent> contents;
  /// The values of the Constant slots.
  std::vector<arith::ConstantOp> constants;
  int64_t arenaBytes = 0;
  /// The content of every tensor value that has one (a `tensor.empty` that is only a
  /// destination has none).
  llvm::DenseMap<Value, unsigned> contentOf;
  /// Moves to make before an operation, in order.
  llvm::DenseMap<Operation *, SmallVector<Move>> movesBefore;
  /// Scratch memory of kernel calls that need it.
  llvm::DenseMap<Operation *, unsigned> scratchOf;
  /// The memory of futures that loops carry.
  llvm::DenseMap<Value, FutureMemory> memoryOf;

  /// Null for a future that is awaited where it is made.
  const FutureMemory *getMemory(Value future) const {
    auto it = memoryOf.find(future);
    return it == memoryOf.end() ? nullptr : &it->second;
  }
};

FailureOr<BufferPlan> planBuffers(func::FuncOp func, const KernelTable &kernels);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_PLAN_BUFFERS_H
