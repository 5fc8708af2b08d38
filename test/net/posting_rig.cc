#include "test/net/posting_kernel.cuh"

#include <gtest/gtest.h>
#include <thread>

namespace coll::net::test {

using kernels::test::Arena;
using kernels::test::GpuArena;
using kernels::test::HostArena;
using rt::Status;

namespace {

class EmulatedRig final : public PostingRig {
public:
  ~EmulatedRig() override { finish(); }
  Arena &arena() override { return arena_; }
  void start(const PostingRun &run) override {
    finish();
    kernel_ = std::thread([run, shape = kernels::simt::LaunchShape{kPostingBlocks, threads(), 0}] {
      kernels::simt::run(shape, [&](char *) { runPosting(run); });
    });
  }
  void finish() override {
    if (kernel_.joinable())
      kernel_.join();
  }
  uint32_t threads() const override { return 32; }

private:
  HostArena arena_;
  std::thread kernel_;
};

#ifdef COLL_HAS_CUDA
class GpuRig final : public PostingRig {
public:
  explicit GpuRig(std::unique_ptr<GpuArena> arena) : arena_(std::move(arena)) {}
  Arena &arena() override { return *arena_; }
  void start(const PostingRun &run) override {
    const Status launched = launchPosting(run, kPostingBlocks, threads(), arena_->stream());
    EXPECT_TRUE(launched.ok()) << launched.toString();
  }
  void finish() override { arena_->finish(); }
  uint32_t threads() const override { return 96; }

private:
  const std::unique_ptr<GpuArena> arena_;
};
#endif

} // namespace

std::unique_ptr<PostingRig> makeEmulatedPostingRig() { return std::make_unique<EmulatedRig>(); }

std::unique_ptr<PostingRig> makeGpuPostingRig(std::string &whyNot) {
#ifdef COLL_HAS_CUDA
  std::unique_ptr<GpuArena> arena = GpuArena::open(whyNot);
  if (!arena)
    return nullptr;
  if (const Status loaded = loadPosting(); !loaded.ok()) {
    whyNot = loaded.message();
    return nullptr;
  }
  return std::make_unique<GpuRig>(std::move(arena));
#else
  whyNot = "this build has no CUDA kernels";
  return nullptr;
#endif
}

} // namespace coll::net::test
