#include "tools/coll-trace/align.h"

#include "tools/coll-trace/files.h"

#include <algorithm>
#include <map>

namespace coll::trace {

using namespace profiler::perfetto;

namespace {

int64_t median(std::vector<int64_t> values) {
  auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// CLOCK_REALTIME minus the slices' clock, of the first snapshot that has both. In traces of coll it
// stands at the beginning of the file, so few packets are read.
rt::Result<std::optional<int64_t>> realtimeOffset(const std::string &path) {
  rt::Result<Reader> reader = Reader::open(path);
  if (!reader.ok())
    return reader.status();
  Item item;
  for (int packets = 0; packets < 10'000; ++packets) {
    rt::Result<bool> more = reader->next(item);
    if (!more.ok())
      return more.status();
    if (!*more)
      break;
    uint64_t realtime = 0, monotonic = 0;
    for (auto [clock, ns] : item.clocks) {
      realtime = clock == kClockRealtime ? ns : realtime;
      monotonic = clock == kClockMonotonic ? ns : monotonic;
    }
    if (realtime && monotonic)
      return std::optional<int64_t>(static_cast<int64_t>(realtime - monotonic));
  }
  return std::optional<int64_t>();
}

// Takes the end of a collective that all ranks leave together as the same moment for each of them.
rt::Status byCollectives(const std::vector<std::string> &paths, Alignment &alignment) {
  std::map<std::pair<uint64_t, uint64_t>, std::vector<std::pair<size_t, int64_t>>> ends;
  for (size_t file = 0; file < paths.size(); ++file) {
    FileFacts facts;
    auto take = [&](const Slice &slice) {
      if (slice.isInstant || slice.name != "AllReduce" || slice.text(Key::Completion) == "enqueued")
        return;
      ends[{static_cast<uint64_t>(slice.number(Key::Comm)),
            static_cast<uint64_t>(slice.number(Key::Seq))}]
          .emplace_back(file, static_cast<int64_t>(slice.endNs));
    };
    COLL_RETURN_IF_ERROR(readSlices(paths[file], levelBit(Level::Coll), take, facts));
  }
  // Compares with the first file, by all collectives that a file has in common with it.
  std::vector<std::vector<int64_t>> differences(paths.size());
  for (const auto &[key, list] : ends)
    if (list.front().first == 0)
      for (auto [file, ns] : list)
        differences[file].push_back(list.front().second - ns);
  std::vector<int64_t> errors;
  for (size_t file = 0; file < paths.size(); ++file) {
    if (differences[file].empty()) {
      alignment.notes.push_back("\"" + paths[file] + "\" has no all-reduce in common with \"" +
                                paths[0] + "\": it is aligned by the hosts' clocks");
      continue;
    }
    const int64_t offset = median(differences[file]);
    alignment.offsetsNs[file] = alignment.offsetsNs[0] + offset;
    for (int64_t difference : differences[file])
      if (file > 0)
        errors.push_back(std::abs(difference - offset));
  }
  if (!errors.empty())
    alignment.errorNs = static_cast<uint64_t>(median(errors));
  return rt::Status::okay();
}

} // namespace

rt::Result<Alignment> findAlignment(const std::vector<std::string> &paths, Align align) {
  Alignment alignment;
  alignment.offsetsNs.assign(paths.size(), 0);
  if (align == Align::None)
    return alignment;
  std::vector<rt::Result<std::optional<int64_t>>> offsets(paths.size(), std::optional<int64_t>());
  forEachFile(paths.size(), threadsFor(paths.size()),
              [&](size_t file, size_t) { offsets[file] = realtimeOffset(paths[file]); });
  std::optional<int64_t> first;
  for (size_t file = 0; file < paths.size(); ++file) {
    const rt::Result<std::optional<int64_t>> &offset = offsets[file];
    if (!offset.ok())
      return offset.status();
    if (!*offset) {
      alignment.notes.push_back("\"" + paths[file] +
                                "\" has no snapshot of its host's clock; its times are not moved");
      continue;
    }
    first = first ? first : *offset;
    // Relative to the first file, so that numbers stay small.
    alignment.offsetsNs[file] = **offset - *first;
  }
  if (align == Align::Collectives && !paths.empty())
    COLL_RETURN_IF_ERROR(byCollectives(paths, alignment));
  return alignment;
}

} // namespace coll::trace
