#include "tools/coll-perf/reshard/options.h"

#include "runtime/base/dtype.h"
#include "tools/coll-perf/op/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace coll::perf {

namespace {

using rt::exchange::ReshardDirection;
using rt::exchange::ReshardEngine;
using rt::exchange::ReshardStrategy;

constexpr int kMostRanks = 64;

Result<std::vector<int64_t>> parseShape(const std::string &text) {
  std::vector<int64_t> shape;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('x', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (word.empty() || word.size() > 15 || word.find_first_not_of("0123456789") != word.npos)
      return Status::invalid("--shape: \"" + text + "\" is not of the form 512x1024");
    shape.push_back(std::atoll(word.c_str()));
    begin = end + 1;
  }
  if (shape.size() > rt::exchange::kMaxReshardDims || !rt::numElements(shape))
    return Status::invalid("--shape: \"" + text + "\" is too large");
  return shape;
}

// The shards of `count` ranks from `first` on, which split dimension `dim`; -1: each holds the
// whole tensor.
std::vector<rt::exchange::Shard> sideOf(const rt::exchange::ReshardSpec &spec, int count, int first,
                                        int dim) {
  rt::TensorInfo info;
  info.dtype = spec.dtype;
  info.shape = spec.shape;
  info.sharding.resize(spec.shape.size());
  if (dim >= 0)
    info.sharding[static_cast<size_t>(dim)].axes = {"x"};
  std::vector<int> ranks(static_cast<size_t>(count));
  std::iota(ranks.begin(), ranks.end(), first);
  return rt::exchange::shardsOf(info, {{"x", count}}, ranks);
}

Status checkNumbers(const ReshardWords &words, size_t dims) {
  auto within = [](const char *flag, int value, int low, int high) {
    return value >= low && value <= high
               ? Status()
               : Status::invalid(std::string(flag) + ": " + std::to_string(low) + " to " +
                                 std::to_string(high) + " are possible, not " +
                                 std::to_string(value));
  };
  const int last = static_cast<int>(dims) - 1;
  COLL_RETURN_IF_ERROR(within("--senders", words.senders, 1, kMostRanks));
  COLL_RETURN_IF_ERROR(within("--receivers", words.receivers, 1, kMostRanks));
  COLL_RETURN_IF_ERROR(within("--from", words.from, -1, last));
  COLL_RETURN_IF_ERROR(within("--to", words.to, -1, last));
  COLL_RETURN_IF_ERROR(within("--nodes", words.nodes, 1, kMostRanks));
  COLL_RETURN_IF_ERROR(within("--streams", words.streams, 1, 16));
  COLL_RETURN_IF_ERROR(within("--blocks", words.blocks, 0, 65535));
  COLL_RETURN_IF_ERROR(within("--iterations", words.iterations, 1, 1'000'000));
  COLL_RETURN_IF_ERROR(within("--warmup", words.warmup, 0, 1'000'000));
  COLL_RETURN_IF_ERROR(within("--repeat", words.repeat, 1, 1000));
  if (!(words.timeoutSeconds > 0 && words.timeoutSeconds < 1e6))
    return Status::invalid("--timeout: expected a number of seconds above 0");
  return {};
}

Result<std::vector<ReshardWay>> parseWays(const ReshardWords &words, bool gpu) {
  std::vector<ReshardWay> ways;
  for (const std::string &strategy : splitWords(words.strategies))
    for (const std::string &direction : splitWords(words.directions))
      for (const std::string &engine : splitWords(words.engines)) {
        ReshardWay way;
        if (strategy != "routed" && strategy != "gather")
          return Status::invalid("--strategy has to be routed or gather, not \"" + strategy + "\"");
        if (direction != "push" && direction != "pull")
          return Status::invalid("--direction has to be push or pull, not \"" + direction + "\"");
        if (engine != "auto" && engine != "kernel" && engine != "copies")
          return Status::invalid("--engine has to be auto, kernel or copies, not \"" + engine +
                                 "\"");
        if (engine != "auto" && !gpu)
          return Status::invalid("--engine: " + engine + " moves GPU memory only");
        way.strategy = strategy == "routed" ? ReshardStrategy::Routed : ReshardStrategy::Gather;
        way.direction = direction == "push" ? ReshardDirection::Push : ReshardDirection::Pull;
        way.engine = engine == "auto"     ? ReshardEngine::Auto
                     : engine == "kernel" ? ReshardEngine::Kernel
                                          : ReshardEngine::Copies;
        ways.push_back(way);
      }
  if (!gpu && (words.streams != 1 || words.blocks != 0))
    return Status::invalid("--streams and --blocks are for GPU memory only");
  const bool isSpread = words.nodes > 1;
  if (isSpread && !gpu)
    return Status::invalid(
        "--nodes is for GPU memory; with --memory=host, tcp is between any ranks");
  const std::string peers = words.peers != "all" ? words.peers
                            : isSpread           ? "nccl"
                            : gpu                ? "nccl,copies"
                                                 : "none";
  for (const std::string &peer : splitWords(peers)) {
    if (peer == "none")
      continue;
    if (peer != "nccl" && peer != "copies")
      return Status::invalid("--peers has to be nccl, copies, all or none, not \"" + peer + "\"");
    if (!gpu)
      return Status::invalid("--peers: " + peer + " moves GPU memory only");
    if (isSpread && peer == "copies")
      return Status::invalid("--peers: copies works only inside a node; use --nodes=1");
    ReshardWay way;
    way.kind = peer == "nccl" ? ReshardWay::Kind::Nccl : ReshardWay::Kind::Copies;
    way.direction = ReshardDirection::Pull;
    ways.push_back(way);
  }
  return ways;
}

std::string sideName(int dim, int count) {
  return dim < 0 ? std::to_string(count) + " replicas"
                 : "dimension " + std::to_string(dim) + " over " + std::to_string(count);
}

} // namespace

