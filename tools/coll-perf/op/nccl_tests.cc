#include "tools/coll-perf/op/nccl_tests.h"

#include "tools/coll-perf/op/options.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string_view>

namespace coll::perf {

namespace {

constexpr const char *kHidden = ""; // the group of options that the help omits

struct TypeName {
  std::string_view theirs;
  const char *ours;
  bool isSignedHere = false;
};
constexpr TypeName kTypes[] = {
    {"int8", "i8"},          {"uint8", "u8"},        {"int32", "i32"},
    {"uint32", "i32", true}, {"int64", "i64"},       {"uint64", "i64", true},
    {"half", "f16"},         {"bfloat16", "bf16"},   {"float", "f32"},
    {"double", "f64"},       {"f8e4m3", "f8e4m3fn"}, {"fp8_e4m3", "f8e4m3fn"},
    {"fp8_e5m2", "f8e5m2"}};

// Unsigned types become signed ones: sums and products have the same bits, minimum and maximum
// become umin and umax, and averages are refused.
Status nameType(OpWords &words) {
  for (const TypeName &type : kTypes) {
    if (type.theirs != words.dtype)
      continue;
    if (type.isSignedHere && words.reduction == "avg")
      return Status::invalid(
          "-d " + words.dtype + " is " + type.ours +
          " here, which averages signed numbers; only u8 averages unsigned ones");
    if (type.isSignedHere && (words.reduction == "min" || words.reduction == "max"))
      words.reduction = "u" + words.reduction;
    words.dtype = type.ours;
    return {};
  }
  return {};
}

Status nameTiming(OpWords &words) {
  const NcclTestsWords &given = words.ncclTests;
  if (given.graphs > 1)
    return Status::invalid("-G has to be 0 or 1 here: -G 1 is --timing=graph, and --repeat=" +
                           std::to_string(given.graphs) + " measures so often");
  if (given.blocking > 1)
    return Status::invalid("-z has to be 0 or 1; 1 is --timing=latency");
  if (given.graphs == 1 && given.blocking == 1)
    return Status::invalid("-G 1 and -z 1 exclude each other: an operation in a graph is not "
                           "waited for");
  if (given.graphs == 1)
    words.timings = nameOf(Timing::Graph);
  if (given.blocking == 1)
    words.timings = nameOf(Timing::Latency);
  return {};
}

// An error about too many or too few ranks names --ranks.
void countRanks(OpWords &words) {
  const NcclTestsWords &given = words.ncclTests;
  if (given.threads >= 0 || given.gpus >= 0)
    words.plan.ranks = std::abs(given.threads) * std::abs(given.gpus);
}

} // namespace

void addNcclTestsOptions(CLI::App &app, OpWords &words) {
  auto also = [&](const char *flags, auto &value) {
    return app.add_option(flags, value)->group(kHidden);
  };
  also("--minbytes", words.from);
  also("--maxbytes", words.to);
  also("--stepbytes", words.step);
  also("--stepfactor", words.plan.factor);
  also("--iters", words.plan.iterations);
  also("--warmup_iters", words.plan.warmup);
  also("--datatype", words.dtype);
  also("-T", words.timeoutSeconds);
  NcclTestsWords &given = words.ncclTests;
  CLI::Range few(0, 10'000); // and products that are no more than an int holds
  for (auto [flags, value, own] : {std::tuple("-t,--nthreads", &given.threads, "--ranks"),
                                   {"-g,--ngpus", &given.gpus, "--ranks"},
                                   {"-c,--check", &given.checks, "--no-check"},
                                   {"-G,--cudagraph", &given.graphs, "--timing"},
                                   {"-z,--blocking", &given.blocking, "--timing"}})
    also(flags, *value)->check(few)->excludes(app.get_option(own));
}

rt::Result<OpWords> inOurWords(const OpWords &words) {
  OpWords ours = words;
  COLL_RETURN_IF_ERROR(nameType(ours));
  COLL_RETURN_IF_ERROR(nameTiming(ours));
  countRanks(ours);
  ours.noCheck |= words.ncclTests.checks == 0;
  return ours;
}

} // namespace coll::perf
