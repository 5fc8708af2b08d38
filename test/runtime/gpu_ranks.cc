#include "test/runtime/gpu_ranks.h"

#include <cstring>
#include <thread>

namespace coll::rt::test {

BackendOptions GpuRanks::options(int ranks, int64_t timeoutUs) {
  BackendOptions made;
  made.numRanks = ranks;
  made.timeoutUs = timeoutUs;
  return made;
}

std::vector<Status> GpuRanks::runOn(const std::string &name, const BackendOptions &options,
                                    const Body &body) {
  std::vector<Status> all(static_cast<size_t>(options.numRanks));
  Result<std::unique_ptr<Backend>> backend = createBackend(name, options);
  if (!backend)
    return std::vector<Status>(all.size(), backend.status());
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  std::vector<int> world;
  for (int rank = 0; rank < options.numRanks; ++rank) {
    endpoints.push_back((*backend)->endpoint(rank).take());
    endpoints.back()->enter();
    world.push_back(rank);
  }
  std::vector<std::thread> threads;
  for (int rank = 0; rank < options.numRanks; ++rank)
    threads.emplace_back([&, rank] {
      auto i = static_cast<size_t>(rank);
      std::unique_ptr<Communicator> group = endpoints[i]->communicator(world).take();
      Rank me = {*endpoints[i], *group, rank};
      cuda.setCurrent(rank % kGpus);
      all[i] = body(me);
      endpoints[i]->leave();
    });
  for (std::thread &thread : threads)
    thread.join();
  return all;
}

void GpuRanks::expectAll(const std::vector<Status> &all) {
  for (const Status &status : all)
    EXPECT_TRUE(status.ok()) << status.toString();
}

float *GpuRanks::floats(int rank, const std::vector<float> &values) {
  auto *data = static_cast<float *>(cuda.allocate(values.size() * 4, rank % kGpus));
  std::memcpy(data, values.data(), values.size() * 4);
  return data;
}

Call GpuRanks::sum(float *data, int64_t count) {
  Call call;
  call.kind = OpKind::AllReduce;
  call.count = count;
  call.src = call.dst = data;
  call.site.op = 3;
  call.site.loc = "train.py:7:1";
  return call;
}

dl::CudaStream GpuRanks::stream() {
  dl::CudaStream made = nullptr;
  EXPECT_EQ(cuda.table().streamCreate(&made, 0), dl::kCudaSuccess);
  return made;
}

} // namespace coll::rt::test
