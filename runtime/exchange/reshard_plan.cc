#include "runtime/exchange/reshard_plan.h"

#include "runtime/base/dtype.h"

#include <algorithm>
#include <string>

namespace coll::rt::exchange {

namespace {

std::vector<int64_t> denseStrides(const std::vector<int64_t> &extents) {
  std::vector<int64_t> strides(extents.size());
  int64_t stride = 1;
  for (size_t d = extents.size(); d-- > 0;) {
    strides[d] = stride;
    // Overflow is reported where the shard is used.
    if (__builtin_mul_overflow(stride, std::max<int64_t>(extents[d], 1), &stride))
      stride = INT64_MAX;
  }
  return strides;
}

//===-- what may be wrong with a layout -------------------------------------------===//

// The least bytes of the shard's buffer.
Result<int64_t> spanOf(const Shard &shard, int64_t elemBytes) {
  const Status tooLarge = Status::invalid("its buffer would be larger than memory can be");
  int64_t last = shard.offset;
  for (size_t d = 0; d < shard.strides.size(); ++d) {
    const int64_t extent = shard.region.extent[d];
    int64_t reach = 0;
    // One stride behind the last element must fit into int64, too.
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

// Whether no two of its elements coincide: each stride is larger than the reach of all smaller
// ones.
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
    reach += stride * (extent - 1); // fits: spanOf has checked it
  }
  return true;
}

Status checkLayout(const Shard &shard, size_t dims) {
  if (!shard.strides.empty() && shard.strides.size() != dims)
    return Status::invalid(std::to_string(shard.strides.size()) + " strides for " +
                           std::to_string(dims) + " dimensions");
  for (size_t d = 0; d < shard.strides.size(); ++d)
    if (shard.strides[d] < 0)
      return Status::invalid("dimension " + std::to_string(d) + ": stride " +
                             std::to_string(shard.strides[d]));
  if (shard.offset < 0)
    return Status::invalid("offset " + std::to_string(shard.offset));
  return {};
}

struct Side {
  std::vector<Shard> shards; // with strides
  std::vector<int> ranks;
  std::vector<int64_t> bytes;
};

// The regions are valid (plan::planRoutes).
Result<Side> checkSide(const char *name, const std::vector<Shard> &shards, const ReshardSpec &spec,
                       bool isWritten) {
  Side side;
  for (const Shard &given : shards) {
    const std::string where = std::string(name) + " " + std::to_string(side.shards.size()) +
                              " (rank " + std::to_string(given.rank) + ")";
    COLL_RETURN_IF_ERROR(checkLayout(given, spec.shape.size()).annotate(where));
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
  return side;
}

Status checkTensor(const ReshardSpec &spec) {
  if (!isValidDtype(spec.dtype))
    return Status::invalid("dtype " + std::to_string(spec.dtype) + " does not exist");
  if (spec.shape.size() > kMaxReshardDims)
    return Status::invalid("a tensor of " + std::to_string(spec.shape.size()) +
                           " dimensions: up to " + std::to_string(kMaxReshardDims) +
                           " are possible");
  return {};
}

plan::RouteSpec routeSpecOf(const ReshardSpec &spec) {
  plan::RouteSpec routes;
  routes.shape = spec.shape;
  routes.elemBytes = dtypeSize(spec.dtype);
  for (const Shard &sender : spec.senders)
    routes.senders.push_back({sender.rank, sender.region});
  for (const Shard &receiver : spec.receivers)
    routes.receivers.push_back({receiver.rank, receiver.region});
  return routes;
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

int positionOf(const std::vector<int> &ranks, int rank) {
  auto at = std::find(ranks.begin(), ranks.end(), rank);
  return at == ranks.end() ? -1 : static_cast<int>(at - ranks.begin());
}

} // namespace

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

namespace {

// The route as boxes from the sender's buffer to the receiver's, or to its scratch.
Transfer transferOf(const plan::Route &route, const Shard &from, const Shard &to,
                    int64_t elemBytes) {
  Transfer transfer;
  transfer.sender = route.sender;
  transfer.receiver = route.receiver;
  transfer.phase = route.phase;
  transfer.isLocal = route.isLocal;
  transfer.bytes = route.bytes;
  for (const Region &region : route.regions)
    transfer.boxes.push_back(boxOf(region, from, to, elemBytes));
  return transfer;
}

} // namespace

Result<ReshardPlan> planReshard(const ReshardSpec &spec, ReshardStrategy strategy) {
  COLL_RETURN_IF_ERROR(checkTensor(spec));
  const plan::Result<plan::RoutePlan> routes = plan::planRoutes(routeSpecOf(spec), strategy);
  if (!routes)
    return Status::invalid(routes.error());
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
  plan.wireBytes = routes->wireBytes;
  plan.leastWireBytes = routes->leastWireBytes;
  Shard whole;
  whole.region = {std::vector<int64_t>(spec.shape.size(), 0), spec.shape};
  whole.strides = denseStrides(spec.shape);
  for (const plan::Route &route : routes->routes)
    plan.transfers.push_back(transferOf(
        route, senders->shards[static_cast<size_t>(route.sender)],
        gathers ? whole : receivers->shards[static_cast<size_t>(route.receiver)], elemBytes));
  if (!gathers)
    return plan;
  plan.scratchBytes = volume(whole.region) * elemBytes;
  for (const Shard &receiver : receivers->shards) {
    plan.slices.emplace_back();
    if (volume(receiver.region) > 0)
      plan.slices.back().push_back(boxOf(receiver.region, whole, receiver, elemBytes));
  }
  return plan;
}

plan::RouteCertificate certify(const ReshardSpec &spec, const ReshardPlan &plan) {
  plan::RoutePlan routes;
  routes.strategy = plan.strategy;
  for (const Transfer &transfer : plan.transfers)
    routes.routes.push_back(
        {transfer.sender, transfer.receiver, transfer.phase, transfer.isLocal, transfer.bytes, {}});
  return plan::certify(routeSpecOf(spec), routes);
}

} // namespace coll::rt::exchange
