#include "plan/schedule/simulate.h"

#include "plan/schedule/hand_on.h"
#include "plan/schedule/progress.h"

#include <algorithm>
#include <cmath>

namespace coll::plan {

double WorkTimes::of(StageWork work) const {
  switch (work) {
  case StageWork::Forward:
    return forward;
  case StageWork::Backward:
    return inputGradient + weightGradient;
  case StageWork::InputGradient:
    return inputGradient;
  case StageWork::WeightGradient:
    return weightGradient;
  }
  return 0;
}

double Timeline::largestBubble() const { return *std::max_element(bubble.begin(), bubble.end()); }

double Timeline::idleFraction() const {
  double busy = 0;
  for (const std::vector<ScheduleSpan> &spans : ranks)
    for (const ScheduleSpan &span : spans)
      busy += span.end - span.begin;
  const double all = makespan * static_cast<double>(ranks.size());
  return all > 0 ? 1 - busy / all : 0;
}

namespace {

double idleWithin(const std::vector<ScheduleSpan> &spans) {
  double idle = 0;
  for (size_t i = 1; i < spans.size(); ++i)
    idle += spans[i].begin - spans[i - 1].end;
  return idle;
}

int peakOf(const std::vector<ScheduleEntry> &entries) {
  int kept = 0, peak = 0;
  for (const ScheduleEntry &entry : entries) {
    kept += entry.work == StageWork::Forward;
    peak = std::max(peak, kept);
    kept -= entry.work == StageWork::Backward || entry.work == StageWork::WeightGradient;
  }
  return peak;
}

std::optional<Timeline> run(const Schedule &schedule, const std::vector<WorkTimes> &times,
                            bool handsOnEarly) {
  Timeline timeline;
  timeline.ranks.resize(schedule.ranks.size());
  ScheduleProgress progress(schedule);
  const bool isComplete = progress.run([&](int rank, const ScheduleEntry &entry, double ready) {
    std::vector<ScheduleSpan> &spans = timeline.ranks[rank];
    const WorkTimes &own = times.size() == 1 ? times[0] : times[entry.chunk];
    const double begin = std::max(ready, spans.empty() ? 0 : spans.back().end);
    const double end = begin + own.of(entry.work);
    const bool isEarly = handsOnEarly && entry.work == StageWork::Backward;
    const TimeRange when{begin, end, isEarly ? begin + own.inputGradient : end};
    spans.push_back({entry, when.begin, when.end});
    timeline.makespan = std::max(timeline.makespan, when.end);
    return when;
  });
  if (!isComplete)
    return std::nullopt;
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    timeline.bubble.push_back(idleWithin(timeline.ranks[rank]));
    timeline.peakActivations.push_back(peakOf(schedule.ranks[rank]));
  }
  return timeline;
}

} // namespace

std::optional<Timeline> simulate(const Schedule &schedule, const std::vector<WorkTimes> &times) {
  return run(schedule, times, /*handsOnEarly=*/false);
}

std::optional<Timeline> simulateCompiled(const Schedule &schedule,
                                         const std::vector<WorkTimes> &times) {
  return run(schedule, times, /*handsOnEarly=*/true);
}

int neededInFlight(Schedule schedule) {
  schedule.maxInFlight = 0;
  const double whole = simulate(schedule, {{}})->makespan;
  const double early = simulateCompiled(schedule, {{}})->makespan;
  auto isEnough = [](const std::optional<Timeline> &bounded, double makespan) {
    return bounded && bounded->makespan <= makespan;
  };
  for (int bound = 1; bound < schedule.numMicroBatches; ++bound) {
    schedule.maxInFlight = bound;
    if (isEnough(simulate(schedule, {{}}), whole) &&
        isEnough(simulateCompiled(schedule, {{}}), early))
      return bound;
  }
  return schedule.numMicroBatches;
}

std::optional<double> publishedBubble(const Schedule &schedule, const WorkTimes &times) {
  const double others = schedule.numRanks() - 1;
  const double f = times.forward, i = times.inputGradient, w = times.weightGradient;
  const std::string name = schedule.name.substr(0, schedule.name.find(':'));
  if (name == "gpipe" || name == "1f1b")
    return others * (f + i + w);
  if (name == "interleaved" && schedule.numMicroBatches % schedule.numRanks() == 0)
    return others * (f + i + w);
  if (name == "zb-h1")
    return others * (f + i - w);
  if (name == "zb-h2" && f == i && i == w)
    return 0;
  if (name == "zbv" && f == i && i == w)
    return 0;
  return std::nullopt;
}

std::optional<int> publishedPeak(const Schedule &schedule) {
  const int ranks = schedule.numRanks(), chunks = schedule.numChunks / ranks;
  const std::string name = schedule.name.substr(0, schedule.name.find(':'));
  if (name == "gpipe")
    return schedule.numMicroBatches;
  if (name == "1f1b" || name == "zb-h1")
    return ranks;
  if (name == "interleaved" && schedule.numMicroBatches % ranks == 0)
    return 2 * (ranks - 1) + (chunks - 1) * ranks + 1;
  if (name == "zb-h2")
    return 2 * ranks - 1;
  if (name == "zbv")
    return 2 * ranks;
  if (name == "dualpipev")
    return 2 * ranks + 1;
  return std::nullopt;
}

std::string drawTimeline(const Schedule &schedule, const Timeline &timeline, double unit,
                         size_t maxColumns) {
  auto label = [&](const ScheduleEntry &entry) {
    std::string text = toString(entry).substr(0, 1) + std::to_string(entry.microBatch);
    for (int chunk = 0; chunk < entry.chunk; ++chunk)
      if (schedule.rankOfChunk[chunk] == schedule.rankOfChunk[entry.chunk])
        text += '\'';
    return text;
  };
  size_t cell = 1;
  for (const std::vector<ScheduleSpan> &spans : timeline.ranks)
    for (const ScheduleSpan &span : spans)
      cell = std::max(cell, label(span.entry).size() + 1);
  auto column = [&](double time) { return static_cast<size_t>(std::llround(time / unit)) * cell; };
  const std::string head = "stage ";
  const size_t margin = head.size() + std::to_string(timeline.ranks.size() - 1).size() + 2;
  if (margin + column(timeline.makespan) > maxColumns)
    return "";
  std::string picture;
  for (size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
    std::string line = head + std::to_string(rank);
    line.resize(margin, ' ');
    for (const ScheduleSpan &span : timeline.ranks[rank]) {
      line.resize(margin + column(span.begin), ' ');
      line += label(span.entry);
      // The rest of a longer entry, up to the gap before the next one.
      const size_t end = margin + column(span.end);
      if (line.size() + 1 < end)
        line.resize(end - 1, '-');
    }
    picture += line + '\n';
  }
  return picture;
}

} // namespace coll::plan
