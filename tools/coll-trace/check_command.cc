#include "tools/coll-trace/commands.h"
#include "tools/coll-trace/slices.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <map>

namespace coll::trace {

namespace {

// Collects the slices of each track and counts those that overlap without one being inside the
// other. The file need not be in the order of time.
class Nesting {
public:
  void add(const Slice &slice) {
    if (!slice.isInstant)
      tracks_[slice.track].push_back({slice.startNs, slice.endNs});
  }
  uint64_t overlaps() {
    uint64_t count = 0;
    for (auto &[track, slices] : tracks_) {
      std::sort(slices.begin(), slices.end(), [](const auto &a, const auto &b) {
        return a.first != b.first ? a.first < b.first : a.second > b.second;
      });
      std::vector<uint64_t> ends;
      for (auto [start, end] : slices) {
        while (!ends.empty() && ends.back() <= start)
          ends.pop_back();
        count += !ends.empty() && end > ends.back();
        ends.push_back(end);
      }
    }
    return count;
  }

private:
  std::map<uint64_t, std::vector<std::pair<uint64_t, uint64_t>>> tracks_;
};

// Returns true if the file is complete.
bool check(const std::string &path) {
  FileFacts facts;
  Nesting nesting;
  uint64_t flagged = 0;
  std::map<std::string, uint64_t> flags;
  rt::Status status = readSlices(
      path, kAllLevels,
      [&](const Slice &slice) {
        nesting.add(slice);
        if (const std::string &flag = slice.text(Key::Flag); !flag.empty() && ++flagged)
          ++flags[flag];
      },
      facts);
  if (!status.ok()) {
    fail(1, status.message());
    return false;
  }
  facts.overlapping = nesting.overlaps();
  std::printf("%s: %" PRIu64 " packets, %zu tracks, %" PRIu64 " slices, %" PRIu64 " instants\n",
              path.c_str(), facts.packets, facts.tracks.size(), facts.slices, facts.instants);
  const std::pair<uint64_t, const char *> kFindings[] = {
      {facts.endsWithoutBegin, "ends have no begin"},
      {facts.unfinished, "slices have no end"},
      {facts.negative, "slices end before they begin"},
      {facts.overlapping, "slices overlap another one of their track"},
      {facts.unknownTracks, "slices are on a track that is not described"},
      {facts.dropped, "events were lost while tracing"},
      {facts.truncated, "packet is cut off at the end"}};
  bool isWhole = true;
  for (auto [count, text] : kFindings)
    if (count) {
      std::printf("  %" PRIu64 " %s\n", count, text);
      isWhole = false;
    }
  for (const auto &[flag, count] : flags)
    std::printf("  %" PRIu64 " flagged: %s\n", count, flag.c_str());
  return isWhole;
}

} // namespace

int checkCommand(const Arguments &arguments) {
  if (rt::Status status = checkFiles(arguments); !status.ok())
    return fail(2, status.message());
  bool isWhole = true;
  for (const std::string &path : arguments)
    isWhole &= check(path);
  return isWhole ? 0 : 1;
}

} // namespace coll::trace