void addReshardOptions(CLI::App &app, ReshardWords &words) {
  const char *group = "What is measured";
  auto option = [&](const char *flags, auto &value, const char *help) {
    app.add_option(flags, value, help)->group(group)->capture_default_str();
  };
  option("--shape", words.shape,
         "the tensor's shape: 512x1024x8; a list is measured one after the other: "
         "512x512,4096x4096");
  option("-d,--dtype", words.dtype, "element type");
  option("--senders", words.senders, "number of ranks that have the tensor");
  option("--receivers", words.receivers, "number of ranks that receive it");
  app.add_flag("--same", words.same, "both sides are the same ranks, from 0 on")->group(group);
  option("--from", words.from, "dimension that the senders split; -1: each has all of it");
  option("--to", words.to, "dimension that the receivers split");
  option("--strategy", words.strategies, "list, measured side by side: routed, gather");
  option("--direction", words.directions, "list, measured side by side: push, pull");
  app.add_flag("--certificate", words.certificate,
               "print the bytes on each link, and the least that any plan sends to each rank")
      ->group(group);
  group = "Where";
  option("--memory", words.memory,
         "host (processes, one-sided over tcp), shm (shared memory) or gpu (peer memory)");
  option("--nodes", words.nodes,
         "gpu: number of simulated nodes: between them tcp instead of peer memory");
  option("--engine", words.engines,
         "gpu: list, measured side by side: auto, kernel, copies (by the copy engines)");
  option("--streams", words.streams, "gpu: streams that share the work");
  option("--blocks", words.blocks, "gpu: blocks of all streams together; 0: the tuned number");
  option("--peers", words.peers,
         "also measure for comparison: nccl (send/recv with packing), copies (strided, by the copy "
         "engines), all, or none");
  group = "Accuracy";
  option("-n,--iterations", words.iterations, "reshards per figure, one after the other");
  option("-w,--warmup", words.warmup, "warm-up reshards");
  option("--repeat", words.repeat, "figures; the median counts");
  app.add_option("--seed", words.seed, "seed of the data")
      ->group(group)
      ->capture_default_str()
      ->check([](const std::string &text) {
        return text[0] == '-' ? std::string("it has to be 0 or more") : std::string();
      });
  option("--timeout", words.timeoutSeconds, "seconds after which a rank fails");
  app.add_flag("--no-check", words.noCheck, "do not compare every element of the result")
      ->group(group);
}

