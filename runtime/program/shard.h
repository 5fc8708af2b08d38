// shard.h - the part of a global tensor that a rank holds.
//
// A dimension of extent E, split over n shards with block unit u, has blocks of
// ceil(ceil(E / u) / n) * u elements; shard i holds the elements from i * block on,
// and zeros where its block reaches past E. A rank's shard of a dimension is its
// coordinates along the dimension's axes, first axis major; ranks are laid out
// row-major over the mesh, last axis fastest.

#ifndef COLL_RUNTIME_PROGRAM_SHARD_H
#define COLL_RUNTIME_PROGRAM_SHARD_H

#include "runtime/program/program.h"

#include <cstdint>
#include <vector>

namespace coll::rt {

// One rank's block of one dimension.
struct BlockRange {
  int64_t begin = 0;  // first element of the global dimension
  int64_t valid = 0;  // elements of it that exist
  int64_t extent = 0; // length of the block, padding included
};

int64_t blockExtent(int64_t extent, int64_t numShards, int64_t unit);

// The rank's block of each dimension of `info`. The axes of info.sharding must exist in the mesh
// (Descriptor::parse guarantees it).
std::vector<BlockRange> blocksOf(const TensorInfo &info, const std::vector<MeshAxis> &axes,
                                 int rank);

// Whether no dimension is split.
bool isReplicated(const TensorInfo &info);

// Copies the rank's block out of the global tensor; padding becomes zero.
// global: info.globalBytes(), local: info.localBytes().
void sliceTensor(const TensorInfo &info, const std::vector<MeshAxis> &axes, int rank,
                 const char *global, char *local);
// The same for a range of the block: writes its bytes [begin, begin + bytes) to `to`.
void sliceRange(const TensorInfo &info, const std::vector<MeshAxis> &axes, int rank,
                const char *global, int64_t begin, int64_t bytes, char *to);
// Copies the rank's block, without padding, into the global tensor.
void placeTensor(const TensorInfo &info, const std::vector<MeshAxis> &axes, int rank,
                 const char *local, char *global);

} // namespace coll::rt

#endif // COLL_RUNTIME_PROGRAM_SHARD_H
