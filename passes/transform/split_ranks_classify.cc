//===- split_ranks_classify.cc - which ranks run the same code -------------------===//

#include "passes/transform/split_ranks_classify.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::coll;

RankValue RankDecision::evaluate(int64_t rank) const {
  SmallVector<int64_t, 3> values;
  for (const RankExpr &expr : exprs) {
    RankValue value = expr.evaluate(rank);
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  if (isa<scf::IfOp>(op))
    return values[0] ? 0 : 1;
  if (auto select = dyn_cast<scf::IndexSwitchOp>(op)) {
    // Region 0 is the default.
    const int64_t *found = llvm::find(select.getCases(), values[0]);
    return found == select.getCases().end() ? 0 : 1 + (found - select.getCases().begin());
  }
  return values[0] < values[1] ? 0 : -1;
}

/// The values that decide which region `op` runs, and how often; empty if it is not a control
/// operation.
static SmallVector<Value, 3> getDeciders(Operation *op) {
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return {branch.getCondition()};
  if (auto select = dyn_cast<scf::IndexSwitchOp>(op))
    return {select.getArg()};
  if (auto loop = dyn_cast<scf::ForOp>(op); loop && !loop.getUnsignedCmp())
    return {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
  return {};
}

const RankDecision *RankClassifier::getDecision(Operation *op) {
  SmallVector<Value, 3> deciders = getDeciders(op);
  if (deciders.empty())
    return nullptr;
  auto [entry, isNew] = decisions_.try_emplace(op);
  if (isNew) {
    RankDecision decision{op, {}};
    bool dependsOnRank = false;
    for (Value value : deciders) {
      std::optional<RankExpr> expr = RankExpr::compile(value);
      if (!expr) {
        dependsOnRank = false;
        break;
      }
      dependsOnRank |= expr->dependsOnRank();
      decision.exprs.push_back(std::move(*expr));
    }
    if (dependsOnRank && communication_.communicates(op))
      decisions_[op] = std::move(decision);
  }
  const std::optional<RankDecision> &decision = decisions_[op];
  return decision ? &*decision : nullptr;
}

void RankClassifier::refine(ArrayRef<int64_t> ranks, ArrayRef<int64_t> values) {
  DenseMap<std::pair<unsigned, int64_t>, unsigned> renumbered;
  for (auto [rank, value] : llvm::zip_equal(ranks, values)) {
    auto [entry, isNew] = renumbered.try_emplace({classOf_[rank], value}, numClasses_);
    if (isNew)
      ++numClasses_;
    classOf_[rank] = entry->second;
  }
}

LogicalResult RankClassifier::visitDecision(const RankDecision &decision, ArrayRef<int64_t> ranks) {
  SmallVector<int64_t> values;
  llvm::MapVector<int64_t, SmallVector<int64_t>> ranksOf;
  for (int64_t rank : ranks) {
    RankValue value = decision.evaluate(rank);
    if (!value)
      return decision.op->emitError("rank ") << rank << " cannot evaluate what decides here";
    values.push_back(*value);
    ranksOf[*value].push_back(rank);
  }
  refine(ranks, values);
  for (auto &[value, subset] : ranksOf)
    if (value >= 0 && failed(visitRegion(decision.op->getRegion(value), subset)))
      return failure();
  return success();
}

LogicalResult RankClassifier::visitRegion(Region &region, ArrayRef<int64_t> ranks) {
  for (Operation &op : region.getOps()) {
    if (const RankDecision *decision = getDecision(&op)) {
      // Visiting nested operations may move the table of decisions.
      RankDecision copy = *decision;
      if (failed(visitDecision(copy, ranks)))
        return failure();
      continue;
    }
    if (auto call = dyn_cast<func::CallOp>(op))
      if (func::FuncOp callee = communication_.resolve(call))
        if (failed(visitFunction(callee, ranks)))
          return failure();
    if (!communication_.communicates(&op))
      continue;
    for (Region &nested : op.getRegions())
      if (failed(visitRegion(nested, ranks)))
        return failure();
  }
  return success();
}

LogicalResult RankClassifier::visitFunction(func::FuncOp function, ArrayRef<int64_t> ranks) {
  // Decisions depend on the rank alone, so one visit per rank and function is enough.
  llvm::BitVector &visited = visited_[function];
  visited.resize(numRanks_);
  SmallVector<int64_t> fresh;
  for (int64_t rank : ranks)
    if (!visited.test(rank)) {
      visited.set(rank);
      fresh.push_back(rank);
    }
  return fresh.empty() ? success() : visitRegion(function.getBody(), fresh);
}

LogicalResult RankClassifier::visit(func::FuncOp function) {
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, numRanks_));
  return visitFunction(function, all);
}

SmallVector<SmallVector<int64_t>> RankClassifier::getClasses() const {
  llvm::MapVector<unsigned, SmallVector<int64_t>> classes;
  for (auto [rank, number] : llvm::enumerate(classOf_))
    classes[number].push_back(rank);
  SmallVector<SmallVector<int64_t>> result;
  for (auto &[number, ranks] : classes)
    result.push_back(std::move(ranks));
  return result;
}