std::string ReshardWay::name() const {
  switch (kind) {
  case Kind::Copies:
    return "strided copies";
  case Kind::Nccl:
    return "NCCL send/recv with packing";
  default:
    return std::string(plan::nameOf(strategy)) + ", " + rt::exchange::nameOf(direction) +
           (engine == ReshardEngine::Auto ? "" : std::string(", ") + nameOf(engine));
  }
}

int64_t ReshardTask::bytes() const {
  return *rt::numElements(spec.shape) * rt::dtypeSize(spec.dtype);
}

namespace {

Result<ReshardTask> prepareShape(const ReshardWords &words, const std::string &word) {
  ReshardTask task;
  Result<std::vector<int64_t>> shape = parseShape(word);
  if (!shape)
    return shape.status();
  std::optional<CollDtype> dtype = rt::parseDtype(words.dtype);
  if (!dtype)
    return Status::invalid("--dtype: \"" + words.dtype + "\" is not an element type");
  if (words.memory != "host" && words.memory != "shm" && words.memory != "gpu")
    return Status::invalid("--memory has to be host, shm or gpu, not \"" + words.memory + "\"");
  COLL_RETURN_IF_ERROR(checkNumbers(words, shape->size()));
  task.gpu = words.memory == "gpu";
  task.shared = words.memory == "shm";
  Result<std::vector<ReshardWay>> ways = parseWays(words, task.gpu);
  if (!ways)
    return ways.status();
  task.ways = ways.take();
  task.spec.dtype = *dtype;
  task.spec.shape = *shape;
  task.spec.senders = sideOf(task.spec, words.senders, 0, words.from);
  task.spec.receivers =
      sideOf(task.spec, words.receivers, words.same ? 0 : words.senders, words.to);
  task.ranks =
      words.same ? std::max(words.senders, words.receivers) : words.senders + words.receivers;
  task.nodes = words.nodes;
  if (task.nodes > task.ranks)
    return Status::invalid("--nodes: " + std::to_string(task.nodes) + " for " +
                           std::to_string(task.ranks) + " ranks");
  COLL_RETURN_IF_ERROR(rt::exchange::planReshard(task.spec).status());
  for (const ReshardWay &way : task.ways)
    COLL_RETURN_IF_ERROR(rt::exchange::planReshard(task.spec, way.strategy).status());
  task.streams = words.streams;
  task.blocks = words.blocks;
  task.iterations = words.iterations;
  task.warmup = words.warmup;
  task.repeat = words.repeat;
  task.check = !words.noCheck;
  task.seed = words.seed;
  task.timeoutUs = static_cast<int64_t>(words.timeoutSeconds * 1e6);
  task.certificate = words.certificate;
  task.pattern = sideName(words.from, words.senders) + " to " +
                 sideName(words.to, words.receivers) +
                 (words.same ? ", the same ranks" : ", other ranks");
  task.title = words.dtype + " " + word + ", " + task.pattern;
  return task;
}

} // namespace

Result<std::vector<ReshardTask>> prepareReshard(const ReshardWords &words) {
  std::vector<ReshardTask> tasks;
  for (const std::string &word : splitWords(words.shape)) {
    Result<ReshardTask> task = prepareShape(words, word);
    if (!task)
      return task.status();
    tasks.push_back(task.take());
  }
  return tasks;
}

} // namespace coll::perf
