// data-fuzz: bytes of files and of command lines, changed at random, under AddressSanitizer and
// UBSan.
//
//   data-fuzz [SEED [COUNT [MINUTES [FOLDER [KIND [FILE…]]]]]]
//
// COUNT cases (default 1000; 0: as many as MINUTES allow) of each kind, or of KIND. Findings are
// written to FOLDER, unless it is "". FILEs are more examples of traces, flight records and
// Chakra's files (traces.h). The status is 1 where anything was found.

#include "test/fuzz/campaign.h"
#include "test/fuzz/data/bytes.h"
#include "test/fuzz/data/inputs.h"
#include "test/fuzz/data/traces.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

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

// Whether the arguments are as the head of this file says.
bool readArguments(llvm::ArrayRef<const char *> arguments, CampaignOptions &options) {
  size_t count = arguments.size();
  llvm::StringRef texts[4];
  std::copy_n(arguments.begin(), std::min<size_t>(count, 4), texts);
  uint64_t cases = uint64_t(options.count);
  if ((count > 0 && texts[0].getAsInteger(10, options.seed)) ||
      (count > 1 && texts[1].getAsInteger(10, cases)) ||
      (count > 2 && texts[2].getAsDouble(options.minutes)))
    return false;
  options.count = int64_t(cases);
  options.findings = texts[3].str();
  return options.count > 0 || options.minutes > 0;
}

} // namespace

int main(int argc, char **argv) {
  CampaignOptions options;
  if (!readArguments({argv + 1, argv + argc}, options)) {
    llvm::errs() << "usage: data-fuzz [SEED [COUNT [MINUTES [FOLDER [KIND [FILE...]]]]]]\n"
                    "COUNT may be 0 where MINUTES are given.\n";
    return 2;
  }
  options.guard.casesPerChild = 2000;
  options.guard.maxBytes = 0; // AddressSanitizer reserves terabytes
  std::vector<InputKind> kinds = makeInputKinds();
  for (InputKind &kind : makeTraceKinds({argv + std::min(argc, 6), argv + argc}))
    kinds.push_back(std::move(kind));
  if (argc > 5) {
    const auto isOther = [&](const InputKind &kind) { return kind.name != argv[5]; };
    kinds.erase(std::remove_if(kinds.begin(), kinds.end(), isOther), kinds.end());
  }
  if (kinds.empty()) {
    llvm::errs() << "data-fuzz: no kind of input is called '" << argv[5] << "'\n";
    return 2;
  }
  options.minutes /= double(kinds.size());
  int found = 0;
  for (const InputKind &kind : kinds)
    found += runKind(kind, options);
  return found ? 1 : 0;
}
