// bench_embed.cc - what a call of an empty step through the C API costs the host.
//
// usage: bench-embed FILE.jsonl

#include "embed/c/coll.h"
#include "test/embed/steps.h"
#include "tools/coll-perf/rows.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int kRounds = 21, kCalls = 20'000;

void check(coll_error error) {
  if (error.id == 0)
    return;
  std::fprintf(stderr, "bench-embed: %s\n", coll_error_message(error));
  std::exit(1);
}

coll_instance start(int32_t ranks) {
  coll_context context;
  check(coll_context_create(nullptr, &context));
  coll_compile_options options;
  check(coll_compile_options_init(&options, sizeof(options)));
  options.ranks = ranks;
  coll_executable step;
  check(coll_compile(context, kEmptyStep, std::strlen(kEmptyStep), &options, &step));
  coll_instance instance;
  check(coll_instance_create(step, nullptr, &instance));
  const float zeros[4] = {};
  const int64_t shape[] = {4};
  coll_tensor_view view = {sizeof(view), COLL_F32, 1, shape, nullptr, zeros};
  coll_tensor state;
  check(coll_tensor_wrap(&view, nullptr, nullptr, &state));
  check(coll_instance_set_state(instance, &state, 1));
  return instance;
}

// The median of the rounds' means.
double measureUs(coll_instance instance) {
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i)
      check(coll_instance_step(instance, nullptr, 0, nullptr, 0));
    const std::chrono::duration<double, std::micro> passed =
        std::chrono::steady_clock::now() - begin;
    rounds.push_back(passed.count() / kCalls);
  }
  std::nth_element(rounds.begin(), rounds.begin() + kRounds / 2, rounds.end());
  return rounds[kRounds / 2];
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: bench-embed FILE.jsonl\n");
    return 2;
  }
  coll::perf::Row row;
  row.caseName = "coll_instance_step of an empty step, 1 rank";
  row.size = "0 B";
  row.metric = "us";
  row.higherIsBetter = false;
  row.ours = measureUs(start(1));
  std::printf("%s: %.3f us\n", row.caseName.c_str(), row.ours);
  if (coll::rt::Status status = coll::perf::appendRows(argv[1], "bench-embed", {row});
      !status.ok()) {
    std::fprintf(stderr, "bench-embed: %s\n", status.message().c_str());
    return 1;
  }
  return 0;
}
