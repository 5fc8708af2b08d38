//===- assignment_choice.cc - which loops of an operation to split ----------------===//
//
// Operands and uses may ask for different splits of one loop, or for one axis in two
// loops. Each candidate lets another one of them decide first; the cheapest is taken.
//
//   x [dp, -] · w [dp, -]    x first: split rows by dp, gather w
//                            w first: split the sum by dp, exchange x, scatter the result
//
//===----------------------------------------------------------------------------===//

#include "dialect/sharding.h"
#include "passes/analysis/assignment.h"
#include "passes/analysis/sharding_cost.h"

namespace mlir::coll {

namespace {

constexpr size_t kMaxCandidates = 8;

class AssignmentChoice {
public:
  AssignmentChoice(Operation *op, const ShardingRule &rule, MeshOp mesh,
                   const Surroundings &surroundings)
      : op_(op), rule_(rule), mesh_(mesh), surroundings_(surroundings) {
    seed_.factors.resize(rule.factors.size());
  }

  Assignment run(SmallVectorImpl<int64_t> &rejected) {
    passPartials(rejected);
    SmallVector<int64_t> order = getOperandsBySize(op_, surroundings_.operands);
    add("as the larger operands are split", order, {}, /*splitsReductions=*/true);
    if (!surroundings_.decidesByCost || !hasConflict(candidates_.front().assignment))
      return candidates_.front().assignment;
    for (int64_t first : llvm::ArrayRef(order).drop_front())
      if (isSplit(surroundings_.operands[first]))
        add("as operand " + std::to_string(first) + " is split", withFirst(order, first), {}, true);
    add("without splitting a sum", order, {}, /*splitsReductions=*/false);
    for (auto [index, requests] : llvm::enumerate(surroundings_.requests))
      for (ShardingAttr request : requests) {
        add("as a use asks", order, {request, index}, true);
        add("as a use asks, without splitting a sum", order, {request, index}, false);
      }
    return getCheapest();
  }

private:
  /// The sharding that a use asks for, for one result.
  struct Request {
    ShardingAttr sharding;
    size_t result = 0;
  };

  struct Candidate {
    Assignment assignment;
    std::string label;
    double bytes = 0, work = 0;

    double getCost() const { return bytes + work; }
  };

  static bool isSplit(ShardingAttr sharding) {
    return llvm::any_of(sharding.getDims(),
                        [](DimShardingAttr dim) { return !dim.getAxes().empty(); });
  }

  /// Decides about partial operands, which is common to all candidates.
  void passPartials(SmallVectorImpl<int64_t> &rejected) {
    SmallVector<int64_t> partial;
    for (auto [index, sharding] : llvm::enumerate(surroundings_.operands))
      if (sharding && sharding.isPartial())
        partial.push_back(index);
    if (partial.empty())
      return;
    seed_.linearSet =
        findLinearSet(op_, rule_, surroundings_.operands, partial, surroundings_.isNeutral);
    if (seed_.linearSet >= 0)
      llvm::append_range(seed_.linearAxes,
                         surroundings_.operands[partial.front()].getPartialAxes());
    else
      rejected.append(partial.begin(), partial.end());
  }

  /// Splits factors as the dimensions of one tensor are split, as far as their axes are free: of
  /// the axes of a dimension, those before the first one that is used already.
  void split(ArrayRef<DimFactor> dims, ShardingAttr sharding, bool splitsReductions,
             Assignment &assignment, SmallVectorImpl<StringAttr> &used) {
    for (auto [target, dim] : llvm::zip(dims, sharding.getDims())) {
      if (target.factor < 0 || dim.getAxes().empty() || assignment.factors[target.factor] ||
          (!splitsReductions && rule_.factors[target.factor].reduction))
        continue;
      ArrayRef<StringAttr> axes = dim.getAxes().take_while(
          [&](StringAttr axis) { return !llvm::is_contained(used, axis); });
      if (axes.empty())
        continue;
      DimShardingAttr free = takeAxes(mesh_, dim, axes.size());
      if (!isWorthHalos(target, free))
        continue;
      assignment.factors[target.factor] =
          normalizeUnit(mesh_, toFactor(free, target), rule_.factors[target.factor].size);
      llvm::append_range(used, axes);
    }
  }

  /// A split is not worth its halos if some rank would have no window.
  bool isWorthHalos(const DimFactor &dim, DimShardingAttr split) {
    bool isWindow = dim.reach && dim.reach->last > dim.reach->first;
    return !isWindow || rule_.factors[dim.factor].size >= getNumShards(mesh_, split);
  }

