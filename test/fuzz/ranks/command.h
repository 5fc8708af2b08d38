// command.h - `coll-fuzz ranks`: mutants of pipeline programs, proved and tried out.

#ifndef COLL_TEST_FUZZ_RANKS_COMMAND_H
#define COLL_TEST_FUZZ_RANKS_COMMAND_H

#include "test/fuzz/campaign.h"

namespace coll::fuzz {

// The proof of rank programs accepts a mutant if and only if no order of its steps hangs,
// mismatches or touches a buffer in flight.
int runRanks(const CampaignOptions &options);

// Prints the text of the cases.
void printRanks(const CampaignOptions &options);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_RANKS_COMMAND_H
