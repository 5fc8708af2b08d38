// fields.h - field numbers of Perfetto's published messages (protos/perfetto/trace of
// google/perfetto), as far as they are written and read here.

#ifndef COLL_RUNTIME_PROFILER_PERFETTO_FIELDS_H
#define COLL_RUNTIME_PROFILER_PERFETTO_FIELDS_H

#include <cstdint>

namespace coll::profiler::perfetto::fields {

namespace trace {
inline constexpr uint32_t kPacket = 1;
}

namespace packet {
inline constexpr uint32_t kClockSnapshot = 6, kTimestamp = 8, kSequenceId = 10, kTrackEvent = 11,
                          kInternedData = 12, kSequenceFlags = 13, kPreviousPacketDropped = 42,
                          kTimestampClockId = 58, kDefaults = 59, kTrackDescriptor = 60,
                          kFirstPacketOnSequence = 87;
inline constexpr uint64_t kStateCleared = 1, kNeedsState = 2; // bits of kSequenceFlags
} // namespace packet

namespace defaults {
inline constexpr uint32_t kTrackEventDefaults = 11, kTimestampClockId = 58;
} // namespace defaults

namespace event {
inline constexpr uint32_t kCategoryIids = 3, kDebugAnnotations = 4, kType = 9, kNameIid = 10,
                          kTrackUuid = 11, kCategories = 22, kName = 23, kCounterValue = 30,
                          kDoubleCounterValue = 44, kFlowIds = 47, kTerminatingFlowIds = 48;
} // namespace event

namespace annotation {
inline constexpr uint32_t kNameIid = 1, kBool = 2, kUint = 3, kInt = 4, kDouble = 5, kString = 6,
                          kPointer = 7, kName = 10, kStringIid = 17;
} // namespace annotation

namespace interned {
inline constexpr uint32_t kCategories = 1, kNames = 2, kAnnotationNames = 3, kStrings = 29;
inline constexpr uint32_t kIid = 1, kText = 2; // of each entry
} // namespace interned

namespace track {
inline constexpr uint32_t kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParentUuid = 5,
                          kCounter = 8, kChildOrdering = 11, kSiblingOrderRank = 12;
inline constexpr uint64_t kExplicitOrder = 3;
} // namespace track

namespace process {
inline constexpr uint32_t kPid = 1, kName = 6;
}

namespace counter {
inline constexpr uint32_t kUnitName = 6;
}

namespace clocks {
inline constexpr uint32_t kClock = 1, kId = 1, kTimestamp = 2;
} // namespace clocks

} // namespace coll::profiler::perfetto::fields

#endif // COLL_RUNTIME_PROFILER_PERFETTO_FIELDS_H
