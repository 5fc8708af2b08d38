// command.h - `coll-fuzz programs`: random steps, on ranks beside one device.

#ifndef COLL_TEST_FUZZ_PROGRAMS_COMMAND_H
#define COLL_TEST_FUZZ_PROGRAMS_COMMAND_H

#include "test/fuzz/campaign.h"

namespace coll::fuzz {

// Where and how random steps run.
struct StepOptions {
  std::string gpu;      // what the ranks run on, as "sm_90"; empty: the processor
  int64_t together = 1; // cases that one process compiles and runs at the same time
};

int runPrograms(const CampaignOptions &options, const StepOptions &steps);

// The same with shardings as JAX writes them; says how many changes of sharding send more than the
// bound.
int runShardings(const CampaignOptions &options, const StepOptions &steps);

// Prints the text of the cases.
void printPrograms(const CampaignOptions &options);
void printShardings(const CampaignOptions &options);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_PROGRAMS_COMMAND_H
