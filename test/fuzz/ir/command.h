// command.h - `coll-fuzz ir`: mutated IR through everything that reads IR.

#ifndef COLL_TEST_FUZZ_IR_COMMAND_H
#define COLL_TEST_FUZZ_IR_COMMAND_H

#include "test/fuzz/campaign.h"

namespace coll::fuzz {

// Mutations start from the `.mlir` files under `corpus`.
int runIr(const CampaignOptions &options, const std::vector<std::string> &corpus);

// The `.mlir` files of `paths` (folders or files) as they are, each as a case: what was found
// once stays fixed. Returns the number of findings, or 1 after an error.
int replayIr(const CampaignOptions &options, const std::vector<std::string> &paths);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_IR_COMMAND_H
