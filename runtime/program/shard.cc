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

// The valid rows of a block, and their places in the global tensor.
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
    elemBytes_.assign(blocks_.size(), rowBytes_);
    for (size_t d = blocks_.size(); d-- > 1;)
      elemBytes_[d - 1] = elemBytes_[d] * blocks_[d].extent;
  }

  bool isPadded() const {
    return std::any_of(blocks_.begin(), blocks_.end(),
                       [](const BlockRange &block) { return block.valid != block.extent; });
  }

  // copyRow(global byte offset, local byte offset, bytes) for each contiguous piece of the block's
  // bytes [begin, end).
  template <typename CopyRow>
  void forEachRow(int64_t begin, int64_t end, CopyRow copyRow) const {
    walk({begin, end}, 0, 0, 0, copyRow);
  }

private:
  struct Range {
    int64_t begin, end;
  };

  template <typename CopyRow>
  static void clip(Range range, int64_t global, int64_t local, int64_t bytes, CopyRow &copyRow) {
    const int64_t first = std::max(local, range.begin), last = std::min(local + bytes, range.end);
    if (first < last)
      copyRow(global + first - local, first, last - first);
  }

  template <typename CopyRow>
  void walk(Range range, size_t dim, int64_t global, int64_t local, CopyRow &copyRow) const {
    if (dim == blocks_.size())
      return clip(range, global * rowBytes_, local * rowBytes_, rowBytes_, copyRow);
    const BlockRange &block = blocks_[dim];
    global = global * shape_[dim] + block.begin;
    local *= block.extent;
    if (dim + 1 == blocks_.size())
      return clip(range, global * rowBytes_, local * rowBytes_, block.valid * rowBytes_, copyRow);
    const int64_t bytes = elemBytes_[dim];
    if (bytes == 0)
      return;
    const int64_t first = std::max<int64_t>(range.begin / bytes - local, 0);
    const int64_t last = std::min(ceilDiv(range.end, bytes) - local, block.valid);
    for (int64_t i = first; i < last; ++i)
      walk(range, dim + 1, global + i, local + i, copyRow);
  }

  std::vector<BlockRange> blocks_;
  std::vector<int64_t> shape_;
  std::vector<int64_t> elemBytes_; // of the block, from one element of a dimension to the next
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
  sliceRange(info, axes, rank, global, 0, info.localBytes(), local);
}

void sliceRange(const TensorInfo &info, const std::vector<MeshAxis> &axes, int rank,
                const char *global, int64_t begin, int64_t bytes, char *to) {
  const BlockCopy block(info, axes, rank);
  if (block.isPadded() && bytes > 0)
    std::memset(to, 0, static_cast<size_t>(bytes));
  block.forEachRow(begin, begin + bytes, [&](int64_t from, int64_t at, int64_t size) {
    std::memcpy(to + (at - begin), global + from, static_cast<size_t>(size));
  });
}

void placeTensor(const TensorInfo &info, const std::vector<MeshAxis> &axes, int rank,
                 const char *local, char *global) {
  const BlockCopy block(info, axes, rank);
  block.forEachRow(0, info.localBytes(), [&](int64_t to, int64_t from, int64_t bytes) {
    std::memcpy(global + to, local + from, static_cast<size_t>(bytes));
  });
}

} // namespace coll::rt
