#include "runtime/profiler/perfetto/writer.h"

#include "runtime/profiler/perfetto/fields.h"

#include <ctime>
#include <unistd.h>

namespace coll::profiler::perfetto {

using namespace fields;

namespace {

constexpr size_t kBufferBytes = size_t(1) << 20;
constexpr size_t kMostPacketBytes = size_t(1) << 19;
constexpr size_t kMostTextBytes = 4096;
constexpr size_t kMostNames = 65536;
constexpr size_t kPacketHead = 4; // tag of Trace.packet and a length of three bytes

enum : uint64_t { kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };

uint64_t now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}

uint64_t mix(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

uint64_t seedOfThisProcess() {
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  uint64_t seed = mix(now(CLOCK_REALTIME)) ^ mix(static_cast<uint64_t>(getpid()));
  for (const char *at = host; *at; ++at)
    seed = mix(seed + static_cast<uint8_t>(*at));
  return seed | 1;
}

// A text that is too long to be shown is cut, between two characters of UTF-8.
std::string_view shorten(std::string_view text) {
  if (text.size() <= kMostTextBytes)
    return text;
  size_t end = kMostTextBytes;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80)
    --end;
  return text.substr(0, end);
}

} // namespace

uint64_t monotonicNs() { return now(CLOCK_MONOTONIC); }

Writer::Writer(Sink &sink, const WriterOptions &options)
    : sink_(sink), options_(options), buffer_(new uint8_t[kBufferBytes]) {
  uint64_t seed = mix(options.seed ? options.seed : seedOfThisProcess());
  // Numbers are short, because every event has both: 40 bits of which 20 are random, and 21 bits.
  nextTrack_ = ((seed & 0xfffff) | 0x80000) << 20;
  sequence_ = static_cast<uint32_t>(seed >> 20 & 0x1fffff) + 1;
  ProtoOut packet = open();
  packet.varint(fields::packet::kSequenceId, sequence_);
  packet.varint(fields::packet::kSequenceFlags, fields::packet::kStateCleared);
  packet.varint(fields::packet::kFirstPacketOnSequence, 1);
  uint8_t *defaults = packet.open(fields::packet::kDefaults);
  packet.varint(defaults::kTimestampClockId, options_.clock);
  packet.close(defaults);
  close(packet);
  clockSnapshot();
  writeVocabulary();
}

Writer::~Writer() { (void)flush(); }

// Memory for one packet of Trace; close() completes it.
ProtoOut Writer::open() {
  if (kBufferBytes - used_ < kMostPacketBytes + kPacketHead)
    (void)flush();
  return ProtoOut(buffer_.get() + used_ + kPacketHead, kMostPacketBytes);
}

void Writer::close(ProtoOut &packet) {
  if (packet.overflowed())
    return; // too long for a packet; this library's events are shorter
  size_t length = packet.size();
  uint8_t *head = buffer_.get() + used_;
  head[0] = trace::kPacket << 3 | 2;
  head[1] = static_cast<uint8_t>(length | 0x80);
  head[2] = static_cast<uint8_t>(length >> 7 | 0x80);
  head[3] = static_cast<uint8_t>(length >> 14 & 0x7f);
  used_ += kPacketHead + length;
}

rt::Status Writer::flush() {
  if (status_.ok() && used_ > 0) {
    status_ = sink_.write({reinterpret_cast<const char *>(buffer_.get()), used_});
    bytes_ += status_.ok() ? used_ : 0;
  }
  used_ = 0;
  return status_;
}

void Writer::clockSnapshot() {
  ProtoOut packet = open();
  packet.varint(fields::packet::kTimestamp, now(CLOCK_MONOTONIC));
  packet.varint(fields::packet::kTimestampClockId, kClockMonotonic);
  packet.varint(fields::packet::kSequenceId, sequence_);
  uint8_t *snapshot = packet.open(fields::packet::kClockSnapshot);
  const std::pair<uint32_t, clockid_t> kClocks[] = {{kClockMonotonic, CLOCK_MONOTONIC},
                                                    {kClockRealtime, CLOCK_REALTIME},
                                                    {kClockBoottime, CLOCK_BOOTTIME}};
  for (auto [id, clock] : kClocks) {
    uint8_t *entry = packet.open(clocks::kClock);
    packet.varint(clocks::kId, id);
    packet.varint(clocks::kTimestamp, now(clock));
    packet.close(entry);
  }
  packet.close(snapshot);
  close(packet);
}

