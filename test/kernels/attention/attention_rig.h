// attention_rig.h - runs the attention kernels for the tests: emulated on the host, or on a GPU.

#ifndef COLL_TEST_KERNELS_ATTENTION_RIG_H
#define COLL_TEST_KERNELS_ATTENTION_RIG_H

#include "runtime/kernels/attention/attention.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>

namespace coll::kernels::test {

class AttentionRig {
public:
  virtual ~AttentionRig() = default;
  // Allocations are aligned to 256 bytes, with nothing behind them.
  virtual void *allocate(size_t bytes) = 0;
  virtual void release(void *memory) = 0;
  virtual void copyIn(void *to, const void *from, size_t bytes) = 0;
  virtual void copyOut(void *to, const void *from, size_t bytes) = 0;
  // Each call returns when the kernel has ended.
  virtual rt::Status forward(const Attention &attention, const AttentionBuffers &buffers) = 0;
  virtual rt::Status backward(const Attention &attention, const AttentionBuffers &buffers) = 0;
  virtual bool isSlow() const = 0; // leave out what is large
};

struct AttentionRigCase {
  const char *name;
  std::unique_ptr<AttentionRig> (*make)(std::string &whyNot);
};

class AttentionTest : public testing::TestWithParam<AttentionRigCase> {
protected:
  void SetUp() override {
    std::string whyNot;
    rig_ = GetParam().make(whyNot);
    if (!rig_)
      GTEST_SKIP() << whyNot;
  }
  std::unique_ptr<AttentionRig> rig_;
};

#define COLL_ATTENTION_RIG(rig, make)                                                              \
  INSTANTIATE_TEST_SUITE_P(rig, AttentionTest, testing::Values(AttentionRigCase{#rig, make}),      \
                           [](const auto &info) { return std::string(info.param.name); })

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_ATTENTION_RIG_H
