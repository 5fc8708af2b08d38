#include "test/exchange/reshard_cases.h"

#include "runtime/base/dtype.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <sstream>

namespace coll::rt::exchange::test {

namespace {

uint8_t byteOf(int64_t element, int64_t byte) {
  uint64_t bits = static_cast<uint64_t>(element * 16 + byte) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 31)) * 0xbf58476d1ce4e5b9u;
  return static_cast<uint8_t>(bits >> 40);
}

// Calls visit(linear number in the tensor, element in the buffer).
void forEachElement(const ReshardSpec &spec, const Shard &shard,
                    const std::function<void(int64_t, int64_t)> &visit) {
  const size_t dims = spec.shape.size();
  std::vector<int64_t> strides = shard.strides;
  if (strides.empty()) {
    strides.assign(dims, 1);
    for (size_t d = dims; d-- > 1;)
      strides[d - 1] = strides[d] * std::max<int64_t>(1, shard.region.extent[d]);
  }
  for (int64_t extent : shard.region.extent)
    if (extent == 0)
      return;
  std::vector<int64_t> at(dims, 0);
  while (true) {
    int64_t global = 0, local = shard.offset;
    for (size_t d = 0; d < dims; ++d) {
      global = global * spec.shape[d] + shard.region.begin[d] + at[d];
      local += at[d] * strides[d];
    }
    visit(global, local);
    size_t d = dims;
    while (d > 0 && ++at[d - 1] == shard.region.extent[d - 1])
      at[--d] = 0;
    if (d == 0)
      return;
  }
}

std::vector<int64_t> randomShape(Random &random, const CaseLimits &limits) {
  std::vector<int64_t> shape(static_cast<size_t>(1 + below(random, kMaxReshardDims)));
  if (below(random, 40) == 0)
    shape.clear();
  int64_t room = limits.elems;
  for (int64_t &extent : shape) {
    extent = 1 + below(random, std::min<int64_t>(room, shape.size() > 4 ? 5 : 40));
    room /= extent;
  }
  std::shuffle(shape.begin(), shape.end(), random);
  if (limits.alignedRows && !shape.empty() && below(random, 2) == 0 && room > 16)
    shape.back() *= 16;
  if (!shape.empty() && below(random, 50) == 0)
    shape.front() = 0;
  return shape;
}

// Cuts the tensor into `count` parts at random places; some parts may be empty.
std::vector<Region> randomTiles(Random &random, const std::vector<int64_t> &shape, int count) {
  std::vector<Region> tiles = {{std::vector<int64_t>(shape.size(), 0), shape}};
  while (static_cast<int>(tiles.size()) < count) {
    const auto which = static_cast<size_t>(below(random, static_cast<int64_t>(tiles.size())));
    Region low = tiles[which], high = low;
    if (shape.empty()) { // a scalar is held once, or by all
      tiles.push_back(low);
      continue;
    }
    const auto d = static_cast<size_t>(below(random, static_cast<int64_t>(shape.size())));
    const int64_t cut = below(random, low.extent[d] + 1);
    low.extent[d] = cut;
    high.begin[d] += cut;
    high.extent[d] -= cut;
    tiles[which] = low;
    tiles.push_back(high);
  }
  std::shuffle(tiles.begin(), tiles.end(), random);
  return tiles;
}

void grow(Random &random, const std::vector<int64_t> &shape, Region &region) {
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t end = region.begin[d] + region.extent[d];
    const int64_t begin = region.begin[d] - below(random, region.begin[d] + 1);
    region.extent[d] = end + below(random, shape[d] - end + 1) - begin;
    region.begin[d] = begin;
  }
}

std::vector<int64_t> randomStrides(Random &random, const std::vector<int64_t> &extents) {
  std::vector<size_t> order(extents.size());
  std::iota(order.begin(), order.end(), 0);
  if (below(random, 3) == 0)
    std::shuffle(order.begin(), order.end(), random);
  std::vector<int64_t> strides(extents.size());
  int64_t stride = below(random, 8) == 0 ? 2 : 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride = stride * std::max<int64_t>(1, extents[order[i]]) +
             (below(random, 3) == 0 ? below(random, 4) : 0);
  }
  return strides;
}

