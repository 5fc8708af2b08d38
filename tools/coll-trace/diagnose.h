// diagnose.h - finds which rank was late first, why, and what the others waited for.

#ifndef COLL_TOOLS_COLL_TRACE_DIAGNOSE_H
#define COLL_TOOLS_COLL_TRACE_DIAGNOSE_H

#include "tools/coll-trace/run.h"

#include <optional>

namespace coll::trace {

enum class Fault {
  Compute,  // the rank computed longer than the others before the collective
  Host,     // its host made the call late, or its process stood still
  Gpu,      // its GPU began late, or was slow within the collective
  Network,  // a link from it took long
  Stopped,  // it never came to the collective
  Mismatch, // it called something else
};
const char *faultName(Fault fault);

struct Verdict {
  Fault fault = Fault::Host;
  int32_t rank = 0, peer = -1; // peer: the other end of a link
  uint64_t comm = 0, seq = 0;
  std::string what, place;
  uint64_t lateNs = 0;   // of the rank, or of the link, beyond the others
  uint64_t usualNs = 0;  // of the others
  uint64_t waitedNs = 0; // by the other ranks together, in this collective
  uint64_t times = 0;    // collectives in which it was so
  std::string evidence;
};

// Returns nothing if no rank stands out. Clocks of different ranks are not compared. Instead, a
// collective ends on all ranks at about the same time, and what counts is how long each rank took
// from there until it was ready for the next one, and how long the last rank to be ready then spent
// in the collective.
//
// A rank stands out if its greatest excess over the median of the ranks is more than three times
// that of the median rank, more than a tenth of the usual time between collectives, and more than
// 20 us. With several faults the first one counts.
std::optional<Verdict> diagnose(const Run &run);

// Formats the verdict as several lines for people.
std::string describe(const Verdict &verdict);

} // namespace coll::trace

#endif // COLL_TOOLS_COLL_TRACE_DIAGNOSE_H
