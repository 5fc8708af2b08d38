//===- combine_collectives.cc - one call for many tensors ------------------------===//

#include "dialect/exec/exec.h"
#include "dialect/exec/memory_form.h"
#include "dialect/sharding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/passes.h"

#include <queue>

namespace mlir::coll {

#define GEN_PASS_DEF_COMBINECOLLECTIVESPASS
#include "passes/passes.h.inc"

namespace {

int64_t bytesOf(AllReduceOp op) {
  return getTensorBytes(cast<RankedTensorType>(op.getType())).value_or(INT64_MAX);
}

/// No bucket is larger, so that sums of sizes do not overflow.
constexpr int64_t kMostBytes = int64_t(1) << 40;

using Bucket = SmallVector<AllReduceOp>;

/// The operations of a block as a graph. Edges go from what makes a value to what uses it, and
/// from each operation with an effect to the next, but for reductions that may be combined: what
/// the members of a group agree on is the order that results here, the same on all of them.
class BlockGraph {
public:
  explicit BlockGraph(Block &block) : block_(block) {
    Operation *effect = nullptr;
    for (Operation &op : block.without_terminator()) {
      number_[&op] = ops_.size();
      ops_.push_back(&op);
      SmallVector<unsigned> &before = before_.emplace_back();
      llvm::SetVector<Value> values(op.operand_begin(), op.operand_end());
      getUsedValuesDefinedAbove(op.getRegions(), values);
      for (Value value : values)
        if (Operation *maker = value.getDefiningOp(); maker && maker->getBlock() == &block)
          before.push_back(number_.lookup(maker));
      if (isa<AllReduceOp>(op) || isMemoryEffectFree(&op))
        continue;
      if (effect)
        before.push_back(number_.lookup(effect));
      effect = &op;
    }
  }

  /// Reductions that differ from `first` in their tensors only, as many in a bucket as `limit`
  /// bytes allow. Those of a bucket stand behind equally many others of them on the longest way to
  /// each, so none depends on another, and no two buckets on each other.
  SmallVector<Bucket> findBuckets(AllReduceOp first, int64_t limit) const {
    struct Open {
      Bucket bucket;
      int64_t bytes = 0;
    };
    std::vector<unsigned> depths(ops_.size());
    llvm::MapVector<unsigned, Open> open; // by depth
    SmallVector<Bucket> full;
    for (auto [i, op] : llvm::enumerate(ops_)) {
      for (unsigned before : before_[i])
        depths[i] = std::max(depths[i], depths[before] + isLike(ops_[before], first));
      if (!isLike(op, first))
        continue;
      auto reduction = cast<AllReduceOp>(op);
      const int64_t bytes = bytesOf(reduction);
      if (bytes == 0 || bytes > limit)
        continue;
      Open &at = open[depths[i]];
      if (exec::alignInBucket(at.bytes) + bytes > limit) {
        full.push_back(std::move(at.bucket));
        at = {};
      }
      at.bucket.push_back(reduction);
      at.bytes = exec::alignInBucket(at.bytes) + bytes;
    }
    for (auto &[depth, at] : open)
      full.push_back(std::move(at.bucket));
    llvm::erase_if(full, [](const Bucket &bucket) { return bucket.size() < 2; });
    return full;
  }

  /// Brings those of a bucket together, where the last of them stands; what uses their results goes
  /// behind them, everything else keeps its order.
  void sort(ArrayRef<Bucket> buckets) {
    std::vector<unsigned> leader(ops_.size());
    for (unsigned i = 0; i < ops_.size(); ++i)
      leader[i] = i;
    for (const Bucket &bucket : buckets)
      for (AllReduceOp op : bucket)
        leader[number_.lookup(op)] = number_.lookup(bucket.back());
    std::vector<SmallVector<unsigned>> behind(ops_.size()), members(ops_.size());
    std::vector<unsigned> missing(ops_.size());
    for (unsigned i = 0; i < ops_.size(); ++i) {
      members[leader[i]].push_back(i);
      for (unsigned before : before_[i]) {
        behind[leader[before]].push_back(leader[i]);
        ++missing[leader[i]];
      }
    }
    std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> ready;
    for (unsigned i = 0; i < ops_.size(); ++i)
      if (leader[i] == i && missing[i] == 0)
        ready.push(i);
    while (!ready.empty()) {
      const unsigned next = ready.top();
      ready.pop();
      for (unsigned member : members[next])
        ops_[member]->moveBefore(&block_, block_.getTerminator()->getIterator());
      for (unsigned user : behind[next])
        if (--missing[user] == 0)
          ready.push(user);
    }
  }

