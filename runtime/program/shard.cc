#include "runtime/program/shard.h"

#include "runtime/base/dtype.h"

#include <algorithm>
#include <cstring>

namespace coll::rt {

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// Coordinates of `rank`, one per mesh axis.
std::vector<int64_t> coordinatesOf(const std::vector<MeshAxis> &axes, int rank) {
  std::vector<int64_t> coordinates(axes.size());
  int64_t rest = rank;
  for (size_t i = axes.size(); i-- > 0;) {
    coordinates[i] = rest % axes[i].size;
    rest /= axes[i].size;
  }
  return coordinates;
}

size_t axisIndex(const std::vector<MeshAxis> &axes, const std::string &name) {
  auto it = std::find_if(axes.begin(), axes.end(),
                         [&](const MeshAxis &axis) { return axis.name == name; });
  return static_cast<size_t>(it - axes.begin());
}

// Copies the valid rows between a block and its place in the global tensor.
class BlockCopy {
public:
  BlockCopy(const TensorInfo &info, const std::vector<MeshAxis> &axes, int rank)
      : blocks_(blocksOf(info, axes, rank)), shape_(info.shape), rowBytes_(dtypeSize(info.dtype)) {
    // Inner dimensions that are complete form one contiguous row.
    while (!blocks_.empty() && blocks_.back().valid == shape_.back() &&
           blocks_.back().extent == shape_.back()) {
      rowBytes_ *= shape_.back();
      blocks_.pop_back();
      shape_.pop_back();
    }
  }

  // copyRow(global byte offset, local byte offset, bytes) for each contiguous piece.
  template <typename CopyRow>
  void forEachRow(CopyRow copyRow) const {
    walk(0, 0, 0, copyRow);
  }

private:
  template <typename CopyRow>
  void walk(size_t dim, int64_t global, int64_t local, CopyRow &copyRow) const {
    if (dim == blocks_.size()) {
      if (rowBytes_ > 0)
        copyRow(global * rowBytes_, local * rowBytes_, rowBytes_);
      return;
    }
    const BlockRange &block = blocks_[dim];
    global = global * shape_[dim] + block.begin;
    local *= block.extent;
    if (dim + 1 == blocks_.size()) {
      if (block.valid > 0 && rowBytes_ > 0)
        copyRow(global * rowBytes_, local * rowBytes_, block.valid * rowBytes_);
      return;
    }
    for (int64_t i = 0; i < block.valid; ++i)
      walk(dim + 1, global + i, local + i, copyRow);
  }

  std::vector<BlockRange> blocks_;
  std::vector<int64_t> shape_;
  int64_t rowBytes_;
};

} // namespace

int64_t blockExtent(int64_t extent, int64_t numShards, int64_t unit) {
  return ceilDiv(ceilDiv(extent, unit), numShards) * unit;
}

std::vector<BlockRange> blocksOf(const TensorInfo &info, const std::vector<MeshAxis> &axes,
                                 int rank) {
  std::vector<int64_t> coordinates = coordinatesOf(axes, rank);
  std::vector<BlockRange> blocks(info.shape.size());
  for (size_t d = 0; d < blocks.size(); ++d) {
    int64_t extent = info.shape[d];
    if (info.sharding[d].axes.empty()) {
      blocks[d] = {0, extent, extent};
      continue;
    }
    int64_t shard = 0, numShards = 1;
    for (const std::string &name : info.sharding[d].axes) {
      size_t axis = axisIndex(axes, name);
      shard = shard * axes[axis].size + coordinates[axis];
      numShards *= axes[axis].size;
    }
    int64_t block = blockExtent(extent, numShards, info.sharding[d].unit);
    int64_t begin = std::min(shard * block, extent);
    blocks[d] = {begin, std::min(block, extent - begin), block};
  }
  return blocks;
}

bool isReplicated(const TensorInfo &info) {
  return std::all_of(info.sharding.begin(), info.sharding.end(),
                     [](const DimSharding &dim) { return dim.axes.empty(); });
}

void sliceTensor(const TensorInfo &info, const std::vector<MeshAxis> &axes, int rank,
                 const char *global, char *local) {
  if (!isReplicated(info) && info.localBytes() > 0)
    std::memset(local, 0, static_cast<size_t>(info.localBytes()));
  BlockCopy(info, axes, rank).forEachRow([&](int64_t from, int64_t to, int64_t bytes) {
    std::memcpy(local + to, global + from, static_cast<size_t>(bytes));
  });
}

void placeTensor(const TensorInfo &info, const std::vector<MeshAxis> &axes, int rank,
                 const char *local, char *global) {
  BlockCopy(info, axes, rank).forEachRow([&](int64_t to, int64_t from, int64_t bytes) {
    std::memcpy(global + to, local + from, static_cast<size_t>(bytes));
  });
}

} // namespace coll::rt
