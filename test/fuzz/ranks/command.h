// command.h - `coll-fuzz ranks`: mutants of pipeline programs, proved and tried out.

#ifndef COLL_TEST_FUZZ_RANKS_COMMAND_H
#define COLL_TEST_FUZZ_RANKS_COMMAND_H

#include "test/fuzz/campaign.h"

#include <string>
#include <vector>

namespace coll::fuzz {

// The proof of rank programs accepts a mutant if and only if no order of its steps hangs
// or mismatches.
int runRanks(const CampaignOptions &options);

// The same for mutants of compiled pipelines: files of rank programs, as `coll-run --dump-stages`
// writes them.
int runPipelines(const CampaignOptions &options, const std::vector<std::string> &files);

// Prints the text of the cases.
void printRanks(const CampaignOptions &options);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_RANKS_COMMAND_H
