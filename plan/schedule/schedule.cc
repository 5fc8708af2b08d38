#include "plan/schedule/schedule.h"

#include "plan/schedule/orders.h"

#include <charconv>

namespace coll::plan {

namespace {

constexpr int kMaxRanks = 1024;
constexpr int kMaxMicroBatches = 1 << 16;
constexpr int kMaxChunksPerRank = 64;

using MakeOrder = std::vector<ScheduleEntry> (*)(const OrderShape &);

struct Known {
  std::string_view name;
  MakeOrder make;
  int chunksPerRank;
  bool isVShaped; // the second half of the chunks comes back over the ranks
};

constexpr Known kKnown[] = {
    {"gpipe", gpipeOrder, 1, false},
    {"1f1b", oneForwardOneBackwardOrder, 1, false},
    {"interleaved", interleavedOrder, 2, false},
    {"zb-h1", zeroBubbleH1Order, 1, false},
    {"zb-h2", zeroBubbleH2Order, 1, false},
    {"zbv", zeroBubbleVOrder, 2, true},
    {"dualpipev", dualPipeVOrder, 2, true},
};

const Known *findKnown(std::string_view name) {
  for (const Known &known : kKnown)
    if (known.name == name)
      return &known;
  return nullptr;
}

std::vector<int> placeChunks(int numRanks, int chunksPerRank, bool isVShaped) {
  std::vector<int> rankOfChunk;
  for (int chunk = 0; chunk < numRanks * chunksPerRank; ++chunk)
    rankOfChunk.push_back(isVShaped && chunk >= numRanks ? 2 * numRanks - 1 - chunk
                                                         : chunk % numRanks);
  return rankOfChunk;
}

} // namespace

std::string toString(const ScheduleEntry &entry) {
  constexpr char kLetters[] = {'F', 'B', 'I', 'W'};
  return kLetters[static_cast<int>(entry.work)] + std::to_string(entry.chunk) + "." +
         std::to_string(entry.microBatch);
}

std::string scheduleNames() {
  std::string names;
  for (const Known &known : kKnown)
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  return names;
}

bool isTableFile(std::string_view schedule) {
  constexpr std::string_view kEnding = ".txt";
  return schedule.find('/') != std::string_view::npos ||
         (schedule.size() >= kEnding.size() &&
          schedule.substr(schedule.size() - kEnding.size()) == kEnding);
}

Result<Schedule> makeSchedule(std::string_view text, int numRanks, int numMicroBatches) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const Known *known = findKnown(name);
  if (!known)
    return Error{"schedule '" + std::string(name) + "' is unknown; use " + scheduleNames() +
                 ", or a table file"};
  int chunksPerRank = known->chunksPerRank;
  if (colon != std::string_view::npos) {
    const std::string_view number = text.substr(colon + 1);
    const auto [end, code] =
        std::from_chars(number.data(), number.data() + number.size(), chunksPerRank);
    if (name != "interleaved" || code != std::errc() || end != number.data() + number.size() ||
        chunksPerRank < 1 || chunksPerRank > kMaxChunksPerRank)
      return Error{"schedule '" + std::string(text) + "': only interleaved takes a number of " +
                   "chunks, from 1 to " + std::to_string(kMaxChunksPerRank) +
                   ", as in interleaved:2"};
  }
  if (numRanks < 1 || numRanks > kMaxRanks)
    return Error{"a pipeline has from 1 to " + std::to_string(kMaxRanks) + " stages, not " +
                 std::to_string(numRanks)};
  if (numMicroBatches < 1 || numMicroBatches > kMaxMicroBatches)
    return Error{"a batch is cut into 1 to " + std::to_string(kMaxMicroBatches) +
                 " micro-batches, not " + std::to_string(numMicroBatches)};
  if (name == "dualpipev" && numMicroBatches < 2 * numRanks)
    return Error{"dualpipev on " + std::to_string(numRanks) + " stages needs at least " +
                 std::to_string(2 * numRanks) + " micro-batches, not " +
                 std::to_string(numMicroBatches) + "; zbv takes any number"};
  Schedule schedule;
  schedule.name = text;
  schedule.numChunks = numRanks * chunksPerRank;
  schedule.numMicroBatches = numMicroBatches;
  schedule.rankOfChunk = placeChunks(numRanks, chunksPerRank, known->isVShaped);
  for (int rank = 0; rank < numRanks; ++rank)
    schedule.ranks.push_back(known->make({numRanks, rank, chunksPerRank, numMicroBatches}));
  return schedule;
}

} // namespace coll::plan
