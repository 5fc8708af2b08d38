#include "runtime/step/device/gpu/stream_trace.h"

#include "runtime/step/abi/call_trace.h"

#include <algorithm>
#include <utility>

namespace coll::rt {

namespace {

// One thread: *slot = the GPU's clock.
constexpr char kStampImage[] = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry coll_stamp(.param .u64 slot)
{
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [slot];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u64 %rd3, %globaltimer;
  st.global.u64 [%rd2], %rd3;
  ret;
}
)";

constexpr size_t kClockSlot = 2 * StreamTrace::kMostWorks;
constexpr int kFirstReadings = 8;
// More than two quartz clocks differ by.
constexpr int64_t kDriftPerMillion = 100;

int64_t *slotOf(const dl::GpuMemory &slots, size_t index) {
  return reinterpret_cast<int64_t *>(slots.host()) + index;
}

} // namespace

int64_t StreamTrace::ClockReading::errorAt(int64_t ns) const {
  return errorNs + std::max<int64_t>(ns - hostNs, 0) / 1'000'000 * kDriftPerMillion;
}

Result<std::unique_ptr<StreamTrace>> StreamTrace::create(gpu::Gpu &gpu, dl::CudaStream stream) {
  std::unique_ptr<StreamTrace> made(new StreamTrace(gpu, stream));
  COLL_RETURN_IF_ERROR(made->open());
  return made;
}

Status StreamTrace::open() {
  const dl::Cuda &cuda = gpu_.cuda();
  const auto &context = gpu_.context();
  COLL_RETURN_IF_ERROR(context->check(cuda.moduleLoad(&module_, kStampImage, 0, nullptr, nullptr),
                                      "cuModuleLoadDataEx"));
  COLL_RETURN_IF_ERROR(context->check(cuda.moduleGetFunction(&function_, module_, "coll_stamp"),
                                      "cuModuleGetFunction"));
  const int64_t bytes = static_cast<int64_t>((kClockSlot + 1) * sizeof(int64_t));
  Result<dl::GpuMemory> slots = dl::GpuMemory::create(context, dl::GpuMemory::Kind::Pinned, bytes);
  if (!slots)
    return slots.status();
  slots_ = slots.take();
  std::fill_n(slotOf(slots_, 0), kClockSlot + 1, 0);
  for (int i = 0; i < kFirstReadings; ++i)
    COLL_RETURN_IF_ERROR(readClock());
  return {};
}

StreamTrace::~StreamTrace() {
  if (module_)
    (void)gpu_.cuda().moduleUnload(module_);
}

Status StreamTrace::stamp(size_t slot) const {
  char *to = slots_.device() + slot * sizeof(int64_t);
  void *parameters[] = {&to};
  return gpu_.context()->check(
      gpu_.cuda().launchKernel(function_, 1, 1, 1, 1, 1, 1, 0, stream_, parameters, nullptr),
      "cuLaunchKernel");
}

Status StreamTrace::readClock() {
  const int64_t beforeNs = traceClockNs();
  COLL_RETURN_IF_ERROR(stamp(kClockSlot));
  COLL_RETURN_IF_ERROR(
      gpu_.context()->check(gpu_.cuda().streamSynchronize(stream_), "cuStreamSynchronize"));
  const int64_t afterNs = traceClockNs();
  const int64_t middleNs = beforeNs + (afterNs - beforeNs) / 2;
  const ClockReading reading{*slotOf(slots_, kClockSlot) - middleNs, afterNs - middleNs + 1,
                             afterNs};
  if (clock_.hostNs == 0 || reading.errorNs <= clock_.errorAt(afterNs))
    clock_ = reading;
  return {};
}

//===-- what is put on the stream -----------------------------------------------===//

void StreamTrace::start(int rank, uint64_t function) {
  finish(/*isOk=*/false);
  rank_ = rank;
  functionSpan_ = function;
}

size_t StreamTrace::add(const Work &work) {
  if (works_.list.size() == kMostWorks) {
    ++works_.dropped;
    return kMostWorks;
  }
  works_.list.push_back(work);
  const size_t number = works_.list.size() - 1;
  // If a stamp cannot be put on the stream, the work is not reported; its own outcome counts.
  (void)stamp(2 * number);
  return number;
}

void StreamTrace::end(size_t number) {
  if (number == kMostWorks)
    return;
  works_.list[number].hasEnded = true;
  (void)stamp(2 * number + 1);
}

