// recording_plugin.cc - a profiler plugin that records its calls. Built once for each version of
// the ABI: RECORDS_VERSION.

#include "runtime/net/nccl_plugin/net_event.h"
#include "runtime/profiler/abi/tables.h"
#include "test/profiler/host/recording.h"

#include <chrono>
#include <stdexcept>
#include <thread>

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define VERSIONED(name) CONCAT(name, RECORDS_VERSION)

namespace coll::profiler::test {
namespace {

using namespace abi;
using Table = VERSIONED(ProfilerV);
using Descriptor = VERSIONED(EventDescriptorV);
using StateArgs = VERSIONED(StateArgsV);

Recording recording;

uint64_t toNumber(void *handle) { return reinterpret_cast<uint64_t>(handle) / 16; }
void *toHandle(uint64_t number) { return reinterpret_cast<void *>(number * 16); }

void add(Record record) {
  std::lock_guard<std::mutex> lock(recording.mutex);
  recording.records.push_back(std::move(record));
}

NcclResult open(void **context, int *mask, int rank, uint64_t id) {
  if (recording.failsInit)
    return kNcclInternalError;
  std::lock_guard<std::mutex> lock(recording.mutex);
  *context = toHandle(++recording.numContexts);
  *mask = recording.mask;
  recording.masks.push_back(mask);
  Record record{Record::Kind::Init, recording.numContexts};
  record.number = rank;
  record.sequence = id;
  recording.records.push_back(record);
  return kNcclSuccess;
}

#if RECORDS_VERSION < 4
NcclResult init(void **context, int *mask) { return open(context, mask, -1, 0); }
#elif RECORDS_VERSION == 4
NcclResult init(void **context, int *mask, const char *, uint64_t id, int, int, int rank,
                NcclLogger) {
  return open(context, mask, rank, id);
}
#else
NcclResult init(void **context, uint64_t id, int *mask, const char *, int, int, int rank,
                NcclLogger) {
  return open(context, mask, rank, id);
}
#endif

const char *textOf(const char *text) { return text ? text : ""; }

void describe(const Descriptor &event, Record &record) {
  switch (event.type) {
  case kColl:
    record.function = textOf(event.coll.func);
    record.datatype = textOf(event.coll.datatype);
    record.count = event.coll.count;
    record.sequence = event.coll.seqNumber;
    break;
  case kP2p:
    record.function = textOf(event.p2p.func);
    record.datatype = textOf(event.p2p.datatype);
    record.count = event.p2p.count;
    record.number = event.p2p.peer;
    break;
  case kProxyOp:
    record.number = event.proxyOp.peer;
    record.count = static_cast<uint64_t>(event.proxyOp.nSteps);
    record.isSend = event.proxyOp.isSend;
    break;
  case kProxyStep:
    record.number = event.proxyStep.step;
    break;
#if RECORDS_VERSION >= 3
  case kNetPlugin:
    if (event.netPlugin.id == COLL_NET_EVENT_ID)
      record.isSend =
          static_cast<const CollNetEvent *>(event.netPlugin.data)->direction == COLL_NET_SEND;
    break;
#endif
#if RECORDS_VERSION >= 5
  case kCollApi:
    record.function = textOf(event.collApi.func);
    record.count = event.collApi.count;
    break;
  case kP2pApi:
    record.function = textOf(event.p2pApi.func);
    record.count = event.p2pApi.count;
    break;
#endif
  default:
    break;
  }
#if RECORDS_VERSION >= 5
  if (event.type == kColl)
    record.parentGroup = toNumber(event.coll.parentGroup);
  if (event.type == kP2p)
    record.parentGroup = toNumber(event.p2p.parentGroup);
#endif
#if RECORDS_VERSION >= 7
  if (event.type == kColl)
    record.userTag = event.coll.userTag;
  if (event.type == kP2p)
    record.userTag = event.p2p.userTag;
#endif
}

NcclResult startEvent(void *context, void **handle, Descriptor *event) {
  if (recording.throws)
    throw std::runtime_error("a plugin that throws");
  if (recording.failsStart) {
    *handle = reinterpret_cast<void *>(0xdead0);
    return kNcclInternalError;
  }
  if (recording.isSlow)
    std::this_thread::sleep_for(std::chrono::microseconds(300));
  Record record{Record::Kind::Start, toNumber(context)};
  record.parent = toNumber(event->parent);
  record.type = event->type;
  record.rank = event->rank;
  describe(*event, record);
  std::lock_guard<std::mutex> lock(recording.mutex);
  if (!recording.givesNull)
    record.handle = ++recording.numHandles;
  *handle = toHandle(record.handle);
  recording.records.push_back(record);
  return kNcclSuccess;
}

NcclResult stopEvent(void *handle) {
  add({Record::Kind::Stop, 0, toNumber(handle)});
  return kNcclSuccess;
}

NcclResult recordEventState(void *handle, EventState state, StateArgs *args) {
  Record record{Record::Kind::State, 0, toNumber(handle)};
  record.state = state;
#if RECORDS_VERSION >= 4
  if (args && state >= kProxyStepSendGpuWait && state <= kProxyStepRecvGpuWait)
    record.bytes = args->proxyStep.transSize;
#else
  (void)args;
#endif
  add(record);
  return kNcclSuccess;
}

NcclResult finalize(void *context) {
  add({Record::Kind::Finalize, toNumber(context)});
  return kNcclSuccess;
}

} // namespace
} // namespace coll::profiler::test

#define COLL_EXPORT extern "C" __attribute__((visibility("default")))

COLL_EXPORT coll::profiler::test::Recording *collRecording() {
  return &coll::profiler::test::recording;
}

namespace test = coll::profiler::test;
COLL_EXPORT const test::Table VERSIONED(ncclProfiler_v) = {
    "recording",   test::init, test::startEvent, test::stopEvent, test::recordEventState,
    test::finalize};
