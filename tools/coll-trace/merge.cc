#include "tools/coll-trace/merge.h"

#include "runtime/profiler/perfetto/fields.h"
#include "tools/coll-trace/align.h"
#include "tools/coll-trace/files.h"
#include "tools/coll-trace/ordered_output.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <unordered_map>

namespace coll::trace {

using namespace profiler::perfetto;
namespace fields = profiler::perfetto::fields;

namespace {

constexpr size_t kMostDepth = 256;
constexpr size_t kRoom = 256; // by which a packet may grow
constexpr uint64_t kPids = 4096;

// Copies one file to the output.
class Copy {
public:
  // `files`: the number of files that are merged.
  Copy(const MergeOptions &options, uint64_t file, uint64_t files, int64_t offsetNs,
       int64_t firstNs)
      : options_(options), file_(file), files_(files), offsetNs_(offsetNs), firstNs_(firstNs) {}

  // Returns the packet as it is to be written; empty if it is left out.
  std::string_view rewrite(const Item &item) { return rewrite(item.packet, isWanted(item)); }
  std::string_view rewrite(std::string_view packet, bool wanted) {
    bool hasState = false; // names and defaults, which later packets need
    if (memory_.size() < packet.size() + kRoom)
      memory_.resize(packet.size() + kRoom);
    ProtoOut out(reinterpret_cast<uint8_t *>(memory_.data()), memory_.size());
    ProtoIn in(packet);
    for (ProtoField field; in.next(field);) {
      hasState |= field.number == fields::packet::kInternedData ||
                  field.number == fields::packet::kDefaults;
      if (wanted || field.number != fields::packet::kTrackEvent)
        copy(field, out);
    }
    isMalformed_ |= in.malformed();
    return out.overflowed() || !(wanted || hasState) ? std::string_view() : out.view();
  }
  uint64_t left() const { return left_; }
  // Returns what is wrong with the packets so far, or null.
  const char *fault() const {
    return isMalformed_        ? "a packet has a field that ends outside of it"
           : hasManySequences_ ? "more sequences than a merged trace has numbers for"
                               : nullptr;
  }

private:
  static uint64_t moved(uint64_t ns, int64_t by) {
    return by < 0 && static_cast<uint64_t>(-by) > ns ? 0 : ns + static_cast<uint64_t>(by);
  }
  // The n-th sequence of a file gets the number 1 + file + n * files, which no other file uses.
  uint64_t sequenceOf(uint64_t number) {
    if (lastRenumbered_ && lastSequence_ == number)
      return lastRenumbered_;
    auto [found, isNew] = renumbered_.emplace(number, 1 + file_ + renumbered_.size() * files_);
    hasManySequences_ |= found->second > UINT32_MAX;
    lastSequence_ = number;
    return lastRenumbered_ = found->second;
  }
  // Track 0 means no track, and stays.
  uint64_t trackOf(uint64_t uuid) const { return uuid ? uuid ^ (file_ + 1) << 44 : 0; }

  void copy(const ProtoField &field, ProtoOut &out) {
    using namespace fields::packet;
    if (field.number == kTimestamp && field.type == WireType::Varint)
      out.varint(kTimestamp, moved(field.value, offsetNs_));
    else if (field.number == kSequenceId && field.type == WireType::Varint)
      out.varint(kSequenceId, sequenceOf(field.value));
    else if (field.number == kTrackEvent)
      copyTracks(field, out, fields::event::kTrackUuid, 0);
    else if (field.number == kTrackDescriptor)
      copyTracks(field, out, fields::track::kUuid, fields::track::kParentUuid);
    else if (field.number == kClockSnapshot)
      return; // times have been moved; those of other files would contradict each other
    else
      out.raw(field.encoded);
  }
  void copyTracks(const ProtoField &field, ProtoOut &out, uint32_t first, uint32_t second) {
    uint8_t *opened = out.open(field.number);
    ProtoIn in(field.bytes);
    for (ProtoField part; in.next(part);)
      if ((part.number == first || part.number == second) && part.type == WireType::Varint)
        out.varint(part.number, trackOf(part.value));
      else if (field.number == fields::packet::kTrackDescriptor &&
               part.number == fields::track::kProcess)
        copyProcess(part, out);
      else
        out.raw(part.encoded);
    out.close(opened);
  }