// Ends the open call that began last, unless it was dropped.
void StreamTrace::endCall(const Call &call) {
  for (size_t i = works_.list.size(); i > 0; --i) {
    const Work &work = works_.list[i - 1];
    if (work.group && !work.hasEnded && work.site.trace == call.site.trace &&
        work.site.op == call.site.op)
      return end(i - 1);
  }
}

StreamTrace::Works StreamTrace::takeWorks() { return std::exchange(works_, {}); }

uint64_t StreamTrace::replay(const Works &works, int64_t number) {
  replayed_ = &works;
  TraceEvent event;
  event.level = TraceLevel::Launch;
  event.rank = rank_;
  event.id = newTraceId();
  event.parent = functionSpan_;
  event.name = "replay";
  event.number = static_cast<int32_t>(number);
  event.isReplay = true;
  trace(event);
  return event.id;
}

//===-- what the trace is told --------------------------------------------------===//

void StreamTrace::finish(bool isOk) {
  const Works *replayed = std::exchange(replayed_, nullptr);
  if (isOk && readClock().ok()) {
    tell(replayed ? *replayed : works_, replayed != nullptr);
  } else {
    for (const Work &work : works_.list)
      if (work.group && work.site.trace != 0 && work.hasEnded)
        traceEnd(work.call, work.group, /*failed=*/true);
    std::fill_n(slotOf(slots_, 0), 2 * kMostWorks, 0);
  }
  works_ = {};
}

void StreamTrace::tell(const Works &works, bool isReplay) {
  for (size_t i = 0; i < works.list.size(); ++i) {
    int64_t *slots = slotOf(slots_, 2 * i);
    const int64_t begin = std::exchange(slots[0], 0), end = std::exchange(slots[1], 0);
    tellWork(works.list[i], begin, end, isReplay);
  }
  if (works.dropped == 0)
    return;
  TraceEvent event;
  event.level = TraceLevel::Device;
  event.phase = TracePhase::Dropped;
  event.rank = rank_;
  event.number = static_cast<int32_t>(std::min<int64_t>(works.dropped, INT32_MAX));
  trace(event);
}

void StreamTrace::tellWork(const Work &work, int64_t beginNs, int64_t endNs, bool isReplay) {
  int64_t stamps[] = {beginNs, endNs};
  const bool isWhole = beginNs != 0 && endNs >= beginNs;
  if (!work.group) {
    if (isWhole)
      tellDevice(work, isReplay ? functionSpan_ : work.site.trace, stamps, isReplay);
    return;
  }
  uint64_t id = work.site.trace;
  if (isReplay && !isWhole)
    return;
  if (isReplay) {
    id = newTraceId();
    tellCall(work, TracePhase::Begin, id, toHost(beginNs), isReplay);
    tellCall(work, TracePhase::Issued, id, toHost(beginNs), isReplay);
  }
  if (isWhole)
    tellDevice(work, id, stamps, isReplay);
  // Without stamps, it is only known that the work has ended by now.
  tellCall(work, TracePhase::End, id, isWhole ? toHost(endNs) : 0, isReplay);
}

void StreamTrace::tellDevice(const Work &work, uint64_t parent, int64_t deviceNs[2],
                             bool isReplay) {
  TraceEvent event;
  event.level = TraceLevel::Device;
  event.rank = rank_;
  event.op = work.site.op;
  event.id = newTraceId();
  event.parent = parent;
  event.isReplay = isReplay;
  event.name = work.group ? kindName(work.call.kind) : work.site.within;
  event.bytes = work.bytes;
  event.group = work.group;
  event.errorNs = clock_.errorAt(toHost(deviceNs[0]));
  event.deviceNs = deviceNs[0];
  event.timeNs = toHost(deviceNs[0]);
  trace(event);
  event.phase = TracePhase::End;
  event.deviceNs = deviceNs[1];
  event.timeNs = toHost(deviceNs[1]);
  trace(event);
}

void StreamTrace::tellCall(const Work &work, TracePhase phase, uint64_t id, int64_t timeNs,
                           bool isReplay) {
  if (id == 0)
    return;
  TraceCall details;
  TraceEvent event;
  if (phase == TracePhase::Begin)
    describeCall(work.call, *work.group, event, details);
  event.level = TraceLevel::Call;
  event.phase = phase;
  event.rank = rank_;
  event.op = work.site.op;
  event.id = id;
  event.parent = functionSpan_;
  event.bytes = work.bytes;
  event.timeNs = timeNs;
  event.isReplay = isReplay;
  trace(event);
}

} // namespace coll::rt
