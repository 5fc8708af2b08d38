//===- step_cost.cc ---------------------------------------------------------------===//

#include "passes/analysis/step_cost.h"

#include "dialect/exec/exec.h"
#include "dialect/notes.h"
#include "dialect/sharding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/analysis/op_work.h"
#include "passes/analysis/reshard_plans.h"
#include "plan/move.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::coll {

namespace {

namespace plan = ::coll::plan;

/// What a rank gives to a communication and what it gets.
struct LocalBytes {
  int64_t input = 0, result = 0;
};

LocalBytes localBytes(CollectiveOpInterface op) {
  return {op.getCommInput() ? getStaticBytes(op.getCommInput().getType()) : 0,
          op.getCommResult() ? getStaticBytes(op.getCommResult().getType()) : 0};
}

/// The part of a bucket that one of its operations has: up to where the next tensor begins.
int64_t bytesInBucket(CollectiveOpInterface op) {
  const int64_t bytes = getStaticBytes(op.getCommInput().getType());
  return isa<YieldOp>(op->getNextNode()) ? bytes : exec::alignInBucket(bytes);
}

/// The bytes and rounds of a collective; a transfer is one message.
plan::MoveBytes moveBytes(CollectiveOpInterface op, LocalBytes local, int64_t groupSize,
                          int64_t numRanks) {
  using plan::MoveKind;
  const auto [input, result] = local;
  auto as = [&](MoveKind kind, int64_t bytes, int64_t kept = 0) {
    return plan::bytesOf(kind, groupSize, numRanks, bytes, kept);
  };
  StringRef name = op->getName().stripDialect();
  if (name == "all_gather")
    return as(MoveKind::AllGather, input);
  if (name == "all_to_all")
    return as(MoveKind::AllToAll, input);
  if (name == "reduce_scatter")
    return as(MoveKind::ReduceScatter, input);
  if (name == "all_reduce")
    return as(MoveKind::AllReduce, input);
  if (name == "send")
    return {input * groupSize, input, 1};
  if (name == "recv")
    return {0, result, 1};
  if (name == "permute") {
    SmallVector<int64_t> pairs = cast<PermuteOp>(op.getOperation()).listPairs(groupSize);
    int64_t kept = groupSize - static_cast<int64_t>(pairs.size()) / 2;
    for (size_t i = 0; i + 1 < pairs.size(); i += 2)
      kept += pairs[i] == pairs[i + 1];
    return as(MoveKind::Permute, input, kept);
  }
  // Collectives with a root, and exchanges of tokens, are counted like an all_to_all.
  const int64_t bytes = std::max(input, result);
  return bytes == 0 ? plan::MoveBytes{0, 0, 1} : as(MoveKind::AllToAll, bytes);
}

/// What the ranks of a group put into a call together, of which each has `input` bytes.
int64_t payloadBytes(CollectiveOpInterface op, int64_t input, int64_t sent, int64_t groupSize) {
  StringRef name = op->getName().stripDialect();
  if (name == "broadcast" || name == "scatter") // the root alone
    return input;
  return name == "permute" ? sent : input * groupSize;
}

class CostWalk {
public:
  CostWalk(MeshOp mesh, const plan::CostModel &model) : mesh_(mesh), model_(model) {}

  StepCost run(func::FuncOp step) {
    step.walk([&](Operation *op) {
      if (auto collective = dyn_cast<CollectiveOpInterface>(op))
        addCollective(collective);
      else if (op->getParentOp() == step || !isa<linalg::LinalgOp>(op->getParentOp()))
        addWork(op);
    });
    cost_.memoryBytes = peakBytes(step);
    return std::move(cost_);
  }

private:
  void addCollective(CollectiveOpInterface op) {
    GroupAttr group = op.getCommGroup();
    if (!group || isa<InitOp>(op.getOperation()))
      return;
    const int64_t size = getGroupSize(group, mesh_);
    if (size <= 1)
      return;
    std::optional<int64_t> calls = getTripCount(op);
    CollectiveCost entry;
    entry.op = op;
    entry.isCounted = calls.has_value() && !op->getParentOfType<scf::IfOp>();
    entry.calls = calls.value_or(1);
    entry.groupSize = size;
    if (auto start = dyn_cast<StartOp>(op->getParentOp()); start && start.isBucket()) {
      auto [known, isNew] = bucketBytes_.try_emplace(start);
      if (isNew)
        known->second = exec::getBucketBytes(start.getBody().front());
      entry.sharesCall = op->getPrevNode() != nullptr;
      return addShare(entry, bytesInBucket(op), known->second);
    }
    const LocalBytes local = localBytes(op);
    if (auto tensors = op->getAttrOfType<ArrayAttr>(kTensorsAttr)) {
      for (auto tensor : tensors.getAsRange<DictionaryAttr>()) {
        entry.tensor = tensor;
        addShare(entry, getStaticBytes(tensor.getAs<TypeAttr>("type").getValue()), local.input);
        entry.sharesCall = true;
      }
      return;
    }
    const plan::MoveBytes bytes = moveBytes(op, local, size, size);
    add(entry, bytes, local.input, timeFor(group, bytes, size));
  }

