#include "tools/coll-trace/chakra.h"
#include "tools/coll-trace/convert.h"
#include "tools/coll-trace/slices.h"

#include <algorithm>
#include <cinttypes>
#include <iterator>
#include <map>

namespace coll::trace {

using namespace profiler::perfetto;
using chakra::Node;

namespace {

constexpr size_t kMostNodes = 20'000'000;

// A node to be written. A node that came from Chakra keeps its place in the file.
struct Entry {
  uint64_t startNs = 0, endNs = 0;
  Node node;
  std::string original; // the node that it was
};

struct RankEntries {
  std::string metadata;
  std::vector<Entry> entries;
};

std::string group(const Slice &slice) {
  char text[32];
  std::snprintf(text, sizeof(text), "%" PRIx64, static_cast<uint64_t>(slice.number(Key::Comm)));
  return text;
}

Node nodeOf(const Slice &slice) {
  Node node;
  node.name = slice.name;
  if (slice.level == Level::Compute) {
    node.type = chakra::kCompute;
    node.addBool("is_cpu_op", false);
    return node;
  }
  node.addBool("is_cpu_op", false);
  node.addInt64("comm_size", slice.number(Key::Bytes));
  node.addText("pg_name", group(slice));
  if (slice.level == Level::Coll) {
    node.type = chakra::kCollective;
    const std::string &func = slice.text(Key::Func);
    if (int64_t number = chakra::collectiveNumber(func.empty() ? slice.name : func); number >= 0)
      node.addInt64("comm_type", number);
    return node;
  }
  const std::string direction = slice.text(Key::Func) + slice.text(Key::Direction) + slice.name;
  const bool sends = direction.rfind("Send", 0) == 0 || direction.rfind("send", 0) == 0;
  const auto rank = static_cast<int32_t>(slice.number(Key::Rank));
  const auto peer = static_cast<int32_t>(slice.number(Key::Peer));
  node.type = sends ? chakra::kSend : chakra::kRecv;
  node.addInt32("comm_src", sends ? rank : peer);
  node.addInt32("comm_dst", sends ? peer : rank);
  node.addInt32("comm_tag", 0);
  return node;
}

class Collected {
public:
  void take(const Slice &slice, const FileFacts &facts) {
    const uint64_t process = processOf(slice.track, facts);
    if (slice.has(Key::Rank))
      rankOfProcess_[process] = static_cast<int32_t>(slice.number(Key::Rank));
    const std::string &original = slice.text(Key::ChakraNode);
    if (slice.level == Level::Note && original.empty())
      return;
    RankEntries &entries = processes_[process];
    if (slice.level == Level::Note && slice.name == "chakra metadata")
      entries.metadata = chakra::fromBase64(original);
    else
      add(entries, slice, original);
  }
  // Called at the end of a file: compute slices need not name their rank, but other slices of the
  // same process do.
  void finishFile() {
    for (auto &[process, from] : processes_) {
      RankEntries &to = ranks_[rankOfProcess_[process]];
      if (!from.metadata.empty())
        to.metadata = from.metadata;
      std::move(from.entries.begin(), from.entries.end(), std::back_inserter(to.entries));
    }
    processes_.clear();
    rankOfProcess_.clear();
  }
  bool isFull() const { return count_ > kMostNodes; }

  rt::Result<Converted> write(const std::string &stem) {
    Converted converted;
    for (auto &[number, rank] : ranks_) {
      if (rank.entries.empty() && rank.metadata.empty())
        continue;
      rt::Result<FileSink> sink = FileSink::create(stem + "." + std::to_string(number) + ".et");
      if (!sink.ok())
        return sink.status();
      COLL_RETURN_IF_ERROR(write(rank, *sink));
      ++converted.ranks;
      converted.nodes += rank.entries.size();
    }
    return converted;
  }

private:
  void add(RankEntries &rank, const Slice &slice, const std::string &original) {
    Entry entry;
    entry.startNs = slice.startNs;
    entry.endNs = slice.endNs;
    if (original.empty())
      entry.node = nodeOf(slice);
    else
      entry.original = chakra::fromBase64(original);
    rank.entries.push_back(std::move(entry));
    ++count_;
  }
  static rt::Status write(RankEntries &rank, FileSink &sink) {
    struct Buffer : Sink {
      std::string bytes;
      rt::Status write(std::string_view more) override {
        bytes += more;
        return rt::Status::okay();
      }
    } buffer;
    (void)chakra::writeMessage(buffer,
                               rank.metadata.empty() ? chakra::encodeMetadata() : rank.metadata);
    const bool isOriginal = std::any_of(rank.entries.begin(), rank.entries.end(),
                                        [](const Entry &entry) { return !entry.original.empty(); });
    if (!isOriginal)
      link(rank.entries);
    for (const Entry &entry : rank.entries) {
      (void)chakra::writeMessage(buffer, entry.original.empty() ? chakra::encode(entry.node)
                                                                : entry.original);
      if (buffer.bytes.size() > size_t(1) << 20) {
        COLL_RETURN_IF_ERROR(sink.write(buffer.bytes));
        buffer.bytes.clear();
      }
    }
    return sink.write(buffer.bytes);
  }

  // Numbers the nodes by start time, and sets their dependencies.
  static void link(std::vector<Entry> &entries) {
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry &a, const Entry &b) { return a.startNs < b.startNs; });
    const uint64_t firstNs = entries.empty() ? 0 : entries.front().startNs;
    constexpr size_t kNone = SIZE_MAX;
    size_t last[2] = {kNone, kNone}; // of compute and of communication
    for (size_t i = 0; i < entries.size(); ++i) {
      Node &node = entries[i].node;
      const size_t kind = node.type == chakra::kCompute ? 0 : 1, other = last[1 - kind];
      node.id = i + 1;
      node.startMicros = (entries[i].startNs - firstNs) / 1000;
      node.durationMicros = entries[i].endNs > entries[i].startNs
                                ? (entries[i].endNs - entries[i].startNs) / 1000
                                : 0;
      if (last[kind] != kNone)
        node.controlDependencies = {last[kind] + 1};
      if (other != kNone && entries[other].endNs <= entries[i].startNs)
        node.dataDependencies = {other + 1};
      last[kind] = i;
    }
  }

  std::map<uint64_t, RankEntries> processes_; // of the file that is read
  std::map<uint64_t, int32_t> rankOfProcess_;
  std::map<int32_t, RankEntries> ranks_;
  size_t count_ = 0;
};

} // namespace

rt::Result<Converted> toChakra(const std::vector<std::string> &traces, const std::string &stem) {
  constexpr uint32_t kLevels = levelBit(Level::Compute) | levelBit(Level::Coll) |
                               levelBit(Level::P2p) | levelBit(Level::Note);
  Collected collected;
  for (const std::string &path : traces) {
    FileFacts facts;
    COLL_RETURN_IF_ERROR(readSlices(
        path, kLevels,
        [&](const Slice &slice) {
          if (!collected.isFull())
            collected.take(slice, facts);
        },
        facts));
    collected.finishFile();
  }
  if (collected.isFull())
    return rt::Status::invalid("more than " + std::to_string(kMostNodes) +
                               " nodes; convert fewer ranks, or a window (coll-trace merge)");
  return collected.write(stem);
}

} // namespace coll::trace
