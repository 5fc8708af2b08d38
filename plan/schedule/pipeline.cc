#include "plan/schedule/pipeline.h"

#include "plan/schedule/hand_on.h"

#include <algorithm>

namespace coll::plan {

Timeline Pipeline::predict() const {
  std::vector<WorkTimes> times;
  for (const PipelineChunk &chunk : chunks)
    times.push_back(chunk.us);
  return *simulateCompiled(schedule, times);
}

double Pipeline::workUs(int rank) const {
  double us = 0;
  for (size_t chunk = 0; chunk < chunks.size(); ++chunk)
    if (schedule.rankOfChunk[chunk] == rank)
      us += chunks[chunk].us.of(StageWork::Forward) + chunks[chunk].us.of(StageWork::Backward);
  return us;
}

std::vector<KeptActivations> keptAfterEntries(const Pipeline &pipeline, int rank) {
  std::vector<KeptActivations> kept;
  KeptActivations now;
  for (const ScheduleEntry &entry : pipeline.schedule.ranks[static_cast<size_t>(rank)]) {
    const int change = entry.work == StageWork::Forward         ? 1
                       : entry.work == StageWork::InputGradient ? 0
                                                                : -1;
    now.count += change;
    now.bytes += change * pipeline.chunks[static_cast<size_t>(entry.chunk)].keptBytes;
    kept.push_back(now);
  }
  return kept;
}

KeptActivations peakKept(const Pipeline &pipeline, int rank) {
  KeptActivations peak;
  for (const KeptActivations &kept : keptAfterEntries(pipeline, rank)) {
    peak.count = std::max(peak.count, kept.count);
    peak.bytes = std::max(peak.bytes, kept.bytes);
  }
  return peak;
}

std::string toTable(const Schedule &schedule) {
  std::string table;
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    table += "rank " + std::to_string(rank) + ":";
    for (const ScheduleEntry &entry : schedule.ranks[rank])
      table += " " + toString(entry);
    table += "\n";
  }
  return table;
}

} // namespace coll::plan
