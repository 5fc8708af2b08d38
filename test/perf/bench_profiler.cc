// bench-profiler - what profiling costs the host, by an 8-byte all_reduce of one rank alone.
//
//   bench-profiler [--calls=N]            without a listener, then with a plugin that takes all
//   events bench-profiler --calls=N --off        the first alone: to be run under callgrind
//   bench-profiler --machine=TEXT         prints rows of profiler.jsonl instead
//
// One rank waits for no other, so all of the difference is the hooks', the host's and the plugin's
// processor time. The plugin stands in this program, of version 7, and only counts. Prints
// nanoseconds for a call without and with it, events for a call, and nanoseconds for an event:
// median of the calls, and the 99th percentile of the calls over the median without.

#include "runtime/profiler/host/host.h"
#include "runtime/step/abi/context.h"
#include "runtime/step/executor.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

using namespace coll;
using namespace coll::profiler::abi;

namespace {

std::atomic<uint64_t> numEvents{0}; // starts, stops and states

NcclResult initPlugin(void **context, uint64_t, int *mask, const char *, int, int, int,
                      NcclLogger) {
  *context = &numEvents;
  *mask = static_cast<int>(allEvents(7));
  return kNcclSuccess;
}
void count() { numEvents.fetch_add(1, std::memory_order_relaxed); }
NcclResult startEvent(void *, void **handle, EventDescriptorV7 *) {
  count();
  *handle = &numEvents;
  return kNcclSuccess;
}
NcclResult stopEvent(void *) {
  count();
  return kNcclSuccess;
}
NcclResult recordState(void *, EventState, StateArgsV7 *) {
  count();
  return kNcclSuccess;
}
NcclResult finalizePlugin(void *) { return kNcclSuccess; }

int64_t numCalls = 100000;
std::vector<int64_t> callNs;

int32_t benchStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                  void *) {
  callNs.clear();
  int64_t before = rt::traceClockNs();
  for (int64_t i = 0; i < numCalls; ++i) {
    if (int32_t code = abi->all_reduce(ctx, 0, args[0], results[0], 2, kCollF32, kCollSum,
                                       kCollAccumulateAny, kCollOrderAny, 0, nullptr))
      return code;
    const int64_t now = rt::traceClockNs();
    callNs.push_back(now - before);
    before = now;
  }
  return kCollOk;
}

constexpr char kDescriptor[] = R"({"abi":9,"name":"step",
  "mesh":{"name":"m","axes":[{"name":"dp","size":1}]},"ranks":[[0,0]],"groups":[[[0]]],
  "ops":[{"kind":"all_reduce","loc":"bench.py:1:1","name":"","bytes":8,"count":2,"dtype":"f32",
          "reduction":"sum","group":0,"why":""}],
  "args":[{"name":"w","role":"state","dtype":"f32","shape":[2],"local":[2],
           "sharding":[{"axes":[],"unit":1}]}],
  "results":[{"name":"w","role":"state","dtype":"f32","shape":[2],"local":[2],
              "sharding":[{"axes":[],"unit":1}],"arg":0}],
  "arena_bytes":64})";

// Returns the sorted times of the calls of one step, after a warm-up step.
std::vector<int64_t> measure(rt::Executor &executor) {
  for (int i = 0; i < 2; ++i)
    if (auto results = executor.step({}); !results) {
      std::fprintf(stderr, "bench-profiler: %s\n", results.status().toString().c_str());
      std::exit(1);
    }
  std::sort(callNs.begin(), callNs.end());
  return callNs;
}

void printRow(const char *machine, const char *what, const char *metric, double ours,
              double target) {
  char date[16] = "";
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof(date), "%Y-%m-%d", std::localtime(&now));
  std::printf("{\"machine\": \"%s\", \"date\": \"%s\", \"command\": \"bench-profiler\", "
              "\"case\": \"%s\", \"size\": \"8 B\", \"metric\": \"%s\", \"ours\": %.1f, "
              "\"peer\": null, \"peer_name\": \"\", \"ratio\": null, \"target\": %.0f}\n",
              machine, date, what, metric, ours, target);
}

} // namespace

extern "C" __attribute__((visibility("default"))) const ProfilerV7 ncclProfiler_v7 = {
    "bench", initPlugin, startEvent, stopEvent, recordState, finalizePlugin};

int main(int argc, char **argv) {
  bool isOff = false;
  const char *machine = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--calls=", 8) == 0)
      numCalls = std::max(1ll, std::atoll(argv[i] + 8));
    else if (std::strcmp(argv[i], "--off") == 0)
      isOff = true;
    else if (std::strncmp(argv[i], "--machine=", 10) == 0)
      machine = argv[i] + 10;
    else
      return std::fprintf(stderr, "usage: bench-profiler [--calls=N] [--off | --machine=TEXT]\n"),
             2;
  }
  callNs.reserve(static_cast<size_t>(numCalls));
  rt::Result<rt::Program> program = rt::Program::create(kDescriptor, benchStep, nullptr);
  if (!program)
    return std::fprintf(stderr, "%s\n", program.status().toString().c_str()), 1;
  auto executor = rt::Executor::create({*program});
  rt::Result<rt::HostTensor> state = rt::HostTensor::zeros(kCollF32, {2});
  if (!executor || !state || !(*executor)->initialize({*state}).ok())
    return 1;

  const std::vector<int64_t> off = measure(**executor);
  const size_t middle = off.size() / 2, high = off.size() * 99 / 100;
  if (isOff)
    return std::printf("off: %lld ns a call\n", static_cast<long long>(off[middle])), 0;
  profiler::Host host(profiler::loadPlugins({"STATIC_PLUGIN"}));
  const std::vector<int64_t> on = measure(**executor);
  const double events = static_cast<double>(numEvents) / (2.0 * static_cast<double>(numCalls));
  if (events == 0)
    return std::fprintf(stderr, "bench-profiler: the plugin has heard nothing\n"), 1;
  const double median = static_cast<double>(on[middle] - off[middle]) / events;
  const double p99 = static_cast<double>(on[high] - off[middle]) / events;
  if (machine) {
    printRow(machine, "an event, one plugin that counts", "ns", median, 100);
    printRow(machine, "an event, one plugin that counts", "ns, p99", p99, 1000);
    return 0;
  }
  std::printf("off: %lld ns a call\n", static_cast<long long>(off[middle]));
  std::printf("on: %lld ns a call, %.1f events a call\n", static_cast<long long>(on[middle]),
              events);
  std::printf("an event: %.1f ns, p99 %.1f ns\n", median, p99);
  return 0;
}
