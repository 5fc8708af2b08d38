#include "runtime/exchange/reshard_plan.h"

#include "runtime/base/dtype.h"
#include "runtime/exchange/region.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <tuple>

namespace coll::rt::exchange {

namespace {

// Of one pair: shardings that cut each other into more are not what anyone means.
constexpr size_t kMostBoxes = 1 << 16;

std::vector<int64_t> denseStrides(const std::vector<int64_t> &extents) {
  std::vector<int64_t> strides(extents.size());
  int64_t stride = 1;
  for (size_t d = extents.size(); d-- > 0;) {
    strides[d] = stride;
    // What is too large is refused where the shard is used.
    if (__builtin_mul_overflow(stride, std::max<int64_t>(extents[d], 1), &stride))
      stride = INT64_MAX;
  }
  return strides;
}

//===-- what may be wrong with a spec ---------------------------------------------===//

// Bytes that the shard's buffer has at least.
Result<int64_t> spanOf(const Shard &shard, int64_t elemBytes) {
  const Status tooLarge = Status::invalid("its buffer would be larger than memory can be");
  int64_t last = shard.offset;
  for (size_t d = 0; d < shard.strides.size(); ++d) {
    const int64_t extent = shard.region.extent[d];
    int64_t reach = 0;
    // One stride behind the last element has to be a number too.
    if (extent > 1 && (__builtin_mul_overflow(extent, shard.strides[d], &reach) ||
                       __builtin_mul_overflow(reach, elemBytes, &reach) ||
                       __builtin_add_overflow(last, (extent - 1) * shard.strides[d], &last)))
      return tooLarge;
  }
  int64_t bytes = 0;
  if (__builtin_add_overflow(last, int64_t(1), &last) ||
      __builtin_mul_overflow(last, elemBytes, &bytes))
    return tooLarge;
  return bytes;
}

// Whether no two of its elements can be the same: each stride reaches over all smaller ones.
bool isInjective(const Shard &shard) {
  std::vector<std::pair<int64_t, int64_t>> dims; // stride, extent
  for (size_t d = 0; d < shard.strides.size(); ++d)
    if (shard.region.extent[d] > 1)
      dims.emplace_back(shard.strides[d], shard.region.extent[d]);
  std::sort(dims.begin(), dims.end());
  int64_t reach = 1; // elements behind the first
  for (auto [stride, extent] : dims) {
    if (stride < reach)
      return false;
    reach += stride * (extent - 1); // spanOf has found that it fits
  }
  return true;
}

Status checkRegion(const Shard &shard, const std::vector<int64_t> &shape) {
  const Region &region = shard.region;
  if (region.begin.size() != shape.size() || region.extent.size() != shape.size())
    return Status::invalid("its region has " + std::to_string(region.begin.size()) +
                           " begins and " + std::to_string(region.extent.size()) +
                           " extents; the tensor has " + std::to_string(shape.size()) +
                           " dimensions");
  if (!shard.strides.empty() && shard.strides.size() != shape.size())
    return Status::invalid(std::to_string(shard.strides.size()) + " strides for " +
                           std::to_string(shape.size()) + " dimensions");
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t begin = region.begin[d], extent = region.extent[d];
    const std::string dim = "dimension " + std::to_string(d) + ": ";
    if (begin < 0 || extent < 0 || begin > shape[d] || extent > shape[d] - begin)
      return Status::invalid(dim + std::to_string(extent) + " elements from " +
                             std::to_string(begin) + " are not inside the tensor's " +
                             std::to_string(shape[d]));
    if (!shard.strides.empty() && shard.strides[d] < 0)
      return Status::invalid(dim + "stride " + std::to_string(shard.strides[d]));
  }
  if (shard.offset < 0)
    return Status::invalid("offset " + std::to_string(shard.offset));
  return {};
}

struct Side {
  std::vector<Shard> shards; // with strides
  std::vector<int> ranks;
  std::vector<int64_t> bytes;
};

Result<Side> checkSide(const char *name, const std::vector<Shard> &shards, const ReshardSpec &spec,
                       bool isWritten) {
  Side side;
  std::set<int> ranks;
  for (const Shard &given : shards) {
    const std::string where = std::string(name) + " " + std::to_string(side.shards.size()) +
                              " (rank " + std::to_string(given.rank) + ")";
    if (given.rank < 0)
      return Status::invalid(where + ": a rank is at least 0");
    if (!ranks.insert(given.rank).second)
      return Status::invalid(where + ": the rank is there twice");
    COLL_RETURN_IF_ERROR(checkRegion(given, spec.shape).annotate(where));
    Shard shard = given;
    if (shard.strides.empty())
      shard.strides = denseStrides(shard.region.extent);
    int64_t bytes = 0;
    if (volume(shard.region) > 0) {
      Result<int64_t> span = spanOf(shard, dtypeSize(spec.dtype));
      if (!span)
        return span.status().annotate(where);
      bytes = *span;
      if (isWritten && !isInjective(shard))
        return Status::invalid(where + ": by its strides, elements overlap");
    }
    side.ranks.push_back(shard.rank);
    side.bytes.push_back(bytes);
    side.shards.push_back(std::move(shard));
  }
  if (side.shards.empty())
    return Status::invalid("there is no " + std::string(name));
  return side;
}

Status checkTensor(const ReshardSpec &spec) {
  if (!isValidDtype(spec.dtype))
    return Status::invalid("dtype " + std::to_string(spec.dtype) + " does not exist");
  if (spec.shape.size() > kMaxReshardDims)
    return Status::invalid("a tensor of " + std::to_string(spec.shape.size()) +
                           " dimensions: up to " + std::to_string(kMaxReshardDims) +
                           " are possible");
  for (int64_t extent : spec.shape)
    if (extent < 0)
      return Status::invalid("the tensor's shape has an extent of " + std::to_string(extent));
  if (!numElements(spec.shape))
    return Status::invalid("the tensor has more elements than memory can hold");
  return {};
}

// No sum of bytes is more than what all receivers take together: each its part, or all.
Status checkSum(const Side &receivers, const Region &whole, int64_t elemBytes, bool gathers) {
  int64_t sum = 0;
  for (const Shard &receiver : receivers.shards) {
    int64_t bytes = 0;
    if (__builtin_mul_overflow(volume(gathers ? whole : receiver.region), elemBytes, &bytes) ||
        __builtin_add_overflow(sum, bytes, &sum))
      return Status::invalid("the receivers take more bytes together than can be counted");
  }
  return {};
}

//===-- boxes -------------------------------------------------------------------------===//

// A region of two buffers, with as few loops and as long rows as their layouts allow.
StridedBox boxOf(const Region &region, const Shard &from, const Shard &to, int64_t elemBytes) {
  struct Loop {
    int64_t count, src, dst;
  };
  std::vector<Loop> loops;
  StridedBox box;
  box.srcOffset = from.offset;
  box.dstOffset = to.offset;
  for (size_t d = 0; d < region.begin.size(); ++d) {
    box.srcOffset += (region.begin[d] - from.region.begin[d]) * from.strides[d];
    box.dstOffset += (region.begin[d] - to.region.begin[d]) * to.strides[d];
    if (region.extent[d] > 1)
      loops.push_back({region.extent[d], from.strides[d] * elemBytes, to.strides[d] * elemBytes});
  }
  box.srcOffset *= elemBytes;
  box.dstOffset *= elemBytes;
  box.rowBytes = elemBytes;
  std::stable_sort(loops.begin(), loops.end(),
                   [](const Loop &a, const Loop &b) { return a.dst > b.dst; });
  std::vector<Loop> merged; // innermost first
  for (size_t i = loops.size(); i-- > 0;) {
    const Loop &loop = loops[i];
    if (merged.empty() && loop.src == box.rowBytes && loop.dst == box.rowBytes)
      box.rowBytes *= loop.count;
    else if (!merged.empty() && loop.src == merged.back().src * merged.back().count &&
             loop.dst == merged.back().dst * merged.back().count)
      merged.back().count *= loop.count;
    else
      merged.push_back(loop);
  }
  for (size_t i = 0; i < merged.size(); ++i) {
    const Loop &loop = merged[merged.size() - 1 - i];
    box.count[i] = loop.count;
    box.srcStride[i] = loop.src;
    box.dstStride[i] = loop.dst;
  }
  box.numLoops = static_cast<int>(merged.size());
  return box;
}

//===-- who gives what ------------------------------------------------------------------===//

class Planner {
public:
  Planner(const Side &senders, const Side &receivers, int64_t elemBytes)
      : senders_(senders), receivers_(receivers), elemBytes_(elemBytes),
        phases_(static_cast<int>(std::max(senders.shards.size(), receivers.shards.size()))),
        loads_(senders.shards.size()) {}

