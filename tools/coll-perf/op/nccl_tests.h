// nccl_tests.h - the options of nccl-tests that have an equivalent in coll-perf.

#ifndef COLL_TOOLS_COLL_PERF_OP_NCCL_TESTS_H
#define COLL_TOOLS_COLL_PERF_OP_NCCL_TESTS_H

#include "runtime/base/status.h"

#include <string>

namespace CLI {
class App;
}

namespace coll::perf {

struct OpWords;

// Options whose names differ here; -1 if not given.
struct NcclTestsWords {
  int threads = -1, gpus = -1, checks = -1, graphs = -1, blocking = -1;
};

// Adds them to our own options, which must exist already. They are not in the help;
// tools/coll-perf/README.md lists all of them.
void addNcclTestsOptions(CLI::App &app, OpWords &words);

// Converts the options to ours. kCollInvalidCall if an option has no equivalent.
rt::Result<OpWords> inOurWords(const OpWords &words);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_OP_NCCL_TESTS_H
