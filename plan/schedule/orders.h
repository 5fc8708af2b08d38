// orders.h - the order of one rank's entries, for each schedule that has a name.

#ifndef COLL_PLAN_SCHEDULE_ORDERS_H
#define COLL_PLAN_SCHEDULE_ORDERS_H

#include "plan/schedule/schedule.h"

#include <vector>

namespace coll::plan {

struct OrderShape {
  int numRanks;
  int rank;
  int chunksPerRank;
  int numMicroBatches;
};

std::vector<ScheduleEntry> gpipeOrder(const OrderShape &shape);
std::vector<ScheduleEntry> oneForwardOneBackwardOrder(const OrderShape &shape);
// Micro-batches go through a rank's chunks in groups of one per rank; the last group takes what is
// left over.
std::vector<ScheduleEntry> interleavedOrder(const OrderShape &shape);
std::vector<ScheduleEntry> zeroBubbleH1Order(const OrderShape &shape);
std::vector<ScheduleEntry> zeroBubbleH2Order(const OrderShape &shape);
std::vector<ScheduleEntry> zeroBubbleVOrder(const OrderShape &shape);
// Needs two micro-batches a rank.
std::vector<ScheduleEntry> dualPipeVOrder(const OrderShape &shape);

} // namespace coll::plan

#endif // COLL_PLAN_SCHEDULE_ORDERS_H