  // All that receiver `j` wants, laid out as `target` says.
  Status route(int j, const Shard &target, std::vector<Transfer> &transfers) {
    std::vector<Region> missing = {target.region};
    if (volume(target.region) == 0)
      return {};
    for (int i : sendersFor(j)) {
      const Shard &source = senders_.shards[static_cast<size_t>(i)];
      std::vector<Region> parts = take(intersect(target.region, source.region), missing);
      if (parts.size() > kMostBoxes || missing.size() > kMostBoxes)
        return Status::invalid("the shards cut each other into more than " +
                               std::to_string(kMostBoxes) + " pieces");
      if (parts.empty())
        continue;
      transfers.push_back(transferOf(i, j, parts, source, target));
      if (!transfers.back().isLocal)
        loads_[static_cast<size_t>(i)] += transfers.back().bytes;
      if (missing.empty())
        return {};
    }
    return unheld(missing.front());
  }

  int64_t leastWireBytes() const {
    int64_t bytes = 0;
    for (const Shard &receiver : receivers_.shards) {
      bytes += volume(receiver.region);
      for (const Shard &sender : senders_.shards)
        if (sender.rank == receiver.rank)
          bytes -= volume(intersect(receiver.region, sender.region));
    }
    return bytes * elemBytes_;
  }

private:
  int phaseOf(int i, int j) const { return (j - i + phases_) % phases_; }

