//===- plan_buffers_impl.h - the buffer planner's parts ---------------*- C++ -*-===//
//
// Time runs in half steps: the operation numbered p reads at 2p and writes at
// 2p + 1. What an operation writes is occupied from 2p on, because it may be written
// while operands are still read.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_EXPORT_EXEC_PLAN_BUFFERS_IMPL_H
#define COLL_PASSES_EXPORT_EXEC_PLAN_BUFFERS_IMPL_H

#include "passes/export/exec/plan_buffers.h"

#include "dialect/dialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace mlir::coll {

/// Half-open.
struct Interval {
  int64_t begin, end;
};

/// One tensor content: held by an SSA value and all its views.
struct Content {
  Value value;      // null for memory without a value: scratch, results, temporaries
  LocationAttr loc; // of what makes it, if it is known
  int64_t bytes = 0;
  SmallVector<Interval, 2> live;
  unsigned usesExtend = 0; // the interval that uses lengthen
  bool isSlot = false;     // as PlannedContent has it
  scf::IfOp elseOf;        // its `else` alone is what uses lengthen; null: nothing is apart
};

/// Contents that share one buffer.
struct BufferClass {
  SmallVector<unsigned, 2> members;
  std::optional<Slot> pin;
  bool readOnly = false;
  int64_t bytes = 0;
  std::optional<size_t> bucket; // in which it lies beside others, see visitBucket()
};

/// `dst` needs the content of `src` when `at` runs: either it is in the same buffer, or it is
/// copied there. `Future`: it has to be in the same buffer, because an operation in flight uses it.
struct Tie {
  enum class Kind { Future, Carry, ReadWrite, Result, Alias };
  Kind kind;
  unsigned src, dst;
  Operation *at;
  int depth; // number of loops around `at`
};

class BufferPlanner {
public:
  BufferPlanner(func::FuncOp func, const KernelTable &kernels) : func_(func), kernels_(kernels) {}

  FailureOr<BufferPlan> run();

private:
  // plan_buffers.cc: contents, their lifetimes and their ties; plan_buffers_visit.cc: those of each
  // operation.
  void number(Region &region);
  void findPassedThrough(Operation *op);
  void defineArguments();
  LogicalResult visit(Operation *op);
  LogicalResult visitCall(func::CallOp call);
  void visitCommunication(Operation *op);
  void visitFor(scf::ForOp op);
  void visitWhile(scf::WhileOp op);
  void visitIf(scf::IfOp op);
  void visitReturn(func::ReturnOp op);
  void visitAwait(AwaitOp op);
  void visitBucket(StartOp start, AwaitOp await);
  void visitAttention(Operation *op);
  Value root(Value value) const;
  static bool isInMemory(Value value) { return livesInMemory(value.getType()); }
  unsigned define(Value value, int64_t bytes, ArrayRef<Interval> live, unsigned usesExtend = 0);
  unsigned defineResult(Value value);
  unsigned contentOf(Value value);
  void use(Value value, Operation *at);
  scf::IfOp findElse(Value value, Operation *at, int64_t end) const;
  void tie(Tie::Kind kind, Value src, unsigned dst, Operation *at);
  void allow(unsigned src, unsigned dst, Interval window);
  int64_t position(Operation *op) const { return begin_.lookup(op); }
  Interval writtenBy(Operation *op) const { return {2 * position(op), 2 * position(op) + 2}; }

  // plan_buffers_futures.cc: operations in flight that loops carry.
  void visitStart(StartOp op);
  void visitCarriedAwait(AwaitOp op);
  LogicalResult visitCarriedFutures(scf::ForOp op);
  void visitYieldedFutures(scf::ForOp op);
  FutureMemory defineFuture(Value future, ArrayRef<Interval> live);
  void useFuture(Value future, int64_t end);
  void tieFuture(Value from, Value to, Operation *at);
  LogicalResult checkFutures() const;

  // plan_buffers_merge.cc: which contents share a buffer; the remaining copies.
  void mergeTies();
  unsigned find(unsigned content) const;
  bool canMerge(const BufferClass &a, const BufferClass &b) const;
  bool conflict(unsigned a, unsigned b) const;
  void merge(unsigned a, unsigned b);
  void identify(unsigned content, unsigned other);
  void orderCopies(Operation *at, ArrayRef<Tie> ties);
  unsigned addTemporary(Operation *at, int64_t bytes);

  // plan_buffers_arena.cc: slots.
  void assignSlots();
  void placeInArena(ArrayRef<unsigned> leaders);
  Interval hull(const BufferClass &cls) const;

  func::FuncOp func_;
  const KernelTable &kernels_;
  BufferPlan plan_;
  llvm::DenseMap<Operation *, int64_t> begin_, end_;
  int64_t next_ = 0;
  llvm::DenseMap<Value, Value> alias_;
  llvm::DenseMap<Value, unsigned> contentOf_;
  std::vector<Content> contents_;
  std::vector<BufferClass> classes_; // by leader
  std::vector<SmallVector<unsigned>> buckets_;
  mutable std::vector<unsigned> parent_;
  std::vector<Tie> ties_;
  llvm::DenseMap<std::pair<unsigned, unsigned>, Interval> allowed_;
  llvm::DenseMap<unsigned, unsigned> sameAs_; // by identify()
  llvm::DenseMap<Operation *, unsigned> scratch_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_EXEC_PLAN_BUFFERS_IMPL_H