  // Processes of different files may have the same number, and would be shown as one process.
  void copyProcess(const ProtoField &field, ProtoOut &out) {
    uint8_t *opened = out.open(field.number);
    ProtoIn in(field.bytes);
    for (ProtoField part; in.next(part);)
      if (part.number == fields::process::kPid && part.type == WireType::Varint)
        out.varint(part.number, ((file_ + 1) * kPids + part.value % kPids) & INT32_MAX);
      else
        out.raw(part.encoded);
    out.close(opened);
  }

  bool isInside(const Item &item) const {
    if (!options_.fromNs && !options_.toNs)
      return true;
    const int64_t ns = static_cast<int64_t>(item.ns) + offsetNs_ - firstNs_;
    return (!options_.fromNs || ns >= static_cast<int64_t>(*options_.fromNs)) &&
           (!options_.toNs || ns < static_cast<int64_t>(*options_.toNs));
  }
  bool isChosen(const Item &item) const {
    if (!isInside(item) || !(options_.levels & levelBit(item.level.value_or(Level::Note))))
      return false;
    const ReadAnnotation *rank = options_.ranks.empty() ? nullptr : item.find(Key::Rank);
    return !rank || options_.ranks.count(static_cast<int32_t>(rank->number));
  }
  // The end of a slice is kept if its begin was.
  bool isWanted(const Item &item) {
    switch (item.kind) {
    case Item::Kind::Begin: {
      std::vector<bool> &open = open_[item.track];
      const bool chosen = open.size() < kMostDepth && isChosen(item);
      left_ += !chosen;
      if (open.size() < kMostDepth)
        open.push_back(chosen);
      return chosen;
    }
    case Item::Kind::End: {
      std::vector<bool> &open = open_[item.track];
      if (open.empty())
        return false;
      const bool chosen = open.back();
      open.pop_back();
      return chosen;
    }
    case Item::Kind::Instant: {
      const bool chosen = item.level == Level::Note || isChosen(item);
      left_ += !chosen;
      return chosen;
    }
    case Item::Kind::Counter:
      return isInside(item);
    default:
      return true;
    }
  }

