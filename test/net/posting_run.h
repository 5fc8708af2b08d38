// posting_run.h - a run of the kernel of the tests of posting, and where it executes.

#ifndef COLL_TEST_NET_POSTING_RUN_H
#define COLL_TEST_NET_POSTING_RUN_H

#include "runtime/base/posting_layout.h"
#include "runtime/base/status.h"
#include "test/kernels/channel/arena.h"

#include <cstdint>
#include <memory>
#include <string>

namespace coll::net::test {

inline constexpr uint32_t kPostingBlocks = 3;

// First waits for a signal and copies, then posts, then waits for all posts.
struct PostingRun {
  rt::PostHandle posts;
  const rt::Post *steps = nullptr; // `seq` apart; op as it is, a bad one too
  uint32_t count = 0;
  rt::PostOutcome *outcomes = nullptr; // of the steps
  rt::PostOutcome *fenced = nullptr;   // of the blocks
  uint32_t peer = 0, signal = 0;
  uint64_t awaitCount = 0;            // 0: does not wait
  rt::PostOutcome *awaited = nullptr; // of the blocks
  const uint64_t *landed = nullptr;
  uint64_t *copy = nullptr;
  uint64_t words = 0;
};

// Runs one kernel at a time.
class PostingRig {
public:
  virtual ~PostingRig() = default; // waits for the kernel
  virtual kernels::test::Arena &arena() = 0;
  virtual void start(const PostingRun &run) = 0;
  virtual void finish() = 0;
  virtual uint32_t threads() const = 0; // of a block

  uint8_t *device(size_t bytes) { return arena().device(bytes); }
  uint8_t *pinned(size_t bytes) { return arena().pinned(bytes); }
};

std::unique_ptr<PostingRig> makeEmulatedPostingRig();
// Returns null, with the reason, if there is no GPU or no kernel.
std::unique_ptr<PostingRig> makeGpuPostingRig(std::string &whyNot);

// In posting_cuda.cu, on a CUstream.
rt::Status loadPosting();
rt::Status launchPosting(const PostingRun &run, uint32_t blocks, uint32_t threads, void *stream);

} // namespace coll::net::test

#endif // COLL_TEST_NET_POSTING_RUN_H
