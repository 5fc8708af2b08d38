//===- combine_collectives.cc - one call for many tensors ------------------------===//

#include "dialect/exec/exec.h"
#include "dialect/exec/memory_form.h"
#include "dialect/sharding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/analysis/loop_count.h"
#include "passes/analysis/proof/uniform_values.h"
#include "passes/analysis/rank_groups.h"
#include "passes/passes.h"
#include "passes/transform/collectives/pack.h"
#include "llvm/ADT/BitVector.h"

#include <optional>
#include <queue>

namespace mlir::coll {

#define GEN_PASS_DEF_COMBINECOLLECTIVESPASS
#include "passes/passes.h.inc"

namespace {

/// The bytes of the larger side of a collective.
int64_t bytesOf(Operation *op) {
  auto of = [](Value value) {
    return getTensorBytes(cast<RankedTensorType>(value.getType())).value_or(INT64_MAX);
  };
  return std::max(of(op->getOperand(0)), of(op->getResult(0)));
}

/// No bucket is larger, so that sums of sizes do not overflow.
constexpr int64_t kMostBytes = int64_t(1) << 40;

/// The largest tensor, on its larger side, that a collective is packed of.
constexpr int64_t kMostPackedBytes = 64 * 1024;

using Bucket = SmallVector<Operation *>;

bool canPack(Operation *op) {
  auto exchange = dyn_cast<AllToAllOp>(op);
  if (exchange && exchange.getSplitDim() == exchange.getConcatDim())
    return false;
  return isa<AllGatherOp, ReduceScatterOp, AllToAllOp>(op) &&
         cast<CollectiveOpInterface>(op).getCommGroup().isMesh();
}

bool canCombine(Operation *op) { return isa<AllReduceOp>(op) || canPack(op); }

using AreAlike = llvm::function_ref<bool(Operation *, Operation *)>;

/// The operations of a block as a graph. Edges go from what makes a value to what uses it, and
/// from each operation with an effect to the next, but for collectives that may be combined: what
/// the members of a group agree on is the order that results here, the same on all of them.
class BlockGraph {
public:
  BlockGraph(Block &block, AreAlike areAlike) : block_(block), areAlike_(areAlike) {
    Operation *effect = nullptr;
    for (Operation &op : block.without_terminator()) {
      number_[&op] = ops_.size();
      ops_.push_back(&op);
      SmallVector<unsigned> &before = before_.emplace_back();
      op.walk([&](Operation *user) { // what regions use is defined in them or above
        for (Value value : user->getOperands())
          if (Operation *maker = value.getDefiningOp(); maker && maker->getBlock() == &block)
            before.push_back(number_.lookup(maker));
      });
      if (canCombine(&op) || isMemoryEffectFree(&op))
        continue;
      if (effect)
        before.push_back(number_.lookup(effect));
      effect = &op;
    }
  }

