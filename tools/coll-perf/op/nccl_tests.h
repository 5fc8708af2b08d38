// nccl_tests.h - the command line of nccl-tests, where it means what ours does.

#ifndef COLL_TOOLS_COLL_PERF_OP_NCCL_TESTS_H
#define COLL_TOOLS_COLL_PERF_OP_NCCL_TESTS_H

#include "runtime/base/status.h"

#include <string>

namespace CLI {
class App;
}

namespace coll::perf {

struct OpWords;

// What has other words here: -1 where it was not given.
struct NcclTestsWords {
  int threads = -1, gpus = -1, checks = -1, graphs = -1, blocking = -1;
};

// Beside our own options, which exist already; not in the help. README.md of the folder above has
// them all.
void addNcclTestsOptions(CLI::App &app, OpWords &words);

// The same in our words, and those as they are. kCollInvalidCall where they have none.
rt::Result<OpWords> inOurWords(const OpWords &words);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_OP_NCCL_TESTS_H
