//===- plan_coster.h - the cost of plans of one step ---------------------*- C++ -*-===//

#ifndef COLL_COMPILER_PLAN_COSTER_H
#define COLL_COMPILER_PLAN_COSTER_H

#include "compiler/explanation.h"
#include "plan/topology.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringMap.h"

#include <deque>
#include <memory>

namespace coll::run {

struct PlanCost {
  double us = 0, calls = 0, wireBytes = 0;
  int64_t memoryBytes = 0;
};

/// Partitions copies of steps as plans say, and costs the result (passes/analysis/step_cost.h).
/// Each thread has a context and copies of its own, so that types and attributes are made without
/// locks; results do not depend on the number of threads.
class PlanCoster {
public:
  struct Options {
    plan::Topology topology;
    std::string topologyFile;        // empty: bytes decide how data moves
    std::vector<std::string> shards; // that come after those of each plan
    bool narrowSums = false;
    int64_t combineBytes = 0;
  };

  /// Which of the steps that add() was given.
  using StepNumber = size_t;

  /// At most `threads` plans are costed at a time.
  PlanCoster(mlir::MLIRContext &like, Options options, unsigned threads);
  ~PlanCoster();

  const plan::Topology &topology() const { return options_.topology; }

  /// A step at L0 without calls.
  StepNumber add(mlir::ModuleOp module);

  /// Costs those of the plans that are not known yet.
  void cost(StepNumber step, llvm::ArrayRef<PlanCandidate> plans);

  /// The cost of a plan; nullopt if the step cannot be partitioned in that way.
  const std::optional<PlanCost> &costOf(StepNumber step, const PlanCandidate &plan);

  /// Plans that have been costed for a step.
  int64_t numCosted(StepNumber step) const { return int64_t(known_[step].size()); }

private:
  class Worker;

  mlir::MLIRContext &like_; // has the dialects
  Options options_;
  std::deque<std::string> texts_;                              // of the steps, as bytecode
  std::vector<std::unique_ptr<Worker>> workers_;               // made when they are needed
  std::deque<llvm::StringMap<std::optional<PlanCost>>> known_; // by step and plan
};

} // namespace coll::run

#endif // COLL_COMPILER_PLAN_COSTER_H
