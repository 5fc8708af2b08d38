// check_records.h - checks that must hold for everything that a host reports to a profiler plugin.

#ifndef COLL_TEST_PROFILER_HOST_CHECK_RECORDS_H
#define COLL_TEST_PROFILER_HOST_CHECK_RECORDS_H

#include "test/profiler/host/recording.h"

namespace coll::profiler::test {

struct Rules {
  int version;   // of the plugin's ABI
  uint64_t mask; // closed upwards
  // The host is ours and complete: every event's parent outlives it, and all contexts are
  // finalized.
  bool isComplete = true;
};

// Returns what is wrong, one sentence each; at most ten.
std::vector<std::string> problemsOf(const std::vector<Record> &records, const Rules &rules);

// Returns how many events of the type have started.
int countStarts(const std::vector<Record> &records, uint64_t type);

} // namespace coll::profiler::test

#endif // COLL_TEST_PROFILER_HOST_CHECK_RECORDS_H