  static bool isLike(Operation *op, AllReduceOp first) {
    return isa<AllReduceOp>(op) && coll::detail::isSameCall(first, op);
  }

private:
  Block &block_;
  SmallVector<Operation *> ops_;
  llvm::DenseMap<Operation *, unsigned> number_;
  std::vector<SmallVector<unsigned>> before_;
};

/// A start of all of them, awaited at once.
void combine(Bucket bucket) {
  Operation *behind = bucket.back()->getNextNode();
  // Only the last tensor may end anywhere without making the call larger.
  llvm::stable_sort(bucket, [](AllReduceOp a, AllReduceOp b) {
    auto isRagged = [](AllReduceOp op) { return bytesOf(op) % exec::kBucketAlignment != 0; };
    return isRagged(a) < isRagged(b);
  });
  OpBuilder builder(behind);
  Location loc = bucket.front().getLoc();
  SmallVector<Value> inputs, results;
  SmallVector<Type> types;
  for (AllReduceOp op : bucket) {
    inputs.push_back(op.getInput());
    types.push_back(op.getType());
  }
  auto start = StartOp::create(builder, loc, FutureType::get(builder.getContext(), types), inputs);
  auto await = AwaitOp::create(builder, loc, start.getFuture());
  Block *body = builder.createBlock(&start.getBody());
  for (AllReduceOp op : bucket) {
    IRMapping map;
    map.map(op.getInput(), body->addArgument(op.getType(), op.getLoc()));
    llvm::append_range(results, builder.clone(*op, map)->getResults());
  }
  YieldOp::create(builder, loc, results);
  for (auto [op, result] : llvm::zip_equal(bucket, await.getResults())) {
    op.replaceAllUsesWith(result);
    op.erase();
  }
}

/// Whether ranks come to the body of `op` together: which side of a branch they take may depend on
/// the rank, and calls in both sides have to match.
bool runsOnAllRanks(Operation *op) {
  while (isa<scf::ForOp>(op))
    op = op->getParentOp();
  return isa<func::FuncOp>(op) && !isa<ProgramOp>(op->getParentOp());
}

class CombineCollectivesPass : public impl::CombineCollectivesPassBase<CombineCollectivesPass> {
public:
  using CombineCollectivesPassBase::CombineCollectivesPassBase;

  void runOnOperation() override {
    llvm::SetVector<Block *> blocks;
    getOperation()->walk([&](AllReduceOp op) {
      if (runsOnAllRanks(op->getParentOp()))
        blocks.insert(op->getBlock());
    });
    bytes = std::min(bytes.getValue(), kMostBytes);
    for (Block *block : blocks)
      combineIn(*block);
  }

private:
  void combineIn(Block &block) {
    SmallVector<AllReduceOp> kinds;
    for (auto op : block.getOps<AllReduceOp>())
      if (llvm::none_of(kinds,
                        [&](AllReduceOp kind) { return coll::detail::isSameCall(kind, op); }))
        kinds.push_back(op);
    for (AllReduceOp kind : kinds) {
      BlockGraph graph(block);
      SmallVector<Bucket> buckets = graph.findBuckets(kind, bytes);
      if (buckets.empty())
        continue;
      graph.sort(buckets);
      for (Bucket &bucket : buckets)
        combine(std::move(bucket));
    }
  }
};

} // namespace

} // namespace mlir::coll