// Levels and keys are interned at the start; their iid is their position in the enum, from 1.
void Writer::writeVocabulary() {
  ProtoOut packet = open();
  packet.varint(fields::packet::kSequenceId, sequence_);
  packet.varint(fields::packet::kSequenceFlags, fields::packet::kNeedsState);
  uint8_t *data = packet.open(fields::packet::kInternedData);
  auto entry = [&](uint32_t field, int index, std::string_view text) {
    uint8_t *opened = packet.open(field);
    packet.varint(interned::kIid, static_cast<uint64_t>(index) + 1);
    packet.bytes(interned::kText, text);
    packet.close(opened);
  };
  for (int i = 0; i < kLevels; ++i)
    entry(interned::kCategories, i, levelName(static_cast<Level>(i)));
  for (int i = 0; i < kKeys; ++i)
    entry(interned::kAnnotationNames, i, keyName(static_cast<Key>(i)));
  packet.close(data);
  close(packet);
}

// Names of events and texts of annotations share one numbering. iid 0: the table is full.
Writer::Name Writer::intern(std::string_view text) {
  if (auto found = iids_.find(text); found != iids_.end())
    return {found->second, false};
  if (texts_.size() >= kMostNames)
    return {0, false};
  texts_.push_back(std::make_unique<std::string>(text));
  uint64_t iid = texts_.size();
  iids_.emplace(*texts_.back(), iid);
  ProtoOut packet = open();
  packet.varint(fields::packet::kSequenceId, sequence_);
  packet.varint(fields::packet::kSequenceFlags, fields::packet::kNeedsState);
  uint8_t *data = packet.open(fields::packet::kInternedData);
  for (uint32_t field : {interned::kNames, interned::kStrings}) {
    uint8_t *opened = packet.open(field);
    packet.varint(interned::kIid, iid);
    packet.bytes(interned::kText, text);
    packet.close(opened);
  }
  packet.close(data);
  close(packet);
  return {iid, true};
}

void Writer::annotate(ProtoOut &out, const Annotation &annotation) {
  uint64_t textIid = 0;
  if (annotation.kind == Annotation::Kind::Text)
    if (auto found = iids_.find(annotation.text); found != iids_.end())
      textIid = found->second;
  uint8_t *opened = out.open(event::kDebugAnnotations);
  out.varint(annotation::kNameIid, static_cast<uint64_t>(annotation.key) + 1);
  switch (annotation.kind) {
  case Annotation::Kind::Int:
    out.varint(annotation::kInt, annotation.number);
    break;
  case Annotation::Kind::Uint:
    out.varint(annotation::kUint, annotation.number);
    break;
  case Annotation::Kind::Bool:
    out.varint(annotation::kBool, annotation.number);
    break;
  case Annotation::Kind::Double:
    out.real(annotation::kDouble, annotation.real);
    break;
  case Annotation::Kind::Text:
    if (textIid)
      out.varint(annotation::kStringIid, textIid);
    else
      out.bytes(annotation::kString, annotation.text);
    break;
  }
  out.close(opened);
}

void Writer::event(const EventHead &head, const Level *level, std::string_view name,
                   Annotations annotations, Flow flow) {
  if (!status_.ok())
    return;
  name = shorten(name);
  // Short texts repeat; long texts, such as a Chakra node, do not. Interning writes packets, so it
  // must be done before this event is written.
  uint64_t nameIid = name.empty() ? 0 : intern(name).iid;
  for (size_t i = 0; i < annotations.count; ++i)
    if (const Annotation &one = annotations.begin[i];
        one.kind == Annotation::Kind::Text && one.text.size() <= 256)
      (void)intern(one.text);
  ProtoOut packet = open();
  packet.varint(fields::packet::kTimestamp, head.ns);
  packet.varint(fields::packet::kSequenceId, sequence_);
  packet.varint(fields::packet::kSequenceFlags, fields::packet::kNeedsState);
  uint8_t *opened = packet.open(fields::packet::kTrackEvent);
  packet.varint(event::kType, head.type);
  packet.varint(event::kTrackUuid, head.track);
  if (level)
    packet.varint(event::kCategoryIids, static_cast<uint64_t>(*level) + 1);
  if (nameIid)
    packet.varint(event::kNameIid, nameIid);
  else if (!name.empty())
    packet.bytes(event::kName, name);
  if (flow.id)
    packet.fixed64(flow.ends ? event::kTerminatingFlowIds : event::kFlowIds, flow.id);
  for (size_t i = 0; i < annotations.count; ++i)
    annotate(packet, annotations.begin[i]);
  packet.close(opened);
  close(packet);
}

