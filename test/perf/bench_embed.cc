// bench_embed.cc - what a call of an empty step through the C API costs the host, and what memory a
// step with large constants takes while it is compiled, without a cache and with one. With CYCLES,
// instead: the resident memory after 100, 1,000, … CYCLES cycles of compile, run, free.
//
// usage: bench-embed FILE.jsonl [CYCLES]

#include "embed/c/coll.h"
#include "test/embed/steps.h"
#include "tools/coll-perf/rows.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

constexpr int kRounds = 21, kCalls = 20'000;

void check(coll_error error) {
  if (error.id == 0)
    return;
  std::fprintf(stderr, "bench-embed: %s\n", coll_error_message(error));
  std::exit(1);
}

// An instance of a step that runs, with everything that it needs.
struct Running {
  coll_context context;
  coll_executable step;
  coll_instance instance;

  void free() {
    check(coll_instance_free(instance));
    check(coll_executable_free(step));
    check(coll_context_free(context));
  }
};

coll_tensor wrap(const float *data, const std::vector<int64_t> &shape) {
  coll_tensor_view view = {sizeof(view), COLL_F32, static_cast<int32_t>(shape.size()),
                           shape.data(), nullptr,  data};
  coll_tensor tensor;
  check(coll_tensor_wrap(&view, nullptr, nullptr, &tensor));
  return tensor;
}

Running start(const char *text, int32_t ranks) {
  Running running;
  check(coll_context_create(nullptr, &running.context));
  coll_compile_options options;
  check(coll_compile_options_init(&options, sizeof(options)));
  options.ranks = ranks;
  check(coll_compile(running.context, text, std::strlen(text), &options, &running.step));
  check(coll_instance_create(running.step, nullptr, &running.instance));
  const float zeros[4] = {};
  const coll_tensor state = wrap(zeros, {4});
  check(coll_instance_set_state(running.instance, &state, 1));
  check(coll_tensor_free(state));
  return running;
}

// The median of the rounds' means.
double measureUs() {
  Running running = start(kEmptyStep, 1);
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i)
      check(coll_instance_step(running.instance, nullptr, 0, nullptr, 0));
    const std::chrono::duration<double, std::micro> passed =
        std::chrono::steady_clock::now() - begin;
    rounds.push_back(passed.count() / kCalls);
  }
  running.free();
  std::nth_element(rounds.begin(), rounds.begin() + kRounds / 2, rounds.end());
  return rounds[kRounds / 2];
}

// "VmRSS" or "VmHWM" of this process, in MiB.
double memoryMiB(const std::string &name) {
  std::ifstream status("/proc/self/status");
  std::string word;
  double kib = 0;
  while (status >> word)
    if (word == name + ":")
      status >> kib;
  return kib / 1024;
}

// w += a constant of random bits.
std::string stepWithConstant(int64_t mib) {
  const std::string type = "tensor<" + std::to_string(mib << 18) + "xi32>";
  std::string text = "func.func @step(%w: " + type + " {coll.role = \"state\"}) -> " + type +
                     " {\n  %c = arith.constant dense<\"0x";
  text.reserve(text.size() + (size_t(mib) << 21) + 512);
  uint64_t bits = 1;
  for (int64_t i = 0; i < mib << 17; ++i) { // eight bytes each
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    for (int shift = 0; shift < 64; shift += 4)
      text += "0123456789ABCDEF"[bits >> shift & 15];
  }
  return text + "\"> : " + type + "\n  %s = arith.addi %w, %c : " + type +
         "\n  return %s : " + type + "\n}\n";
}

// The MiB that compiling takes at its peak, in addition to the step's text. `cache` may be null.
double measureConstantMiB(int64_t mib, const char *cache) {
  const std::string text = stepWithConstant(mib);
  coll_context_options options = COLL_INIT(coll_context_options);
  options.cache_folder = cache;
  coll_context context;
  check(coll_context_create(&options, &context));
  std::ofstream("/proc/self/clear_refs") << 5; // the peak begins here
  const double before = memoryMiB("VmRSS");
  coll_executable step;
  check(coll_compile(context, text.c_str(), text.size() + 1, nullptr, &step));
  const double peak = memoryMiB("VmHWM") - before;
  check(coll_executable_free(step));
  check(coll_context_free(context));
  return peak;
}

// A whole cycle: context, compiled step on 1 to 3 ranks, one run of it, and freeing everything.
void cycle(int number) {
  Running running = start(kStep, 1 + number % 3);
  const std::vector<float> ones(32, 1);
  const coll_tensor batch = wrap(ones.data(), {8, 4});
  coll_tensor loss;
  check(coll_instance_step(running.instance, &batch, 1, &loss, 1));
  check(coll_tensor_free(loss));
  check(coll_tensor_free(batch));
  running.free();
}

coll::perf::Row rowOf(const char *name, const std::string &size, const char *metric, double ours) {
  coll::perf::Row row;
  row.caseName = name;
  row.size = size;
  row.metric = metric;
  row.higherIsBetter = false;
  row.ours = ours;
  std::printf("%s, %s: %.3f %s\n", name, size.c_str(), ours, metric);
  std::fflush(stdout);
  return row;
}

std::vector<coll::perf::Row> measureCycles(int cycles) {
  std::vector<coll::perf::Row> rows;
  for (int i = 0, next = 100; i < cycles;) {
    cycle(i);
    if (++i < next && i < cycles)
      continue;
    rows.push_back(rowOf("resident after cycles of compile, run, free", std::to_string(i), "MiB",
                         memoryMiB("VmRSS")));
    next *= 10;
  }
  return rows;
}

std::vector<coll::perf::Row> measureCalls() {
  const std::string cache =
      std::filesystem::temp_directory_path() / ("bench-embed-" + std::to_string(getpid()));
  std::vector<coll::perf::Row> rows = {
      rowOf("coll_instance_step of an empty step, 1 rank", "0 B", "us", measureUs())};
  for (int mib : {0, 100, 400})
    rows.push_back(rowOf("peak of coll_compile beside the text, constants",
                         std::to_string(mib) + " MiB", "MiB", measureConstantMiB(mib, nullptr)));
  rows.push_back(
      rowOf("the same, kept in a cache", "100 MiB", "MiB", measureConstantMiB(100, cache.c_str())));
  rows.push_back(rowOf("the same, found in the cache", "100 MiB", "MiB",
                       measureConstantMiB(100, cache.c_str())));
  std::filesystem::remove_all(cache);
  return rows;
}

} // namespace

int main(int argc, char **argv) {
  const int cycles = argc == 3 ? std::atoi(argv[2]) : 0;
  if (argc < 2 || argc > 3 || (argc == 3 && cycles < 1)) {
    std::fprintf(stderr, "usage: bench-embed FILE.jsonl [CYCLES]\n");
    return 2;
  }
  const std::vector<coll::perf::Row> rows = cycles > 0 ? measureCycles(cycles) : measureCalls();
  if (coll::rt::Status status = coll::perf::appendRows(argv[1], "bench-embed", rows);
      !status.ok()) {
    std::fprintf(stderr, "bench-embed: %s\n", status.message().c_str());
    return 1;
  }
  return 0;
}
