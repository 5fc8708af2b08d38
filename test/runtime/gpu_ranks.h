// gpu_ranks.h - ranks on threads of this process, on GPUs of a fake driver; for the tests of
// backends nccl and direct.

#ifndef COLL_TEST_RUNTIME_GPU_RANKS_H
#define COLL_TEST_RUNTIME_GPU_RANKS_H

#include "runtime/backend/backend.h"
#include "test/runtime/fixtures.h"
#include "test/support/fakes/cuda.h"

#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace coll::rt::test {

struct Rank {
  Endpoint &endpoint;
  Communicator &group; // of all ranks
  int rank;
};

// Rank i uses GPU i modulo 4. A derived fixture sets the platform of the backend.
class GpuRanks : public testing::Test {
protected:
  static constexpr int kGpus = 4;

  explicit GpuRanks(std::string backend) : backend_(std::move(backend)) {}
  ~GpuRanks() override { EXPECT_EQ(cuda.misuse(), ""); }

  static BackendOptions options(int ranks, int64_t timeoutUs = 60'000'000);

  // Runs the body on all ranks at once and returns the status of each; if the backend cannot be
  // made, the reason.
  using Body = std::function<Status(Rank &)>;
  std::vector<Status> run(const BackendOptions &options, const Body &body) {
    return runOn(backend_, options, body);
  }
  std::vector<Status> runOn(const std::string &backend, const BackendOptions &options,
                            const Body &body);
  static void expectAll(const std::vector<Status> &all);

  // f32 on the rank's GPU.
  float *floats(int rank, const std::vector<float> &values);
  static Call sum(float *data, int64_t count);
  dl::CudaStream stream();

  dl::FakeCuda cuda{kGpus};

private:
  const std::string backend_;
};

} // namespace coll::rt::test

#endif // COLL_TEST_RUNTIME_GPU_RANKS_H