std::vector<Shard> meshShards(Random &random, const ReshardSpec &spec,
                              const std::vector<int> &ranks) {
  const auto count = static_cast<int64_t>(ranks.size());
  std::vector<MeshAxis> axes;
  if (count == 4 && below(random, 2) == 0)
    axes = {{"x", 2}, {"y", 2}};
  else
    axes = {{"x", count}};
  TensorInfo info;
  info.dtype = spec.dtype;
  info.shape = spec.shape;
  info.sharding.resize(spec.shape.size());
  for (DimSharding &dim : info.sharding)
    dim.unit = 1 + below(random, 3);
  if (!spec.shape.empty())
    for (const MeshAxis &axis : axes)
      if (below(random, 5) != 0) // else replicated over it
        info.sharding[static_cast<size_t>(below(random, static_cast<int64_t>(spec.shape.size())))]
            .axes.push_back(axis.name);
  return shardsOf(info, axes, ranks);
}

std::vector<int> randomRanks(Random &random, int count) {
  std::vector<int> all = {0, 1, 2, 3, 4, 5};
  if (below(random, 2) == 0)
    std::shuffle(all.begin(), all.end(), random);
  return {all.begin(), all.begin() + count};
}

std::vector<Shard> randomSide(Random &random, const ReshardSpec &spec, const CaseLimits &limits,
                              bool isSender) {
  const int count = 1 + static_cast<int>(below(random, limits.ranks));
  const std::vector<int> ranks = randomRanks(random, count);
  const int64_t kind = below(random, 4);
  if (kind == 0)
    return meshShards(random, spec, ranks);
  std::vector<Region> regions = randomTiles(random, spec.shape, count);
  if (kind == 1)
    for (Region &region : regions) {
      // Receivers may need any region; senders together have everything.
      if (!isSender)
        for (size_t d = 0; d < spec.shape.size(); ++d) {
          region.begin[d] = below(random, spec.shape[d] + 1);
          region.extent[d] = below(random, spec.shape[d] - region.begin[d] + 1);
        }
      else
        grow(random, spec.shape, region);
    }
  std::vector<Shard> shards;
  for (size_t i = 0; i < regions.size(); ++i) {
    Shard shard;
    shard.rank = ranks[i];
    shard.region = regions[i];
    if (below(random, 2) == 0) {
      shard.strides = randomStrides(random, shard.region.extent);
      shard.offset = below(random, 4);
    }
    shards.push_back(std::move(shard));
  }
  return shards;
}

} // namespace

int64_t below(Random &random, int64_t bound) {
  return bound <= 0 ? 0 : static_cast<int64_t>(random() % static_cast<uint64_t>(bound));
}

ReshardSpec randomSpec(Random &random, const CaseLimits &limits) {
  ReshardSpec spec;
  spec.dtype = static_cast<CollDtype>(below(random, kNumDtypes));
  spec.shape = randomShape(random, limits);
  spec.senders = randomSide(random, spec, limits, /*isSender=*/true);
  spec.receivers = randomSide(random, spec, limits, /*isSender=*/false);
  return spec;
}

std::string describe(const ReshardSpec &spec) {
  std::ostringstream text;
  auto list = [&](const std::vector<int64_t> &values) {
    text << "[";
    for (int64_t value : values)
      text << " " << value;
    text << " ]";
  };
  text << dtypeName(spec.dtype);
  list(spec.shape);
  for (const std::vector<Shard> *side : {&spec.senders, &spec.receivers}) {
    text << (side == &spec.senders ? "\nsenders" : "\nreceivers");
    for (const Shard &shard : *side) {
      text << "\n  rank " << shard.rank << " ";
      list(shard.region.begin);
      list(shard.region.extent);
      list(shard.strides);
      text << " + " << shard.offset;
    }
  }
  return text.str();
}

Bytes sourceOf(const ReshardSpec &spec, size_t sender, int64_t bytes) {
  const int64_t size = dtypeSize(spec.dtype);
  Bytes data(static_cast<size_t>(bytes), 0x11);
  forEachElement(spec, spec.senders[sender], [&](int64_t global, int64_t local) {
    for (int64_t i = 0; i < size; ++i)
      data[static_cast<size_t>(local * size + i)] = static_cast<char>(byteOf(global, i));
  });
  return data;
}

Bytes expectedOf(const ReshardSpec &spec, size_t receiver, int64_t bytes) {
  const int64_t size = dtypeSize(spec.dtype);
  Bytes data(static_cast<size_t>(bytes), kUntouched);
  forEachElement(spec, spec.receivers[receiver], [&](int64_t global, int64_t local) {
    for (int64_t i = 0; i < size; ++i)
      data[static_cast<size_t>(local * size + i)] = static_cast<char>(byteOf(global, i));
  });
  return data;
}

} // namespace coll::rt::exchange::test