  const MergeOptions &options_;
  const uint64_t file_, files_;
  const int64_t offsetNs_, firstNs_;
  std::unordered_map<uint64_t, uint64_t> renumbered_;
  uint64_t lastSequence_ = 0, lastRenumbered_ = 0; // of renumbered_
  std::unordered_map<uint64_t, std::vector<bool>> open_;
  std::string memory_;
  uint64_t left_ = 0;
  bool isMalformed_ = false, hasManySequences_ = false;
};

// Returns the time of the first event of all files; --from and --to count from it.
rt::Result<int64_t> firstTime(const std::vector<std::string> &paths, const Alignment &alignment) {
  std::vector<FileFacts> facts(paths.size());
  std::vector<rt::Status> statuses(paths.size());
  forEachFile(paths.size(), threadsFor(paths.size()), [&](size_t file, size_t) {
    statuses[file] = readSlices(paths[file], 0, [](const Slice &) {}, facts[file]);
    facts[file].tracks.clear(); // of all files they would take much memory
  });
  int64_t first = INT64_MAX;
  for (size_t file = 0; file < paths.size(); ++file) {
    COLL_RETURN_IF_ERROR(statuses[file]);
    if (facts[file].firstNs != UINT64_MAX)
      first =
          std::min(first, static_cast<int64_t>(facts[file].firstNs) + alignment.offsetsNs[file]);
  }
  return first;
}

// One file's part of the result.
struct FileResult {
  rt::Status status;
  uint64_t packets = 0, left = 0;
  bool isTruncated = false;
};

// Copies a part of the file, which requires pairing its begins and ends.
rt::Status copySome(const std::string &path, Copy &copy, OrderedOutput::Piece &output,
                    FileResult &result) {
  rt::Result<Reader> reader = Reader::open(path);
  if (!reader.ok())
    return reader.status();
  Item item;
  for (;;) {
    rt::Result<bool> more = reader->next(item);
    if (!more.ok())
      return more.status();
    result.isTruncated = reader->truncated();
    if (!*more)
      return output.flush();
    std::string_view packet = copy.rewrite(item);
    if (const char *fault = copy.fault())
      return rt::Status::invalid("\"" + path + "\" has " + fault);
    if (packet.empty())
      continue;
    COLL_RETURN_IF_ERROR(output.add(packet));
    ++result.packets;
  }
}

rt::Status copyAll(const std::string &path, Copy &copy, OrderedOutput::Piece &output,
                   FileResult &result) {
  rt::Result<Packets> packets = Packets::open(path);
  if (!packets.ok())
    return packets.status();
  std::string_view packet;
  for (;;) {
    rt::Result<bool> more = packets->next(packet);
    if (!more.ok())
      return more.status();
    result.isTruncated = packets->truncated();
    if (!*more)
      return output.flush();
    std::string_view rewritten = copy.rewrite(packet, true);
    if (const char *fault = copy.fault())
      return packets->malformed(fault);
    COLL_RETURN_IF_ERROR(output.add(rewritten));
    ++result.packets;
  }
}

} // namespace

rt::Result<MergeResult> merge(const std::vector<std::string> &paths, const MergeOptions &options) {
  rt::Result<Alignment> alignment = findAlignment(paths, options.align);
  if (!alignment.ok())
    return alignment.status();
  rt::Result<int64_t> first = int64_t(0);
  if (options.fromNs || options.toNs)
    first = firstTime(paths, *alignment);
  if (!first.ok())
    return first.status();
  rt::Result<FileSink> sink = FileSink::create(options.output);
  if (!sink.ok())
    return sink.status();
  const bool isAll =
      options.ranks.empty() && options.levels == kAllLevels && !options.fromNs && !options.toNs;
  OrderedOutput output(*sink);
  std::vector<FileResult> files(paths.size());
  std::atomic<bool> hasFailed{false};
  std::vector<std::string> buffers(threadsFor(paths.size()));
  forEachFile(paths.size(), buffers.size(), [&](size_t file, size_t thread) {
    OrderedOutput::Piece piece(output, file, buffers[thread]);
    if (hasFailed)
      return;
    Copy copy(options, file, paths.size(), alignment->offsetsNs[file], *first);
    FileResult &own = files[file];
    own.status =
        isAll ? copyAll(paths[file], copy, piece, own) : copySome(paths[file], copy, piece, own);
    own.left = copy.left();
    if (!own.status.ok())
      hasFailed = true;
  });
  MergeResult result;
  result.errorNs = alignment->errorNs;
  result.notes = alignment->notes;
  for (size_t file = 0; file < paths.size(); ++file) {
    COLL_RETURN_IF_ERROR(files[file].status);
    result.packets += files[file].packets;
    result.left += files[file].left;
    if (files[file].isTruncated)
      result.notes.push_back("\"" + paths[file] +
                             "\" ends within a packet, as the trace of a killed run does");
  }
  result.bytes = output.bytes();
  return result;
}

rt::Result<std::set<int32_t>> parseRanks(const std::string &text) {
  std::set<int32_t> ranks;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    int32_t low = -1, high = -1;
    const char *at = word.data(), *stop = word.data() + word.size();
    std::from_chars_result read = std::from_chars(at, stop, low);
    high = low;
    if (read.ec == std::errc() && read.ptr != stop && *read.ptr == '-')
      read = std::from_chars(read.ptr + 1, stop, high);
    if (read.ec != std::errc() || read.ptr != stop || low < 0 || high < low || high - low > 1 << 20)
      return rt::Status::invalid("--ranks: \"" + word +
                                 "\" is neither a rank nor a range such as 4-7");
    for (int32_t rank = low; rank <= high; ++rank)
      ranks.insert(rank);
    begin = end + 1;
  }
  return ranks;
}

rt::Result<uint32_t> parseLevels(const std::string &text) {
  uint32_t levels = levelBit(Level::Note);
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    std::optional<Level> level = levelOf(text.substr(begin, end - begin));
    if (!level) {
      std::string known;
      for (int i = 0; i < kLevels; ++i)
        known += " " + std::string(levelName(static_cast<Level>(i)));
      return rt::Status::invalid("--levels: \"" + text.substr(begin, end - begin) +
                                 "\" is not a level; the levels are" + known);
    }
    levels |= levelBit(*level);
    begin = end + 1;
  }
  return levels;
}

} // namespace coll::trace
