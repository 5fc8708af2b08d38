// pool.h - one rank's GPU memory for workspaces and small symmetric memory, divided among its
// groups.
//
// Memory is allocated in chunks, which peers open completely; a group gets a slice of one. Belongs
// to the rank's thread.

#ifndef COLL_RUNTIME_BACKEND_DIRECT_POOL_H
#define COLL_RUNTIME_BACKEND_DIRECT_POOL_H

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace coll::rt::direct {

// Records which bytes of which chunks are in use. Slices are aligned to kAlignment.
class Pool {
public:
  static constexpr int64_t kAlignment = 4096;
  // The size that a slice of `bytes` bytes occupies.
  static int64_t rounded(int64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  struct Slice {
    int chunk = 0;
    int64_t offset = 0, bytes = 0;
  };
  struct Account {
    int chunks = 0, slices = 0;
    int64_t bytes = 0, used = 0;
  };

  // Returns the number of the chunk.
  int addChunk(int64_t bytes);
  // The first place that is large enough; none if a chunk has to be added.
  std::optional<Slice> take(int64_t bytes);
  void give(const Slice &slice);
  Account account() const;

private:
  struct Chunk {
    int64_t bytes = 0;
    std::map<int64_t, int64_t> used; // offset -> bytes
  };
  std::vector<Chunk> chunks_;
};

} // namespace coll::rt::direct

#endif // COLL_RUNTIME_BACKEND_DIRECT_POOL_H
