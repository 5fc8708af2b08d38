//===- waits.h - what the ranks waited for in the last step -------------*- C++ -*-===//
//
// A collective ends for its members at about the same time. The member that is in it for the
// shortest time came last: that is how long the collective itself takes, and what the others are in
// it for longer, they wait for that member. No clocks of different ranks are compared.
//
// The time for which a rank's program stands still is exposed; the time for which an operation is
// in flight while the program goes on is hidden.
//
//===------------------------------------------------------------------------===//

#ifndef COLL_DRIVER_REPORT_WAITS_H
#define COLL_DRIVER_REPORT_WAITS_H

#include "driver/report/analysis.h"

#include <map>

namespace coll::run {

/// Nanoseconds of all members together. waitNs + moveNs is what is exposed.
struct WaitTimes {
  double waitNs = 0; // exposed, for the member that came last, or for the other side of a transfer
  double moveNs = 0; // exposed, while all members were in it
  double hiddenNs = 0;

  double exposedNs() const { return waitNs + moveNs; }
  void add(const WaitTimes &other);
};

struct OperationWaits {
  size_t row = 0; // of Analysis::rows
  int64_t calls = 0;
  WaitTimes times;
  std::map<int, double> waitNsFor; // by the rank that was waited for
};

struct StepWaits {
  WaitTimes times;
  std::map<int, double> waitNsFor;
  std::vector<OperationWaits> operations; // the most exposed first
};

/// Takes the operations that have ended in the last step.
StepWaits findWaits(const Analysis &analysis);

} // namespace coll::run

#endif // COLL_DRIVER_REPORT_WAITS_H
