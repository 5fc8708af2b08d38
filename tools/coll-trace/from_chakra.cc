#include "tools/coll-trace/chakra.h"
#include "tools/coll-trace/convert.h"

#include "runtime/profiler/perfetto/writer.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

namespace coll::trace {

using namespace profiler::perfetto;
using chakra::Node;

namespace {

constexpr size_t kMostNodes = 20'000'000;
constexpr size_t kMostNodeBytes = 256 << 10; // so that it fits into one packet of a trace
constexpr uint64_t kMostMicros = UINT64_MAX / 4000;

struct Entry {
  Node node;
  std::string bytes;
  uint64_t startNs = 0, endNs = 0;
  size_t lane = 0;
};

// The rank in NAME.RANK.et; -1 if there is none.
int32_t rankOf(const std::string &path) {
  const size_t end = path.size() >= 3 && path.compare(path.size() - 3, 3, ".et") == 0
                         ? path.size() - 3
                         : path.size();
  size_t begin = end;
  while (begin > 0 && path[begin - 1] >= '0' && path[begin - 1] <= '9')
    --begin;
  if (begin == end || end - begin > 6 || begin == 0 || path[begin - 1] != '.')
    return -1;
  return std::stoi(path.substr(begin, end - begin));
}

Level levelOf(const Node &node) {
  switch (node.type) {
  case chakra::kCollective:
    return Level::Coll;
  case chakra::kSend:
  case chakra::kRecv:
    return Level::P2p;
  case chakra::kCompute:
  case chakra::kMemoryLoad:
  case chakra::kMemoryStore:
    return Level::Compute;
  default:
    return Level::Note;
  }
}

rt::Status readFile(const std::string &path, std::string &metadata, std::vector<Entry> &entries) {
  rt::Result<Packets> packets = Packets::open(path, Packets::Framing::Lengths);
  if (!packets.ok())
    return packets.status();
  std::string_view message;
  for (bool isFirst = true;; isFirst = false) {
    rt::Result<bool> more = packets->next(message);
    if (!more.ok())
      return more.status();
    if (!*more)
      break;
    if (message.size() > kMostNodeBytes)
      return packets->malformed("a node of more than 256 KiB");
    if (isFirst) {
      metadata = message;
      continue;
    }
    rt::Result<Node> node = chakra::parseNode(message);
    if (!node.ok())
      return packets->malformed(node.status().message());
    if (entries.size() >= kMostNodes)
      return packets->malformed("more than " + std::to_string(kMostNodes) + " nodes");
    entries.push_back({node.take(), std::string(message), 0, 0, 0});
  }
  return packets->truncated() ? packets->malformed("the file ends within a node")
                              : rt::Status::okay();
}

// Uses the times of the file if it has them. Otherwise places the nodes one after the other, each
// after its dependencies; cycles are cut.
void schedule(std::vector<Entry> &entries) {
  const bool hasTimes = std::any_of(entries.begin(), entries.end(), [](const Entry &entry) {
    return entry.node.startMicros || entry.node.durationMicros;
  });
  std::unordered_map<uint64_t, uint64_t> ends;
  for (Entry &entry : entries) {
    const Node &node = entry.node;
    uint64_t start = std::min(node.startMicros, kMostMicros) * 1000;
    if (!hasTimes)
      for (const auto *dependencies : {&node.controlDependencies, &node.dataDependencies})
        for (uint64_t id : *dependencies)
          if (auto found = ends.find(id); found != ends.end())
            start = std::max(start, found->second);
    entry.startNs = start;
    entry.endNs = start + std::max<uint64_t>(1, std::min(node.durationMicros, kMostMicros)) * 1000;
    ends[node.id] = entry.endNs;
  }
}

// Puts nodes that overlap in time into different lanes; returns the number of lanes.
size_t assignLanes(std::vector<Entry> &entries) {
  std::vector<size_t> order(entries.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return entries[a].startNs < entries[b].startNs; });
  std::multimap<uint64_t, size_t> lanes; // by their ends
  for (size_t i : order) {
    Entry &entry = entries[i];
    if (!lanes.empty() && lanes.begin()->first <= entry.startNs) {
      entry.lane = lanes.begin()->second;
      lanes.erase(lanes.begin());
    } else {
      entry.lane = lanes.size();
    }
    lanes.emplace(entry.endNs, entry.lane);
  }
  return lanes.size();
}

void writeNode(Writer &writer, TrackId track, int32_t rank, const Entry &entry) {
  const Node &node = entry.node;
  const std::string original = chakra::toBase64(entry.bytes);
  std::vector<Annotation> notes = {{Key::Rank, rank}, {Key::Id, node.id}};
  std::string_view name = node.name;
  if (node.type == chakra::kCollective) {
    if (int64_t number = node.number("comm_type", -1); number >= 0)
      name = chakra::collectiveName(number);
    notes.emplace_back(Key::Bytes, node.number("comm_size", 0));
  } else if (node.type == chakra::kSend || node.type == chakra::kRecv) {
    const bool sends = node.type == chakra::kSend;
    notes.emplace_back(Key::Direction, sends ? "send" : "recv");
    notes.emplace_back(Key::Peer, node.number(sends ? "comm_dst" : "comm_src", -1));
    notes.emplace_back(Key::Bytes, node.number("comm_size", 0));
  }
  notes.emplace_back(Key::ChakraNode, original);
  writer.slice(track, levelOf(node), name, entry.startNs, entry.endNs, notes);
}

} // namespace

rt::Result<Converted> fromChakra(const std::vector<std::string> &files, const std::string &output) {
  rt::Result<FileSink> sink = FileSink::create(output);
  if (!sink.ok())
    return sink.status();
  Writer writer(*sink, {});
  Converted converted;
  for (size_t file = 0; file < files.size(); ++file) {
    std::string metadata;
    std::vector<Entry> entries;
    COLL_RETURN_IF_ERROR(readFile(files[file], metadata, entries));
    const int32_t named = rankOf(files[file]);
    const int32_t rank = named >= 0 ? named : static_cast<int32_t>(file);
    schedule(entries);
    const TrackId process =
        writer.process("rank " + std::to_string(rank), static_cast<int32_t>(file) + 1, rank);
    writer.instant(process, Level::Note, "chakra metadata", 0,
                   {{Key::Rank, rank}, {Key::ChakraNode, chakra::toBase64(metadata)}});
    std::vector<TrackId> tracks;
    for (size_t lanes = assignLanes(entries), lane = 0; lane < lanes; ++lane)
      tracks.push_back(writer.track(process, "nodes", static_cast<int32_t>(lane)));
    for (const Entry &entry : entries)
      writeNode(writer, tracks[entry.lane], rank, entry);
    ++converted.ranks;
    converted.nodes += entries.size();
  }
  COLL_RETURN_IF_ERROR(writer.flush());
  return converted;
}

} // namespace coll::trace