  /// `own` of the `all` bytes that a rank puts into a call.
  void addShare(const CollectiveCost &entry, int64_t own, int64_t all) {
    auto op = cast<CollectiveOpInterface>(entry.op);
    const int64_t size = entry.groupSize;
    const double share = static_cast<double>(own) / static_cast<double>(std::max<int64_t>(all, 1));
    add(entry, moveBytes(op, {own, own}, size, size), own,
        share * timeFor(op.getCommGroup(), moveBytes(op, {all, all}, size, size), size));
  }

  void add(CollectiveCost entry, const plan::MoveBytes &bytes, int64_t input, double us) {
    entry.groupBytes = bytes.allRanks;
    entry.microseconds = us;
    const auto calls = static_cast<double>(entry.calls);
    const auto payload = static_cast<double>(payloadBytes(
        cast<CollectiveOpInterface>(entry.op), input, entry.groupBytes, entry.groupSize));
    if (!entry.sharesCall)
      cost_.calls += calls;
    cost_.payloadBytes += calls * payload / static_cast<double>(entry.groupSize);
    cost_.wireBytes += calls * entry.wireBytes();
    cost_.communicationUs += calls * us;
    cost_.collectives.push_back(entry);
  }

  double timeFor(GroupAttr group, const plan::MoveBytes &bytes, int64_t size) {
    const double sent = static_cast<double>(bytes.allRanks) / static_cast<double>(size);
    return timeOf(group, {0, sent, bytes.most, std::max(bytes.rounds, 1)});
  }

  double timeOf(GroupAttr group, plan::Traffic traffic) {
    if (group.isMesh()) {
      for (auto [index, axis] : llvm::enumerate(mesh_.getAxisNames()))
        if (llvm::is_contained(group.getAxes(), axis))
          traffic.axes |= uint64_t{1} << index;
      return model_.cost(traffic);
    }
    std::vector<std::vector<int64_t>> lists;
    for (const auto &list : getGroupLists(group, mesh_))
      lists.emplace_back(list.begin(), list.end());
    return model_.cost(traffic, lists);
  }

  void addWork(Operation *op) {
    const double calls = static_cast<double>(getTripCount(op).value_or(1));
    cost_.computeUs += calls * model_.costOfWork(getOwnWork(op));
  }

  /// Arguments stay; values live from their operation to their last use in the block.
  static int64_t peakBytes(func::FuncOp step) {
    int64_t held = 0;
    for (Type type : step.getArgumentTypes())
      held += getStaticBytes(type);
    return held + peakOf(step.getBody().front());
  }

  static int64_t peakOf(Block &block) {
    llvm::DenseMap<Operation *, int64_t> ended; // bytes of values that end with an operation
    int64_t alive = 0, peak = 0;
    for (Operation &op : block) {
      int64_t inner = 0;
      if (!isa<linalg::LinalgOp>(op))
        for (Region &region : op.getRegions())
          for (Block &nested : region)
            inner = std::max(inner, peakOf(nested));
      int64_t made = 0;
      for (Value result : op.getResults()) {
        const int64_t bytes =
            isa<tensor::EmptyOp, arith::ConstantOp>(op) ? 0 : getStaticBytes(result.getType());
        Operation *last = nullptr;
        for (Operation *user : result.getUsers()) {
          Operation *at = block.findAncestorOpInBlock(*user);
          last = !last || (at && last->isBeforeInBlock(at)) ? at : last;
        }
        made += bytes;
        if (last)
          ended[last] += bytes;
        else
          ended[&op] += bytes;
      }
      alive += made;
      peak = std::max(peak, alive + inner);
      alive -= ended.lookup(&op);
    }
    return peak;
  }

  MeshOp mesh_;
  const plan::CostModel &model_;
  StepCost cost_;
  llvm::DenseMap<Operation *, int64_t> bucketBytes_; // of the call that a start makes
};

} // namespace

StepCost getStepCost(func::FuncOp step, MeshOp mesh, const plan::CostModel &model) {
  return CostWalk(mesh, model).run(step);
}

} // namespace mlir::coll
