// root_update_rig.h - peer groups for the root update's tests: emulated, or on GPUs.

#ifndef COLL_TEST_KERNELS_ROOT_UPDATE_RIG_H
#define COLL_TEST_KERNELS_ROOT_UPDATE_RIG_H

#include "runtime/kernels/root_update/root_update.h"
#include "test/kernels/root_update/clipped_sgd.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace coll::kernels::test {

// The optimizers of the project, and one of the tests.
using TestOptimizer = std::variant<AnyOptimizer, ClippedSgd>;

struct Copy {
  void *to = nullptr;
  const void *from = nullptr;
  size_t bytes = 0;
};

class RootUpdateRig {
public:
  virtual ~RootUpdateRig() = default;

  // Memory that `member`'s GPU and its peers can access, aligned to 512; freed with the rig.
  virtual char *allocate(uint32_t member, size_t bytes) = 0;
  virtual void copyIn(uint32_t member, void *to, const void *from, size_t bytes) = 0;
  virtual void copyOut(uint32_t member, void *to, const void *from, size_t bytes) = 0;
  // Creates a group that is ready for its first call; freed with the rig.
  virtual std::vector<PeerGroup> makeGroup(uint32_t size, uint64_t timeoutNs) = 0;
  // The blocks of each member that may wait for each other at the same time.
  virtual uint32_t maxBlocks(uint32_t size) const = 0;
  // Makes a call on each member whose call is not null, with the member's optimizer or the last one
  // in the list, then the member's copy on the same stream; returns when all have ended.
  virtual std::vector<rt::Status> run(const std::vector<PeerGroup> &group,
                                      const std::vector<const RootUpdate *> &calls,
                                      const std::vector<TestOptimizer> &optimizers,
                                      const std::vector<Copy> &copies) = 0;
  virtual rt::Status nextStep(uint32_t member, UpdateStep *step) = 0;
  // The number of random cases that take a second or two, unless more are requested.
  virtual int cases() const = 0;
};

struct RootUpdateRigResult {
  std::unique_ptr<RootUpdateRig> rig;
  std::string whyNot;
};

struct RootUpdateRigCase {
  const char *name;
  RootUpdateRigResult (*make)();
};

class RootUpdateTest : public testing::TestWithParam<RootUpdateRigCase> {
protected:
  void SetUp() override {
    RootUpdateRigResult result = GetParam().make();
    if (!result.rig)
      GTEST_SKIP() << result.whyNot;
    rig_ = std::move(result.rig);
  }
  RootUpdateRig &rig() { return *rig_; }

private:
  std::unique_ptr<RootUpdateRig> rig_;
};

#define COLL_ROOT_UPDATE_RIG(rig, make)                                                            \
  INSTANTIATE_TEST_SUITE_P(rig, RootUpdateTest, testing::Values(RootUpdateRigCase{#rig, make}),    \
                           [](const auto &info) { return std::string(info.param.name); })

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_ROOT_UPDATE_RIG_H