  std::vector<int> sendersFor(int j) const {
    std::vector<int> order(senders_.shards.size());
    std::iota(order.begin(), order.end(), 0);
    const int rank = receivers_.ranks[static_cast<size_t>(j)];
    auto key = [&](int i) {
      const auto at = static_cast<size_t>(i);
      const bool isOther = senders_.ranks[at] != rank;
      return std::tuple(isOther, isOther ? loads_[at] : 0, phaseOf(i, j));
    };
    std::sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
    return order;
  }

  // Moves what lies in `held` out of `missing`.
  static std::vector<Region> take(const Region &held, std::vector<Region> &missing) {
    std::vector<Region> taken, left;
    int64_t amount = 0;
    if (volume(held) == 0)
      return taken;
    for (const Region &part : missing) {
      Region common = intersect(part, held);
      if (volume(common) == 0) {
        left.push_back(part);
        continue;
      }
      amount += volume(common);
      subtract(part, common, left);
      taken.push_back(std::move(common));
    }
    missing = std::move(left);
    // Nobody else has given any of it.
    if (amount == volume(held))
      return {held};
    mergeRegions(taken);
    return taken;
  }

  Transfer transferOf(int i, int j, const std::vector<Region> &parts, const Shard &source,
                      const Shard &target) const {
    Transfer transfer;
    transfer.sender = i;
    transfer.receiver = j;
    transfer.phase = phaseOf(i, j);
    transfer.isLocal = source.rank == receivers_.ranks[static_cast<size_t>(j)];
    for (const Region &part : parts) {
      transfer.boxes.push_back(boxOf(part, source, target, elemBytes_));
      transfer.bytes += transfer.boxes.back().bytes();
    }
    return transfer;
  }

