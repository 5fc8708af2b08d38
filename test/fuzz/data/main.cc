// data-fuzz: bytes of files and of command lines, changed at random, under AddressSanitizer and
// UBSan.
//
//   data-fuzz [SEED [COUNT [MINUTES [FOLDER]]]]
//
// COUNT cases (default 1000; 0: as many as MINUTES allow) of each kind. Findings are written
// to FOLDER. The status is 1 where there are any.

#include "test/fuzz/campaign.h"
#include "test/fuzz/data/bytes.h"
#include "test/fuzz/data/inputs.h"

#include <cstdlib>

using namespace coll::fuzz;

// Read by the sanitizers when the process starts. What aborts is reported like any crash.
extern "C" const char *__asan_default_options() {
  return "abort_on_error=1:handle_segv=0:handle_abort=0:handle_sigfpe=0:handle_sigill=0:"
         "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=4096";
}
extern "C" const char *__ubsan_default_options() { return "abort_on_error=1:handle_segv=0"; }

namespace {

std::string makeBytes(const InputKind &kind, uint64_t seed, int64_t index) {
  Random random(seed, uint64_t(index));
  const std::string &bytes = random.pick(kind.examples);
  return mutateBytes(bytes, random.pick(kind.examples), random);
}

int runKind(const InputKind &kind, CampaignOptions options) {
  options.name = kind.name;
  options.suffix = kind.suffix;
  CampaignFunctions functions;
  functions.run = [&](int64_t index) { return kind.check(makeBytes(kind, options.seed, index)); };
  functions.minimize = [&](int64_t index, const Report &) {
    return makeBytes(kind, options.seed, index);
  };
  return runCampaign(options, functions);
}

} // namespace

int main(int argc, char **argv) {
  CampaignOptions options;
  options.guard.casesPerChild = 2000;
  options.guard.maxBytes = 0; // AddressSanitizer reserves terabytes
  if (argc > 1)
    options.seed = std::strtoull(argv[1], nullptr, 10);
  if (argc > 2)
    options.count = std::strtoll(argv[2], nullptr, 10);
  std::vector<InputKind> kinds = makeInputKinds();
  if (argc > 3)
    options.minutes = std::strtod(argv[3], nullptr) / double(kinds.size());
  if (argc > 4)
    options.findings = argv[4];
  int found = 0;
  for (const InputKind &kind : kinds)
    found += runKind(kind, options);
  return found ? 1 : 0;
}
