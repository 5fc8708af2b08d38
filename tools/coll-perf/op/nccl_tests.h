// nccl_tests.h - the command line of nccl-tests, as far as it means the same as ours.

#ifndef COLL_TOOLS_COLL_PERF_OP_NCCL_TESTS_H
#define COLL_TOOLS_COLL_PERF_OP_NCCL_TESTS_H

#include "runtime/base/status.h"

#include <string>

namespace CLI {
class App;
}

namespace coll::perf {

struct OpWords;

// Options with other words here: -1 if not given.
struct NcclTestsWords {
  int threads = -1, gpus = -1, checks = -1, graphs = -1, blocking = -1;
};

// Added to our own options, which exist already; not in the help. README.md of the folder above
// lists all of them.
void addNcclTestsOptions(CLI::App &app, OpWords &words);

// Converts options to ours. kCollInvalidCall if there is no equivalent.
rt::Result<OpWords> inOurWords(const OpWords &words);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_OP_NCCL_TESTS_H
