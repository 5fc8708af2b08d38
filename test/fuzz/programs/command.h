// command.h - `coll-fuzz programs`: random steps, on ranks beside one device.

#ifndef COLL_TEST_FUZZ_PROGRAMS_COMMAND_H
#define COLL_TEST_FUZZ_PROGRAMS_COMMAND_H

#include "test/fuzz/campaign.h"

namespace coll::fuzz {

int runPrograms(const CampaignOptions &options);

// Prints the text of the cases.
void printPrograms(const CampaignOptions &options);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_PROGRAMS_COMMAND_H