  static Status unheld(const Region &region) {
    std::string text;
    for (size_t d = 0; d < region.begin.size(); ++d)
      text += (d ? ", " : "") + std::to_string(region.begin[d]) + " to " +
              std::to_string(region.begin[d] + region.extent[d] - 1);
    return Status::invalid("no sender holds the elements [" + text + "]");
  }

  const Side &senders_;
  const Side &receivers_;
  const int64_t elemBytes_;
  const int phases_;
  std::vector<int64_t> loads_; // bytes that each sender has to give others so far
};

int positionOf(const std::vector<int> &ranks, int rank) {
  auto at = std::find(ranks.begin(), ranks.end(), rank);
  return at == ranks.end() ? -1 : static_cast<int>(at - ranks.begin());
}

} // namespace

const char *nameOf(ReshardStrategy strategy) {
  return strategy == ReshardStrategy::Routed ? "routed" : "gather";
}

int ReshardPlan::senderOf(int rank) const { return positionOf(senders, rank); }
int ReshardPlan::receiverOf(int rank) const { return positionOf(receivers, rank); }

std::vector<Shard> shardsOf(const TensorInfo &info, const std::vector<MeshAxis> &axes,
                            const std::vector<int> &ranks) {
  std::vector<Shard> shards;
  for (size_t i = 0; i < ranks.size(); ++i) {
    Shard shard;
    shard.rank = ranks[i];
    std::vector<int64_t> extents;
    for (const BlockRange &block : blocksOf(info, axes, static_cast<int>(i))) {
      shard.region.begin.push_back(block.begin);
      shard.region.extent.push_back(block.valid);
      extents.push_back(block.extent);
    }
    shard.strides = denseStrides(extents);
    shards.push_back(std::move(shard));
  }
  return shards;
}

Result<ReshardPlan> planReshard(const ReshardSpec &spec, ReshardStrategy strategy) {
  COLL_RETURN_IF_ERROR(checkTensor(spec));
  Result<Side> senders = checkSide("sender", spec.senders, spec, /*isWritten=*/false);
  if (!senders)
    return senders.status();
  Result<Side> receivers = checkSide("receiver", spec.receivers, spec, /*isWritten=*/true);
  if (!receivers)
    return receivers.status();
  const int64_t elemBytes = dtypeSize(spec.dtype);
  const bool gathers = strategy == ReshardStrategy::Gather;

  ReshardPlan plan;
  plan.strategy = strategy;
  plan.dtype = spec.dtype;
  plan.senders = senders->ranks;
  plan.receivers = receivers->ranks;
  plan.senderBytes = senders->bytes;
  plan.receiverBytes = receivers->bytes;
  Shard whole;
  whole.region = {std::vector<int64_t>(spec.shape.size(), 0), spec.shape};
  whole.strides = denseStrides(spec.shape);
  COLL_RETURN_IF_ERROR(checkSum(*receivers, whole.region, elemBytes, gathers));
  if (gathers)
    plan.scratchBytes = volume(whole.region) * elemBytes;

  Planner planner(*senders, *receivers, elemBytes);
  for (size_t j = 0; j < plan.receivers.size(); ++j) {
    const Shard &receiver = receivers->shards[j];
    COLL_RETURN_IF_ERROR(
        planner.route(static_cast<int>(j), gathers ? whole : receiver, plan.transfers)
            .annotate("receiver " + std::to_string(j) + " (rank " + std::to_string(receiver.rank) +
                      ")"));
    if (!gathers)
      continue;
    plan.slices.emplace_back();
    if (volume(receiver.region) > 0)
      plan.slices.back().push_back(boxOf(receiver.region, whole, receiver, elemBytes));
  }
  std::sort(plan.transfers.begin(), plan.transfers.end(), [](const Transfer &a, const Transfer &b) {
    return std::tuple(a.phase, a.sender) < std::tuple(b.phase, b.sender);
  });
  for (const Transfer &transfer : plan.transfers)
    plan.wireBytes += transfer.isLocal ? 0 : transfer.bytes;
  plan.leastWireBytes = planner.leastWireBytes();
  return plan;
}

} // namespace coll::rt::exchange
