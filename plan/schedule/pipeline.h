// pipeline.h - a step as a pipeline: its schedule, and what its chunks compute, keep and send.

#ifndef COLL_PLAN_SCHEDULE_PIPELINE_H
#define COLL_PLAN_SCHEDULE_PIPELINE_H

#include "plan/schedule/simulate.h"

#include <vector>

namespace coll::plan {

// A value that one entry makes and another one, of another rank, reads. The entries are those of
// micro-batch 0; micro-batch m's message has the tag `tag` + m.
struct PipelineTransfer {
  int fromRank = 0, toRank = 0;
  int64_t tag = 0;
  ScheduleEntry producer, receiver; // Forward or InputGradient, which is the first part of Backward
  double bytes = 0;
};

struct PipelineChunk {
  WorkTimes us;         // predicted, of one micro-batch
  double keptBytes = 0; // activations of a micro-batch, from its forward pass to its backward pass
};

struct PipelineRank {
  int64_t numOps = 0; // of one micro-batch
  double stateBytes = 0;
  double sentBytes = 0; // of one micro-batch
};

struct Pipeline {
  Schedule schedule;
  std::vector<PipelineChunk> chunks;
  std::vector<PipelineRank> ranks;
  std::vector<PipelineTransfer> transfers;

  // When the entries run by the predicted times. The schedule is free of deadlock.
  Timeline predict() const;
  double workUs(int rank) const; // of one micro-batch
};

// What a rank keeps after one of its entries: forward passes without their backward pass.
struct KeptActivations {
  int count = 0; // micro-batches times chunks
  double bytes = 0;
};

// By entry of the rank, in order.
std::vector<KeptActivations> keptAfterEntries(const Pipeline &pipeline, int rank);
KeptActivations peakKept(const Pipeline &pipeline, int rank); // each figure at its most

// The entries of each rank as the lines of a table file (parseSchedule).
std::string toTable(const Schedule &schedule);

} // namespace coll::plan

#endif // COLL_PLAN_SCHEDULE_PIPELINE_H
