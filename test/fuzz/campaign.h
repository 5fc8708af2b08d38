// campaign.h - a run of many cases: counts them, stops in time, keeps what was found.

#ifndef COLL_TEST_FUZZ_CAMPAIGN_H
#define COLL_TEST_FUZZ_CAMPAIGN_H

#include "test/fuzz/guard.h"

#include <string>

namespace coll::fuzz {

struct CampaignOptions {
  std::string name; // of the cases, for messages and files
  uint64_t seed = 1;
  int64_t first = 0;
  int64_t count = 1000;         // cases; 0: until the time is up
  double minutes = 0;           // 0: no limit
  std::string findings;         // folder; empty: findings are only printed
  std::string suffix = ".mlir"; // of files in it
  GuardOptions guard;
};

// A smaller input with the same report, or the same one.
using Minimize = std::function<std::string(int64_t index, const Report &report)>;

struct CampaignFunctions {
  RunCase run;
  Minimize minimize;
  std::function<void(const Report &)> onReport = {}; // hears each case's report
};

// Prints one line per kind of finding and a summary. Returns the number of kinds found.
// Cases whose reports have the same signature are one kind; the first one is minimised and
// written to `findings`.
int runCampaign(const CampaignOptions &options, const CampaignFunctions &functions);

// What reports of the same mistake have in common: numbers and names are left out.
std::string signatureOf(const Report &report);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_CAMPAIGN_H