void Writer::slice(TrackId track, Level level, std::string_view name, uint64_t startNs,
                   uint64_t endNs, Annotations annotations, Flow flow) {
  event({kBegin, track, startNs}, &level, name, annotations, flow);
  event({kEnd, track, endNs < startNs ? startNs : endNs}, nullptr, {}, {}, {});
}

void Writer::begin(TrackId track, Level level, std::string_view name, uint64_t ns,
                   Annotations annotations, Flow flow) {
  event({kBegin, track, ns}, &level, name, annotations, flow);
}

void Writer::end(TrackId track, uint64_t ns, Annotations annotations) {
  event({kEnd, track, ns}, nullptr, {}, annotations, {});
}

void Writer::instant(TrackId track, Level level, std::string_view name, uint64_t ns,
                     Annotations annotations, Flow flow) {
  event({kInstant, track, ns}, &level, name, annotations, flow);
}

void Writer::counter(TrackId track, uint64_t ns, int64_t value) {
  if (!status_.ok())
    return;
  ProtoOut packet = open();
  packet.varint(fields::packet::kTimestamp, ns);
  packet.varint(fields::packet::kSequenceId, sequence_);
  packet.varint(fields::packet::kSequenceFlags, fields::packet::kNeedsState);
  uint8_t *opened = packet.open(fields::packet::kTrackEvent);
  packet.varint(event::kType, kCounter);
  packet.varint(event::kTrackUuid, track);
  packet.integer(event::kCounterValue, value);
  packet.close(opened);
  close(packet);
}

void Writer::dropped(TrackId track, uint64_t ns, uint64_t count) {
  instant(track, Level::Note, "events dropped", ns, {{Key::Dropped, count}});
}

void Writer::describe(TrackId uuid, TrackId parent, std::string_view name, int32_t order,
                      const ProtoOut *extra) {
  ProtoOut packet = open();
  packet.varint(fields::packet::kSequenceId, sequence_);
  uint8_t *opened = packet.open(fields::packet::kTrackDescriptor);
  packet.varint(fields::track::kUuid, uuid);
  if (parent)
    packet.varint(fields::track::kParentUuid, parent);
  packet.bytes(fields::track::kName, shorten(name));
  packet.varint(fields::track::kChildOrdering, fields::track::kExplicitOrder);
  packet.integer(fields::track::kSiblingOrderRank, order);
  if (extra)
    packet.raw(extra->view());
  packet.close(opened);
  close(packet);
}

TrackId Writer::process(std::string_view name, int32_t pid, int32_t order) {
  uint8_t memory[kMostTextBytes + 64];
  ProtoOut extra(memory, sizeof(memory));
  uint8_t *opened = extra.open(fields::track::kProcess);
  extra.integer(process::kPid, pid);
  extra.bytes(process::kName, shorten(name));
  extra.close(opened);
  describe(++nextTrack_, 0, name, order, &extra);
  return nextTrack_;
}

TrackId Writer::track(TrackId parent, std::string_view name, int32_t order) {
  describe(++nextTrack_, parent, name, order, nullptr);
  return nextTrack_;
}

TrackId Writer::counterTrack(TrackId parent, std::string_view name, std::string_view unit) {
  uint8_t memory[kMostTextBytes + 64];
  ProtoOut extra(memory, sizeof(memory));
  uint8_t *opened = extra.open(fields::track::kCounter);
  extra.bytes(counter::kUnitName, shorten(unit));
  extra.close(opened);
  describe(++nextTrack_, parent, name, 0, &extra);
  return nextTrack_;
}

} // namespace coll::profiler::perfetto
