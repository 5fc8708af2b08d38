//===- verify_ranks.cc - rank programs that cannot mismatch or deadlock ----------===//
//
// The rules, and where they are checked (files in proof/):
//
//  1. Each rank has exactly one program (here).
//  2. The n-th operation that a rank posts on a communicator and stream agrees with
//     every other member's n-th in kind, type, reduction, order, root and dimensions.
//     Sends and receives between two ranks meet in program order per communicator and
//     tag, and agree in type. Peers are other members of the group
//     (simulator_match.cc).
//  3. No rank waits for ever: neither in a cycle, nor for a rank that has ended
//     (simulator_report.cc).
//  4. Each operation in flight is awaited exactly once (start_c4); loops carry it from
//     round to round (Move nodes). What it reads is a value, which nothing changes, and
//     what it receives exists from its await on; memory is checked by coll-verify-exec.
//  5. Control flow around communication is decided by the rank, constants and counted
//     loops; or it communicates alike whichever way it goes; or it depends on values
//     that are equal on all ranks (uniform_values.h). In the last case all ranks must
//     reach it together, and each way through must leave the same operations in flight
//     as it found, so that the number of rounds does not matter. It is only accepted
//     where all ranks run one program (trace_control.cc).
//
// A module of plain functions is one program of all ranks.
//
//===----------------------------------------------------------------------------===//

#include "passes/analysis/proof/simulator.h"
#include "passes/passes.h"

#include "llvm/ADT/SetVector.h"

namespace mlir::coll {
#define GEN_PASS_DEF_VERIFYRANKSPASS
#include "passes/passes.h.inc"
} // namespace mlir::coll

using namespace mlir;
using namespace mlir::coll;

namespace {

struct VerifyRanksPass : coll::impl::VerifyRanksPassBase<VerifyRanksPass> {
  using VerifyRanksPassBase::VerifyRanksPassBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    FailureOr<int64_t> numRanks = getNumRanks(getOperation(), ranks);
    if (failed(numRanks) || failed(collectClasses(*numRanks)))
      return signalPassFailure();
    bool hasFailed = false;
    TraceContext context(*numRanks);
    context.singleClass = classes_.size() == 1;
    for (StringAttr name : getEntries())
      hasFailed |= failed(verifyFunction(name, context));
    if (hasFailed)
      signalPassFailure();
  }

private:
  LogicalResult collectClasses(int64_t numRanks) {
    constexpr unsigned kNoClass = ~0u;
    ModuleOp module = getOperation();
    classes_ = getRankClasses(module, numRanks);
    classOf_.assign(numRanks, kNoClass);
    for (auto [index, rankClass] : llvm::enumerate(classes_)) {
      for (int64_t rank : rankClass.ranks) {
        unsigned other = classOf_[rank];
        if (other != kNoClass)
          return rankClass.source->emitError("rank ")
                 << rank << " also runs @" << classes_[other].name;
        classOf_[rank] = index;
      }
    }
    const unsigned *missing = llvm::find(classOf_, kNoClass);
    if (missing != classOf_.end())
      return module.emitError("rank ") << missing - classOf_.begin() << " has no program";
    return success();
  }

  /// Names of @init, @step and the functions that are not called, in order of appearance.
  llvm::SetVector<StringAttr> getEntries() {
    llvm::SetVector<StringAttr> entries;
    for (const RankClass &rankClass : classes_) {
      DenseSet<StringAttr> called;
      for (func::FuncOp function : rankClass.functions)
        function.walk([&](func::CallOp call) { called.insert(call.getCalleeAttr().getAttr()); });
      for (func::FuncOp function : rankClass.functions)
        if (!called.contains(function.getSymNameAttr()) || function.getSymName() == kStepFunction ||
            function.getSymName() == kInitFunction)
          entries.insert(function.getSymNameAttr());
    }
    return entries;
  }

  LogicalResult verifyFunction(StringAttr name, TraceContext &context) {
    std::vector<Trace> traces;
    for (const RankClass &rankClass : classes_) {
      func::FuncOp function = rankClass.lookup(name.getValue());
      // A rank whose program lacks the function is treated as if it had run an empty one.
      FailureOr<Trace> trace = function ? buildTrace(function, context) : Trace();
      if (failed(trace))
        return failure();
      traces.push_back(std::move(*trace));
    }
    AgentSet agents(context.groups, traces, classOf_);
    return RankSimulator(context, agents, name.getValue()).run();
  }

  SmallVector<RankClass> classes_;
  SmallVector<unsigned> classOf_;
};

} // namespace