  /// Adds the candidate in which `request`, if there is one, decides first and then the operands in
  /// `order`.
  void add(std::string label, ArrayRef<int64_t> order, Request request, bool splitsReductions) {
    if (candidates_.size() == kMaxCandidates)
      return;
    Assignment assignment = seed_;
    SmallVector<StringAttr> used(seed_.linearAxes);
    if (request.sharding)
      split(rule_.results[request.result], request.sharding, splitsReductions, assignment, used);
    for (int64_t index : order)
      split(rule_.operands[index], surroundings_.operands[index], splitsReductions, assignment,
            used);
    bool isKnown = llvm::any_of(candidates_, [&](const Candidate &other) {
      return other.assignment.factors == assignment.factors;
    });
    if (!isKnown)
      candidates_.push_back({std::move(assignment), std::move(label)});
  }

  /// Whether an operand, or a result that is not partial, has to be resharded. A partial result is
  /// no conflict: gradients are partial wherever the batch is split. A partial result that is
  /// written at computed positions is one, because it can be split by position instead.
  bool hasConflict(const Assignment &assignment) {
    if (getOperandBytes(assignment, /*withHalos=*/false) > 0)
      return true;
    for (auto [index, requests] : llvm::enumerate(surroundings_.requests)) {
      auto type = dyn_cast<RankedTensorType>(op_->getResult(index).getType());
      if (!type)
        continue;
      ShardingAttr result = getResultSharding(rule_, assignment, mesh_, index);
      if (result.isPartial() && isIndexed(rule_.results[index]))
        return true;
      for (ShardingAttr request : requests)
        if (!result.isPartial() && getReshardBytes(mesh_, type, result, request) > 0)
          return true;
    }
    return false;
  }

  bool isIndexed(ArrayRef<DimFactor> dims) {
    return llvm::any_of(dims, [&](const DimFactor &dim) {
      return dim.factor >= 0 && rule_.factors[dim.factor].isIndexed;
    });
  }

  double getOperandBytes(const Assignment &assignment, bool withHalos = true) {
    double bytes = 0;
    for (auto [index, have] : llvm::enumerate(surroundings_.operands)) {
      if (!have)
        continue;
      ShardingAttr want = getOperandSharding(rule_, assignment, mesh_, index);
      auto type = cast<RankedTensorType>(op_->getOperand(index).getType());
      // An initial value, or an operand that is zero everywhere, need not be partial.
      if (!have.isPartial())
        want = want.withoutPartial();
      bytes += getReshardBytes(mesh_, type, have, want);
      if (withHalos)
        bytes += getHaloBytes(op_, rule_, assignment, mesh_, index);
    }
    return bytes;
  }

  /// Bytes sent to reshard the operands for this assignment, and its results for their uses.
  double getTransferBytes(const Assignment &assignment) {
    double bytes = getOperandBytes(assignment);
    for (auto [index, result] : llvm::enumerate(op_->getResults()))
      if (auto type = dyn_cast<RankedTensorType>(result.getType()))
        bytes += getResultBytes(type, index, assignment);
    return bytes;
  }

  double getResultBytes(RankedTensorType type, size_t index, const Assignment &assignment) {
    ShardingAttr result = getResultSharding(rule_, assignment, mesh_, index);
    ArrayRef<ShardingAttr> requests;
    if (index < surroundings_.requests.size())
      requests = surroundings_.requests[index];
    double bytes = 0;
    for (ShardingAttr request : requests)
      bytes += request.isPartial() ? getCombineBytes(mesh_, type, result)
                                   : getReshardBytes(mesh_, type, result, request);
    return requests.empty() ? getCombineBytes(mesh_, type, result) : bytes;
  }

  Assignment getCheapest() {
    for (Candidate &candidate : candidates_) {
      candidate.bytes = getTransferBytes(candidate.assignment);
      candidate.work = getWorkCost(op_, rule_, candidate.assignment, mesh_);
    }
    llvm::stable_sort(candidates_, [](const Candidate &a, const Candidate &b) {
      return a.getCost() < b.getCost();
    });
    Candidate &best = candidates_.front();
    if (candidates_.size() > 1) {
      const Candidate &other = candidates_[1];
      best.assignment.decision = Decision{best.label,
                                          other.label,
                                          static_cast<int64_t>(best.bytes),
                                          static_cast<int64_t>(best.work),
                                          static_cast<int64_t>(other.bytes),
                                          static_cast<int64_t>(other.work)};
    }
    return best.assignment;
  }

  Operation *op_;
  const ShardingRule &rule_;
  MeshOp mesh_;
  const Surroundings &surroundings_;
  Assignment seed_;
  SmallVector<Candidate, 0> candidates_;
};

} // namespace

std::string Decision::describe() const {
  auto way = [](const std::string &label, int64_t bytes, int64_t work) {
    return label + ": " + describeReshardBytes(bytes) + " and " + std::to_string(work) +
           " bytes' worth of work a rank";
  };
  return "is split " + way(chosen, chosenBytes, chosenWork) + "; " +
         way(other, otherBytes, otherWork);
}

Assignment chooseAssignment(Operation *op, const ShardingRule &rule, MeshOp mesh,
                            const Surroundings &surroundings, SmallVectorImpl<int64_t> &rejected) {
  return AssignmentChoice(op, rule, mesh, surroundings).run(rejected);
}

} // namespace mlir::coll
