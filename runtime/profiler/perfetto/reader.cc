#include "runtime/profiler/perfetto/reader.h"

#include "runtime/profiler/perfetto/fields.h"

namespace coll::profiler::perfetto {

using namespace fields;

namespace {

constexpr size_t kMostSequences = 1 << 16;
constexpr uint64_t kMostInternedBytes = uint64_t(256) << 20;
constexpr size_t kEntryBytes = 64; // of a table, beside the text
constexpr size_t kMostAnnotations = 1024, kMostFlows = 1024, kMostClocks = 64;

enum : uint64_t { kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };

Item::Kind kindOf(uint64_t type) {
  switch (type) {
  case kBegin:
    return Item::Kind::Begin;
  case kEnd:
    return Item::Kind::End;
  case kInstant:
    return Item::Kind::Instant;
  case kCounter:
    return Item::Kind::Counter;
  default:
    return Item::Kind::Other;
  }
}

void clear(Item &item) {
  auto annotations = std::move(item.annotations);
  auto flows = std::move(item.flows);
  auto clocks = std::move(item.clocks);
  annotations.clear();
  flows.clear();
  clocks.clear();
  item = Item();
  item.annotations = std::move(annotations);
  item.flows = std::move(flows);
  item.clocks = std::move(clocks);
}

} // namespace

const ReadAnnotation *Item::find(Key key) const {
  for (const ReadAnnotation &annotation : annotations)
    if (annotation.key == key)
      return &annotation;
  return nullptr;
}

int64_t Item::number(Key key, int64_t otherwise) const {
  const ReadAnnotation *found = find(key);
  return found && found->kind != Annotation::Kind::Text && found->kind != Annotation::Kind::Double
             ? static_cast<int64_t>(found->number)
             : otherwise;
}

std::string_view Item::text(Key key) const {
  const ReadAnnotation *found = find(key);
  return found && found->kind == Annotation::Kind::Text ? found->text : std::string_view();
}

rt::Result<Reader> Reader::open(const std::string &path) {
  rt::Result<Packets> packets = Packets::open(path);
  if (!packets.ok())
    return packets.status();
  return Reader(packets.take());
}

rt::Result<bool> Reader::next(Item &item) {
  std::string_view packet;
  rt::Result<bool> more = packets_.next(packet);
  if (!more.ok() || !*more)
    return more;
  clear(item);
  item.packet = packet;
  COLL_RETURN_IF_ERROR(read(packet, item));
  return true;
}

rt::Result<Reader::Sequence *> Reader::sequenceOf(uint32_t number) {
  if (last_ && lastNumber_ == number)
    return last_;
  if (sequences_.size() >= kMostSequences && !sequences_.count(number))
    return packets_.malformed("more than " + std::to_string(kMostSequences) + " sequences");
  last_ = &sequences_[number];
  lastNumber_ = number;
  return last_;
}

// Fields may be in any order, but an event needs its sequence, its interned names and its defaults:
// a first pass finds the parts.
rt::Status Reader::read(std::string_view packet, Item &item) {
  std::string_view eventPart, internedPart, trackPart, clocksPart, defaultsPart;
  bool hasEvent = false, hasTrack = false, hasClocks = false, hasClock = false;
  uint64_t flags = 0;
  ProtoIn in(packet);
  for (ProtoField field; in.next(field);) {
    switch (field.number) {
    case packet::kTimestamp:
      item.ns = field.value;
      break;
    case packet::kTimestampClockId:
      item.clock = static_cast<uint32_t>(field.value);
      hasClock = true;
      break;
    case packet::kSequenceId:
      item.sequence = static_cast<uint32_t>(field.value);
      break;
    case packet::kSequenceFlags:
      flags = field.value;
      break;
    case packet::kPreviousPacketDropped:
      item.hasDrops = field.value != 0;
      break;
    case packet::kTrackEvent:
      eventPart = field.bytes;
      hasEvent = true;
      break;
    case packet::kInternedData:
      internedPart = field.bytes;
      break;
    case packet::kTrackDescriptor:
      trackPart = field.bytes;
      hasTrack = true;
      break;
    case packet::kClockSnapshot:
      clocksPart = field.bytes;
      hasClocks = true;
      break;
    case packet::kDefaults:
      defaultsPart = field.bytes;
      break;
    default:
      break;
    }
  }
  if (in.malformed())
    return packets_.malformed("a packet has a field that ends outside of it");
  rt::Result<Sequence *> found = sequenceOf(item.sequence);
  if (!found.ok())
    return found.status();
  Sequence &sequence = **found;
  if (flags & packet::kStateCleared) {
    internedBytes_ -= sequence.internedBytes;
    sequence = Sequence();
  }
  COLL_RETURN_IF_ERROR(defaults(defaultsPart, sequence));
  COLL_RETURN_IF_ERROR(intern(internedPart, sequence));
  if (!hasClock)
    item.clock = sequence.clock;
  if (hasTrack)
    return track(trackPart, item);
  if (hasEvent)
    return event(eventPart, sequence, item);
  if (hasClocks)
    return clocks(clocksPart, item);
  return rt::Status::okay();
}

rt::Status Reader::defaults(std::string_view message, Sequence &sequence) {
  ProtoIn in(message);
  for (ProtoField field; in.next(field);) {
    if (field.number == defaults::kTimestampClockId)
      sequence.clock = static_cast<uint32_t>(field.value);
    if (field.number == defaults::kTrackEventDefaults) {
      ProtoIn inner(field.bytes);
      for (ProtoField part; inner.next(part);)
        if (part.number == event::kTrackUuid)
          sequence.track = part.value;
    }
  }
  return in.malformed() ? packets_.malformed("the defaults of a sequence") : rt::Status::okay();
}

rt::Status Reader::intern(std::string_view message, Sequence &sequence) {
  ProtoIn in(message);
  for (ProtoField field; in.next(field);) {
    Table *table = field.number == interned::kCategories        ? &sequence.categories
                   : field.number == interned::kNames           ? &sequence.names
                   : field.number == interned::kAnnotationNames ? &sequence.annotationNames
                   : field.number == interned::kStrings         ? &sequence.strings
                                                                : nullptr;
    if (table)
      COLL_RETURN_IF_ERROR(internOne(field.bytes, field.number, *table, sequence));
  }
  return in.malformed() ? packets_.malformed("interned names") : rt::Status::okay();
}

rt::Status Reader::internOne(std::string_view message, uint32_t field, Table &table,
                             Sequence &sequence) {
  uint64_t iid = 0;
  std::string_view text;
  ProtoIn in(message);
  for (ProtoField part; in.next(part);) {
    if (part.number == interned::kIid)
      iid = part.value;
    if (part.number == interned::kText)
      text = part.bytes;
  }
  if (in.malformed())
    return packets_.malformed("an interned name");
  const bool hasPlace = iid < Table::kPlaces;
  const uint64_t places =
      hasPlace && iid >= table.places.size() ? iid + 1 - table.places.size() : 1;
  sequence.internedBytes += text.size() + places * kEntryBytes;
  internedBytes_ += text.size() + places * kEntryBytes;
  if (internedBytes_ > kMostInternedBytes)
    return packets_.malformed("more than 256 MiB of interned names");
  if (hasPlace && iid >= table.places.size())
    table.places.resize(iid + 1);
  Text &entry = hasPlace ? table.places[iid] : table.others[iid];
  entry = {std::string(text), -1};
  if (field == interned::kCategories)
    if (std::optional<Level> level = levelOf(text))
      entry.known = static_cast<int>(*level);
  if (field == interned::kAnnotationNames)
    if (std::optional<Key> key = keyOf(text))
      entry.known = static_cast<int>(*key);
  return rt::Status::okay();
}

rt::Status Reader::track(std::string_view message, Item &item) {
  item.kind = Item::Kind::Track;
  ProtoIn in(message);
  for (ProtoField field; in.next(field);) {
    if (field.number == track::kUuid)
      item.track = field.value;
    else if (field.number == track::kParentUuid)
      item.parent = field.value;
    else if (field.number == track::kName)
      item.trackName = field.bytes;
    else if (field.number == track::kCounter)
      item.isCounter = true;
    else if (field.number == track::kProcess) {
      item.pid = 0;
      ProtoIn inner(field.bytes);
      for (ProtoField part; inner.next(part);)
        if (part.number == process::kPid)
          item.pid = static_cast<int32_t>(part.value);
        else if (part.number == process::kName && item.trackName.empty())
          item.trackName = part.bytes;
    }
  }
  return in.malformed() ? packets_.malformed("a track's descriptor") : rt::Status::okay();
}

rt::Status Reader::event(std::string_view message, const Sequence &sequence, Item &item) {
  item.track = sequence.track;
  ProtoIn in(message);
  for (ProtoField field; in.next(field);) {
    switch (field.number) {
    case event::kType:
      item.kind = kindOf(field.value);
      break;
    case event::kTrackUuid:
      item.track = field.value;
      break;
    case event::kNameIid:
      if (const Text *text = sequence.names.find(field.value))
        item.name = text->text;
      break;
    case event::kName:
      item.name = field.bytes;
      break;
    case event::kCategoryIids:
      // Packed or not; the first one is used.
      if (const Text *text = field.type == WireType::Varint && item.category.empty()
                                 ? sequence.categories.find(field.value)
                                 : nullptr) {
        item.category = text->text;
        if (text->known >= 0)
          item.level = static_cast<Level>(text->known);
      }
      break;
    case event::kCategories:
      if (item.category.empty()) {
        item.category = field.bytes;
        item.level = levelOf(field.bytes);
      }
      break;
    case event::kCounterValue:
      item.value = field.integer();
      break;
    case event::kDoubleCounterValue:
      item.value = static_cast<int64_t>(std::min(9e18, std::max(-9e18, field.real())));
      break;
    case event::kFlowIds:
    case event::kTerminatingFlowIds:
      if (item.flows.size() < kMostFlows && field.type == WireType::Fixed64)
        item.flows.push_back({field.value, field.number == event::kTerminatingFlowIds});
      break;
    case event::kDebugAnnotations:
      if (item.annotations.size() < kMostAnnotations)
        COLL_RETURN_IF_ERROR(annotation(field.bytes, sequence, item));
      break;
    default:
      break;
    }
  }
  return in.malformed() ? packets_.malformed("an event") : rt::Status::okay();
}

rt::Status Reader::annotation(std::string_view message, const Sequence &sequence, Item &item) {
  ReadAnnotation result;
  ProtoIn in(message);
  for (ProtoField field; in.next(field);) {
    switch (field.number) {
    case annotation::kNameIid:
      if (const Text *text = sequence.annotationNames.find(field.value)) {
        result.name = text->text;
        if (text->known >= 0)
          result.key = static_cast<Key>(text->known);
      }
      break;
    case annotation::kName:
      result.name = field.bytes;
      result.key = keyOf(field.bytes);
      break;
    case annotation::kBool:
    case annotation::kUint:
    case annotation::kInt:
    case annotation::kPointer:
      result.kind = field.number == annotation::kBool  ? Annotation::Kind::Bool
                    : field.number == annotation::kInt ? Annotation::Kind::Int
                                                       : Annotation::Kind::Uint;
      result.number = field.value;
      break;
    case annotation::kDouble:
      result.kind = Annotation::Kind::Double;
      result.real = field.real();
      break;
    case annotation::kString:
      result.kind = Annotation::Kind::Text;
      result.text = field.bytes;
      break;
    case annotation::kStringIid:
      result.kind = Annotation::Kind::Text;
      if (const Text *text = sequence.strings.find(field.value))
        result.text = text->text;
      break;
    default:
      break;
    }
  }
  if (in.malformed())
    return packets_.malformed("an annotation");
  item.annotations.push_back(result);
  return rt::Status::okay();
}

rt::Status Reader::clocks(std::string_view message, Item &item) {
  item.kind = Item::Kind::Clocks;
  ProtoIn in(message);
  for (ProtoField field; in.next(field);) {
    if (field.number != fields::clocks::kClock || item.clocks.size() >= kMostClocks)
      continue;
    std::pair<uint32_t, uint64_t> entry;
    ProtoIn inner(field.bytes);
    for (ProtoField part; inner.next(part);)
      if (part.number == fields::clocks::kId)
        entry.first = static_cast<uint32_t>(part.value);
      else if (part.number == fields::clocks::kTimestamp)
        entry.second = part.value;
    item.clocks.push_back(entry);
  }
  return in.malformed() ? packets_.malformed("a clock snapshot") : rt::Status::okay();
}

} // namespace coll::profiler::perfetto
