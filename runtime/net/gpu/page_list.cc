#include "runtime/net/gpu/page_list.h"

#include "runtime/net/gpu/bounce_pool.h"

namespace coll::net {

namespace {

uint64_t numPages(const Runs &runs, uint64_t piece) {
  uint64_t count = 0;
  for (const rt::PageDescriptor &run : runs)
    count += (run.len + piece - 1) / piece;
  return count;
}

} // namespace

void addRuns(Runs &runs, const uint32_t *blocks, uint64_t at, uint64_t bytes, uint64_t bufferOff) {
  while (bytes > 0) {
    uint64_t within = at % BouncePool::kBlockBytes;
    uint64_t part = std::min(bytes, BouncePool::kBlockBytes - within);
    uint64_t bounceOff = blocks[at / BouncePool::kBlockBytes] * BouncePool::kBlockBytes + within;
    // CUDA refuses to copy memory that was pinned in two steps.
    const bool isNewChunk = bounceOff % BouncePool::kChunkBytes == 0;
    if (!runs.empty() && !isNewChunk &&
        uint64_t(runs.back().bounceOff) + runs.back().len == bounceOff &&
        runs.back().bufferOff + runs.back().len == bufferOff)
      runs.back().len += static_cast<uint32_t>(part);
    else
      runs.push_back({static_cast<uint32_t>(bounceOff), static_cast<uint32_t>(part), bufferOff});
    at += part;
    bufferOff += part;
    bytes -= part;
  }
}

uint32_t cutRuns(const Runs &runs, const PagePolicy &policy, rt::PageDescriptor *pages) {
  uint64_t total = 0;
  for (const rt::PageDescriptor &run : runs)
    total += run.len;
  uint64_t piece = policy.pieceBytes(total);
  while (numPages(runs, piece) > rt::kUnpackSlotPages)
    piece *= 2;
  uint32_t count = 0;
  for (const rt::PageDescriptor &run : runs)
    for (uint64_t at = 0; at < run.len; at += piece)
      pages[count++] = {static_cast<uint32_t>(run.bounceOff + at),
                        static_cast<uint32_t>(std::min(piece, run.len - at)), run.bufferOff + at};
  return count;
}

} // namespace coll::net
