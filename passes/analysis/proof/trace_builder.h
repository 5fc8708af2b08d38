//===- trace_builder.h - from IR to traces ----------------------------*- C++ -*-===//

#ifndef COLL_PASSES_ANALYSIS_PROOF_TRACE_BUILDER_H
#define COLL_PASSES_ANALYSIS_PROOF_TRACE_BUILDER_H

#include "passes/analysis/proof/trace.h"
#include "passes/analysis/proof/uniform_values.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <unordered_map>

namespace mlir::coll {

/// Whether two traces communicate in the same way, even if their operations differ.
bool isSameTrace(const TraceList &a, const TraceList &b);

class TraceBuilder {
public:
  TraceBuilder(TraceContext &context, Trace &trace) : context_(context), trace_(trace) {}

  LogicalResult addFunction(func::FuncOp function, TraceList &list);

private:
  LogicalResult addBlock(Block &block, TraceList &list);
  LogicalResult addOp(Operation *op, TraceList &list);
  LogicalResult addEvent(Operation *op, StartOp start, TraceList &list);
  LogicalResult addPeer(CommEvent &event, Value peer);
  void addAwait(AwaitOp await, TraceList &list);
  LogicalResult addCall(func::CallOp call, TraceList &list);
  LogicalResult addIf(scf::IfOp branch, TraceList &list);
  LogicalResult addSwitch(scf::IndexSwitchOp branch, TraceList &list);
  LogicalResult addFor(scf::ForOp loop, TraceList &list);
  LogicalResult addForBody(scf::ForOp loop, TraceList &body);
  LogicalResult addCountedFor(scf::ForOp loop, std::vector<RankExpr> bounds, TraceList &list);
  LogicalResult addWhile(scf::WhileOp loop, TraceList &list);
  LogicalResult addCountedWhile(scf::WhileOp loop, CountedWhile counted, TraceList &list);

  std::optional<CountedWhile> countWhile(scf::WhileOp loop);
  LogicalResult requireUniform(Operation *op, ValueRange values);

  /// The expression of `value`; loop variables that it needs are given slots.
  std::optional<RankExpr> compile(Value value);
  std::optional<unsigned> getSlot(Value value);
  /// The operand of the call under way that stands for `value`, or null.
  Value getOperand(Value value) const { return operands_.lookup(value); }
  /// Assignments of `sources` to those `targets` that have a slot.
  using Assignments = std::vector<std::pair<unsigned, std::optional<RankExpr>>>;
  Assignments assign(ValueRange targets, ValueRange sources);
  bool hasSlot(ValueRange values);
  unsigned getRequest(Value future);
  /// The futures of `from` are those of `to` from then on.
  void addMoves(Operation *op, ValueRange from, ValueRange to, TraceList &list);

  TraceContext &context_;
  Trace &trace_;
  DenseMap<Value, unsigned> slots_;
  /// Blocks whose arguments may have slots.
  DenseSet<Block *> open_;
  /// Operands of the calls under way, by the callee's argument.
  DenseMap<Value, Value> operands_;
  std::unordered_map<RankExpr, unsigned, RankExpr::Hash> peers_;
  std::map<std::pair<unsigned, unsigned>, unsigned> portOf_;       // by group and peer
  std::map<std::tuple<unsigned, int64_t, bool>, unsigned> linkOf_; // by port, tag and isSend
  DenseMap<Value, unsigned> requests_;                             // by future
  DenseMap<Operation *, std::unique_ptr<UniformValues>> uniform_;
  SmallVector<func::FuncOp> callStack_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_PROOF_TRACE_BUILDER_H