  /// Collectives like `first`, none larger than `most` bytes, as many in a bucket as `limit` bytes
  /// allow. Those of a bucket stand behind equally many others of them on the longest way to
  /// each, so none depends on another, and no two buckets on each other.
  SmallVector<Bucket> findBuckets(Operation *first, int64_t most, int64_t limit) const {
    struct Open {
      Bucket bucket;
      int64_t bytes = 0;
    };
    std::vector<unsigned> depths(ops_.size());
    llvm::BitVector isAlike(ops_.size());
    llvm::MapVector<unsigned, Open> open; // by depth
    SmallVector<Bucket> full;
    for (auto [i, op] : llvm::enumerate(ops_)) {
      for (unsigned before : before_[i])
        depths[i] = std::max(depths[i], depths[before] + isAlike[before]);
      isAlike[i] = areAlike_(first, op);
      if (!isAlike[i])
        continue;
      const int64_t bytes = bytesOf(op);
      if (bytes == 0 || bytes > most)
        continue;
      Open &at = open[depths[i]];
      if (exec::alignInBucket(at.bytes) + bytes > limit) {
        full.push_back(std::move(at.bucket));
        at = {};
      }
      at.bucket.push_back(op);
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
      for (Operation *op : bucket)
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

private:
  Block &block_;
  AreAlike areAlike_;
  SmallVector<Operation *> ops_;
  llvm::DenseMap<Operation *, unsigned> number_;
  std::vector<SmallVector<unsigned>> before_;
};

/// A start of all of them, awaited at once.
void reduceTogether(Bucket bucket) {
  Operation *behind = bucket.back()->getNextNode();
  // Only the last tensor may end anywhere without making the call larger.
  llvm::stable_sort(bucket, [](Operation *a, Operation *b) {
    auto isRagged = [](Operation *op) { return bytesOf(op) % exec::kBucketAlignment != 0; };
    return isRagged(a) < isRagged(b);
  });
  OpBuilder builder(behind);
  Location loc = bucket.front()->getLoc();
  SmallVector<Value> inputs, results;
  SmallVector<Type> types;
  for (Operation *op : bucket) {
    inputs.push_back(op->getOperand(0));
    types.push_back(op->getResult(0).getType());
  }
  auto start = StartOp::create(builder, loc, FutureType::get(builder.getContext(), types), inputs);
  auto await = AwaitOp::create(builder, loc, start.getFuture());
  Block *body = builder.createBlock(&start.getBody());
  for (Operation *op : bucket) {
    IRMapping map;
    map.map(op->getOperand(0), body->addArgument(op->getOperand(0).getType(), op->getLoc()));
    llvm::append_range(results, builder.clone(*op, map)->getResults());
  }
  YieldOp::create(builder, loc, results);
  for (auto [op, result] : llvm::zip_equal(bucket, await.getResults())) {
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
}

/// Whether ranks come to the body of `op` together: which side of a branch they take, and whether
/// they go round a loop without a counter, may depend on the rank, and calls have to match.
bool runsOnAllRanks(Operation *op) {
  auto countsTurns = [](Operation *op) {
    auto loop = dyn_cast<scf::WhileOp>(op);
    return isa<scf::ForOp>(op) || (loop && findLoopCount(loop));
  };
  while (countsTurns(op))
    op = op->getParentOp();
  return isa<func::FuncOp>(op) && !isa<ProgramOp>(op->getParentOp());
}

class CombineCollectivesPass : public impl::CombineCollectivesPassBase<CombineCollectivesPass> {
public:
  using CombineCollectivesPassBase::CombineCollectivesPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<linalg::LinalgDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    llvm::SetVector<Block *> blocks;
    getOperation()->walk([&](CollectiveOpInterface op) {
      if (canCombine(op) && runsOnAllRanks(op->getParentOp()))
        blocks.insert(op->getBlock());
    });
    bytes = std::min(bytes.getValue(), kMostBytes);
    findVaryingAxes();
    for (Block *block : blocks)
      combineIn(*block);
  }

private:
  /// What is packed varies along the axes of all that it is packed of, so that the proof knows as
  /// much of each tensor only if these axes are the same.
  void findVaryingAxes() {
    auto meshes = getOperation().getOps<MeshOp>();
    if (meshes.empty())
      return;
    GroupTable groups(ShapedType::getNumElements((*meshes.begin()).getAxisSizes()));
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      SmallVector<Operation *> packed;
      function.walk([&](CollectiveOpInterface op) {
        if (canPack(op))
          packed.push_back(op);
      });
      if (packed.size() < 2)
        continue;
      UniformValues values(function, groups);
      for (Operation *op : packed)
        varyingAxes_[op] = values.getVaryingAxes(op->getOperand(0));
    }
  }

  /// Whether two collectives differ in their tensors only; of those that are packed, also in the
  /// dimension that ranks split.
  bool areAlike(Operation *a, Operation *b) const {
    if (a->getName() != b->getName())
      return false;
    if (isa<AllReduceOp>(a))
      return coll::detail::isSameCall(a, b);
    auto left = cast<CollectiveOpInterface>(a), right = cast<CollectiveOpInterface>(b);
    return left.getCommGroup() == right.getCommGroup() &&
           left.getCommReduction() == right.getCommReduction() &&
           left.getCommOrder() == right.getCommOrder() &&
           left.getCommAccumulation() == right.getCommAccumulation() &&
           getElementTypeOrSelf(a->getResult(0)) == getElementTypeOrSelf(b->getResult(0)) &&
           varyingAxes_.lookup(a) == varyingAxes_.lookup(b);
  }

  /// Packs the bucket, and records along which axes the packed operation varies: later kinds are
  /// compared with it. The bucket's entries go first, as it may get the address of one of them.
  void pack(ArrayRef<Operation *> bucket) {
    const UniformValues::AxisSet axes = varyingAxes_.lookup(bucket.front());
    for (Operation *op : bucket)
      varyingAxes_.erase(op);
    varyingAxes_[packCollectives(bucket)] = axes;
  }

  void combineIn(Block &block) {
    auto alike = [this](Operation *a, Operation *b) { return areAlike(a, b); };
    auto mostBytes = [this](Operation *op) {
      return std::min<int64_t>(isa<AllReduceOp>(op) ? kMostBytes : kMostPackedBytes, bytes);
    };
    struct Kind {
      Operation *first;
      int candidates = 0;
    };
    SmallVector<Kind> kinds;
    for (Operation &op : block) {
      if (!canCombine(&op))
        continue;
      auto *kind = llvm::find_if(kinds, [&](const Kind &kind) { return alike(kind.first, &op); });
      if (kind == kinds.end())
        kind = &kinds.emplace_back(Kind{&op});
      kind->candidates += bytesOf(&op) <= mostBytes(&op);
    }
    std::optional<BlockGraph> graph; // of the block as it is
    for (auto [kind, candidates] : kinds) {
      if (candidates < 2)
        continue;
      if (!graph)
        graph.emplace(block, alike);
      const bool isPacked = !isa<AllReduceOp>(kind);
      SmallVector<Bucket> buckets = graph->findBuckets(kind, mostBytes(kind), bytes);
      if (buckets.empty())
        continue;
      graph->sort(buckets);
      graph.reset();
      for (Bucket &bucket : buckets)
        if (isPacked)
          pack(bucket);
        else
          reduceTogether(std::move(bucket));
    }
  }

  llvm::DenseMap<Operation *, UniformValues::AxisSet> varyingAxes_; // of each that may be packed
};

} // namespace

} // namespace mlir::coll
