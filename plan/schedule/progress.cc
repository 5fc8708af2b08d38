#include "plan/schedule/progress.h"

#include <algorithm>

namespace coll::plan {

namespace {

constexpr int kForwardPass = 0, kBackwardPass = 1, kWeightPass = 2;

} // namespace

ScheduleProgress::ScheduleProgress(const Schedule &schedule)
    : schedule_(schedule), next_(schedule.ranks.size()) {
  for (const std::vector<ScheduleEntry> &rank : schedule.ranks)
    for (const ScheduleEntry &entry : rank) {
      const Key key = keyOf(entry);
      entries_[key] = entry;
      batches_[{std::get<0>(key), entry.chunk}].push_back(entry.microBatch);
      ++numLeft_;
    }
}

ScheduleProgress::Key ScheduleProgress::keyOf(const ScheduleEntry &entry) {
  const int pass = entry.work == StageWork::Forward          ? kForwardPass
                   : entry.work == StageWork::WeightGradient ? kWeightPass
                                                             : kBackwardPass;
  return {pass, entry.chunk, entry.microBatch};
}

const ScheduleEntry *ScheduleProgress::nextOf(int rank) const {
  const std::vector<ScheduleEntry> &entries = schedule_.ranks[rank];
  return next_[rank] < entries.size() ? &entries[next_[rank]] : nullptr;
}

std::vector<ScheduleProgress::Key> ScheduleProgress::needsOf(const ScheduleEntry &entry) const {
  const auto [pass, chunk, batch] = keyOf(entry);
  std::vector<Key> needs;
  if (pass == kForwardPass && chunk > 0)
    needs.push_back({kForwardPass, chunk - 1, batch});
  if (pass == kBackwardPass) {
    needs.push_back({kForwardPass, chunk, batch});
    if (chunk + 1 < schedule_.numChunks)
      needs.push_back({kBackwardPass, chunk + 1, batch});
  }
  if (pass == kWeightPass)
    needs.push_back({kBackwardPass, chunk, batch});
  return needs;
}

std::optional<ScheduleProgress::Key>
ScheduleProgress::makesRoomFor(const ScheduleEntry &entry) const {
  const auto [pass, chunk, batch] = keyOf(entry);
  const int receiver = pass == kForwardPass ? chunk + 1 : chunk - 1;
  if (schedule_.maxInFlight == 0 || pass == kWeightPass || receiver < 0 ||
      receiver >= schedule_.numChunks ||
      schedule_.rankOfChunk[receiver] == schedule_.rankOfChunk[chunk])
    return std::nullopt;
  const std::vector<int> &batches = batches_.at({pass, chunk});
  const auto place = std::find(batches.begin(), batches.end(), batch) - batches.begin();
  if (place < schedule_.maxInFlight)
    return std::nullopt;
  return Key{pass, receiver, batches[place - schedule_.maxInFlight]};
}

std::optional<double> ScheduleProgress::readyAt(const ScheduleEntry &entry) const {
  double ready = 0;
  for (const Key &need : needsOf(entry)) {
    auto found = done_.find(need);
    if (found == done_.end())
      return std::nullopt;
    ready = std::max(ready, found->second.made);
  }
  if (const std::optional<Key> room = makesRoomFor(entry)) {
    auto found = done_.find(*room);
    if (found == done_.end())
      return std::nullopt;
    ready = std::max(ready, found->second.begin);
  }
  return ready;
}

std::optional<ScheduleEntry> ScheduleProgress::blockerOf(const ScheduleEntry &entry) const {
  std::vector<Key> needs = needsOf(entry);
  if (const std::optional<Key> room = makesRoomFor(entry))
    needs.push_back(*room);
  for (const Key &need : needs)
    if (!done_.count(need))
      return entries_.at(need);
  return std::nullopt;
}

void ScheduleProgress::finish(int rank, const ScheduleEntry &entry, TimeRange when) {
  done_[keyOf(entry)] = when;
  ++next_[rank];
  --numLeft_;
}

} // namespace coll::plan
