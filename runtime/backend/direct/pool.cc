#include "runtime/backend/direct/pool.h"

namespace coll::rt::direct {

int Pool::addChunk(int64_t bytes) {
  chunks_.push_back({bytes, {}});
  return static_cast<int>(chunks_.size()) - 1;
}

std::optional<Pool::Slice> Pool::take(int64_t bytes) {
  bytes = rounded(bytes);
  for (size_t i = 0; i < chunks_.size(); ++i) {
    Chunk &chunk = chunks_[i];
    int64_t begin = 0;
    for (auto [offset, length] : chunk.used) {
      if (offset - begin >= bytes)
        break;
      begin = offset + length;
    }
    if (chunk.bytes - begin < bytes)
      continue;
    chunk.used[begin] = bytes;
    return Slice{static_cast<int>(i), begin, bytes};
  }
  return std::nullopt;
}

void Pool::give(const Slice &slice) {
  chunks_[static_cast<size_t>(slice.chunk)].used.erase(slice.offset);
}

Pool::Account Pool::account() const {
  Account account;
  for (const Chunk &chunk : chunks_) {
    ++account.chunks;
    account.bytes += chunk.bytes;
    for (auto [offset, length] : chunk.used) {
      ++account.slices;
      account.used += length;
    }
  }
  return account;
}

} // namespace coll::rt::direct
