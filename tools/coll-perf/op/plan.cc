#include "tools/coll-perf/op/plan.h"

#include "runtime/base/dtype.h"
#include "runtime/kernels/root_update/root_update.h"
#include "tools/coll-perf/units.h"

#include <algorithm>
#include <cmath>

namespace coll::perf {

namespace {

constexpr int kMaxRanks = 256;
constexpr uint64_t kMaxBytes = uint64_t(1) << 36;
constexpr size_t kMaxSizes = 10'000;

bool gathers(const std::string &op) { return op == "all_gather" || op == "gather"; }
bool scatters(const std::string &op) {
  return op == "reduce_scatter" || op == "scatter" || op == "all_to_all";
}
// Returns true if the backend is for GPU memory only.
bool ofGpus(const std::string &backend) { return backend == "nccl" || backend == "direct"; }

// The words that may follow a backend's name after colons.
std::string wordsOf(const std::string &backend) {
  if (backend == "threads")
    return "threads, host";
  if (backend == "nccl")
    return "threads, processes, gpu, registered, user, sharded";
  return ofGpus(backend) ? "threads, processes, gpu, registered, user"
                         : "threads, processes, gpu, host";
}

} // namespace

bool hasReduction(const std::string &op) {
  return op == "all_reduce" || op == "reduce" || op == "reduce_scatter";
}

const char *nameOf(Timing timing) {
  return timing == Timing::Eager ? "eager" : timing == Timing::Graph ? "graph" : "latency";
}

const std::vector<std::string> &opNames() {
  static const std::vector<std::string> names = {
      "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
      "gather",     "scatter",    "all_to_all",     "send_recv", "root_update"};
  return names;
}

bool isOp(const std::string &name) {
  return std::find(opNames().begin(), opNames().end(), name) != opNames().end();
}

uint64_t OpPlan::next(uint64_t bytes) const {
  if (factor == 0)
    return bytes + stepBytes;
  const double grown = std::min(static_cast<double>(bytes) * factor, 2.0 * kMaxBytes);
  return std::max(bytes + 1, static_cast<uint64_t>(grown));
}

std::vector<uint64_t> OpPlan::sizes() const {
  auto moved = [this](uint64_t bytes) { return bytesOf(*this, countOf(*this, bytes)); };
  std::vector<uint64_t> all;
  for (uint64_t bytes = fromBytes; bytes <= toBytes; bytes = next(bytes))
    if (all.empty() || moved(bytes) != moved(all.back()))
      all.push_back(bytes);
  return all;
}

Status check(const OpPlan &plan) {
  if (plan.ranks < 1 || plan.ranks > kMaxRanks)
    return Status::invalid("--ranks has to be 1 to " + std::to_string(kMaxRanks));
  if (plan.fromBytes < 1 || plan.fromBytes > plan.toBytes || plan.toBytes > kMaxBytes)
    return Status::invalid("-b and -e have to be sizes from 1 byte to 64G, the smaller first");
  if (plan.factor != 0 ? !(plan.factor > 1) : plan.stepBytes < 1)
    return Status::invalid("-f has to be above 1, or -i a step of 1 byte or more");
  size_t sizes = 0;
  for (uint64_t bytes = plan.fromBytes; bytes <= plan.toBytes; bytes = plan.next(bytes))
    if (++sizes > kMaxSizes)
      return Status::invalid("-f or -i makes more than " + std::to_string(kMaxSizes) + " sizes");
  COLL_RETURN_IF_ERROR(checkRange("-n", plan.iterations, 1, 1e9));
  COLL_RETURN_IF_ERROR(checkRange("-w", plan.warmup, 0, 1e9));
  COLL_RETURN_IF_ERROR(checkRange("--repeat", plan.repeat, 1, 1e9));
  if (plan.root < 0 || plan.root >= plan.ranks)
    return Status::invalid("--root has to be one of the " + std::to_string(plan.ranks) + " ranks");
  if (hasReduction(plan.op) && !rt::reductionTakes(plan.reduction, plan.dtype))
    return Status::invalid(std::string("reduction ") + rt::reductionName(plan.reduction) +
                           " does not take " + rt::dtypeName(plan.dtype));
  if (plan.op == "root_update" && plan.dtype != kCollF32 && plan.dtype != kCollBf16)
    return Status::invalid("--dtype of root_update has to be f32 or bf16");
  if (!kernels::optimizerNamed(plan.optimizer))
    return Status::invalid("--optimizer has to be one of sgd, momentum, adam, adamw, lion, "
                           "rmsprop, not \"" +
                           plan.optimizer + "\"");
  if (!std::isfinite(plan.scale))
    return Status::invalid("--scale has to be a finite number");
  if (plan.scale != 1 && !hasReduction(plan.op))
    return Status::invalid("--scale applies to reductions only");
  return {};
}

Result<Side> parseSide(const std::string &text) {
  Side side;
  side.label = text;
  size_t colon = text.find(':');
  side.backend = text.substr(0, colon);
  std::vector<std::string> known = rt::backendNames();
  if (std::find(known.begin(), known.end(), side.backend) == known.end()) {
    std::string list;
    for (const std::string &name : known)
      list += (list.empty() ? "" : ", ") + name;
    return Status::invalid("unknown backend \"" + side.backend + "\"; known: " + list);
  }
  side.processes = side.backend != "threads";
  const bool isOfGpus = ofGpus(side.backend);
  side.memory = isOfGpus ? MemoryKind::Gpu : MemoryKind::Host;
  while (colon != std::string::npos) {
    size_t next = text.find(':', colon + 1);
    std::string word = text.substr(colon + 1, next == std::string::npos ? next : next - colon - 1);
    colon = next;
    if (word == "threads")
      side.processes = false;
    else if (word == "processes" && side.backend != "threads")
      side.processes = true;
    else if (word == "gpu" && side.backend != "threads")
      side.memory = MemoryKind::Gpu;
    else if (word == "host" && !isOfGpus)
      side.memory = MemoryKind::Host;
    else if ((word == "registered" || word == "user") && isOfGpus)
      side.registered = word == "user" ? Registered::Users : Registered::Own;
    else if (word == "sharded" && side.backend == "nccl")
      side.sharded = true;
    else
      return Status::invalid("backend " + side.backend + " does not run as \"" + word +
                             "\"; it takes " + wordsOf(side.backend));
  }
  return side;
}

int64_t countOf(const OpPlan &plan, uint64_t bytes) {
  uint64_t elements = bytes / static_cast<uint64_t>(rt::dtypeSize(plan.dtype));
  if (gathers(plan.op) || scatters(plan.op))
    elements /= static_cast<uint64_t>(plan.ranks);
  return static_cast<int64_t>(std::max<uint64_t>(elements, 1));
}

uint64_t bytesOf(const OpPlan &plan, int64_t count) {
  uint64_t bytes = static_cast<uint64_t>(count * rt::dtypeSize(plan.dtype));
  return gathers(plan.op) || scatters(plan.op) ? bytes * static_cast<uint64_t>(plan.ranks) : bytes;
}

double busFactor(const OpPlan &plan) {
  double n = plan.ranks;
  if (plan.op == "all_reduce" || plan.op == "root_update")
    return 2 * (n - 1) / n;
  return gathers(plan.op) || scatters(plan.op) ? (n - 1) / n : 1;
}

} // namespace coll::perf
