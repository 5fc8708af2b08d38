// threads_bench - time per collective of the threads backend.
//
//   threads_bench [ranks] [operations per step]
//
// Prints one JSON line per size: microseconds per all_reduce, blocking, back to back
// and with a little work between the calls.

#include "runtime/backend.h"
#include "runtime/crew.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace coll::rt;

namespace {

double secondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Job {
  std::unique_ptr<Backend> backend;
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  std::vector<std::unique_ptr<Communicator>> groups;
  std::unique_ptr<Crew> crew;
};

Job makeJob(int ranks) {
  Job job;
  BackendOptions options;
  options.numRanks = ranks;
  job.backend = createBackend("threads", options).take();
  std::vector<int> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back(rank);
  for (int rank = 0; rank < ranks; ++rank) {
    job.endpoints.push_back(job.backend->endpoint(rank).take());
    job.endpoints.back()->enter();
    job.groups.push_back(job.endpoints.back()->communicator(all).take());
  }
  job.crew = Crew::create(ranks).take();
  return job;
}

// Stands for computation between two operations.
void compute(std::vector<float> &data, int passes) {
  for (int pass = 0; pass < passes; ++pass)
    for (float &value : data)
      value = value * 0.999f + 0.001f;
}

double measure(Job &job, int64_t count, int operations, int passes) {
  double begin = secondsNow();
  job.crew->run([&](int rank) {
    std::vector<float> data(static_cast<size_t>(count), 1.0f), work(2048, 1.0f);
    for (int i = 0; i < operations; ++i) {
      compute(work, passes);
      Call call;
      call.kind = OpKind::AllReduce;
      call.reduction = kCollSum;
      call.count = count;
      call.src = call.dst = data.data();
      if (!job.groups[static_cast<size_t>(rank)]->run(call).ok())
        std::abort();
    }
  });
  return (secondsNow() - begin) / operations * 1e6;
}

} // namespace

int main(int argc, char **argv) {
  int ranks = argc > 1 ? std::atoi(argv[1]) : 4;
  int operations = argc > 2 ? std::atoi(argv[2]) : 2000;
  Job job = makeJob(ranks);
  for (int64_t count : {1, 256, 4096, 25'600, 262'144}) {
    measure(job, count, operations / 10 + 1, 0);
    double alone = measure(job, count, operations, 0);
    double working = measure(job, count, operations, 20);
    std::printf("{\"ranks\": %d, \"bytes\": %lld, \"us\": %.2f, \"us_with_work\": %.2f}\n", ranks,
                static_cast<long long>(count * 4), alone, working);
  }
  return 0;
}
