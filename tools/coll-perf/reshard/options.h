// options.h - the command line of coll-perf reshard, and the tasks that it describes.

#ifndef COLL_TOOLS_COLL_PERF_RESHARD_OPTIONS_H
#define COLL_TOOLS_COLL_PERF_RESHARD_OPTIONS_H

#include "runtime/exchange/reshard/gpu.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace coll::perf {

using rt::Result;
using rt::Status;

// The options as written by the user.
struct ReshardWords {
  std::string shape = "4096x4096", dtype = "f32", memory = "host";
  std::string strategies = "routed,gather", directions = "push,pull", engines = "auto",
              peers = "all";
  int senders = 2, receivers = 2, from = 0, to = 1, nodes = 1;
  bool same = false, noCheck = false, certificate = false;
  int streams = 1, blocks = 0, iterations = 5, warmup = 1, repeat = 3;
  uint64_t seed = 1;
  double timeoutSeconds = 60;
};
void addReshardOptions(CLI::App &app, ReshardWords &words);

// One way to do the reshard.
struct ReshardWay {
  enum class Kind { Ours, Copies, Nccl };
  Kind kind = Kind::Ours;
  rt::exchange::ReshardStrategy strategy = rt::exchange::ReshardStrategy::Routed;
  rt::exchange::ReshardDirection direction = rt::exchange::ReshardDirection::Push;
  rt::exchange::ReshardEngine engine = rt::exchange::ReshardEngine::Auto; // for GPU memory

  std::string name() const; // "routed, push"
};

struct ReshardTask {
  rt::exchange::ReshardSpec spec;
  int ranks = 0;
  int nodes = 1;                // that the ranks are divided into, neighbours together
  bool gpu = false;             // else host memory
  bool shared = false;          // host memory that all ranks map
  std::vector<ReshardWay> ways; // ours first
  int streams = 1, blocks = 0, iterations = 5, warmup = 1, repeat = 3;
  bool check = true, certificate = false;
  uint64_t seed = 1;
  int64_t timeoutUs = 60'000'000;
  std::string title,
      pattern; // "f32 51200x51200, dimension 0 over 2 to dimension 1 over 2"; without the shape

  int64_t bytes() const; // of the tensor
  int nodeOf(int rank) const { return rank * nodes / ranks; }
};
// Returns one task for each shape. Errors name the option.
Result<std::vector<ReshardTask>> prepareReshard(const ReshardWords &words);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_RESHARD_OPTIONS_H
