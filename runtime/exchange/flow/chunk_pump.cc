#include "runtime/exchange/flow/chunk_pump.h"

#include "runtime/net/socket.h"

#include <algorithm>
#include <string>
#include <thread>

namespace coll::rt {

namespace {

constexpr int64_t kUnit = 256;
// How long a wait polls without progress: within a call; and for calls that are not announced,
// because they follow one another closely.
constexpr int64_t kSpinUs = 200, kEndlessSpinUs = 2000;

} // namespace

// A flow with its rank, and its places if it has slots of its own.
struct ChunkPump::Running {
  int rank;
  std::unique_ptr<std::vector<ChunkPlace>> own;
  ChunkRun run;
};

Result<std::unique_ptr<ChunkPump>> ChunkPump::create(std::shared_ptr<dl::GpuContext> gpu,
                                                     net::Transport &transport, RankLinks &links,
                                                     int rank, int numRanks,
                                                     const Options &options) {
  std::unique_ptr<ChunkPump> pump(
      new ChunkPump(std::move(gpu), transport, links, options.timeoutUs));
  COLL_RETURN_IF_ERROR(pump->open(rank, numRanks, options));
  return pump;
}

Status ChunkPump::open(int rank, int numRanks, const Options &options) {
  const auto far = static_cast<int64_t>(options.far.size());
  const int64_t bytes =
      2 * (kFarSlots * far * options.slotBytes + (numRanks - 1 - far) * kNearBytes) + kUnit;
  Result<dl::GpuMemory> pinned = dl::GpuMemory::create(gpu_, dl::GpuMemory::Kind::Pinned, bytes);
  if (!pinned)
    return pinned.status();
  pinned_ = pinned.take();
  Result<net::Memory *> memory =
      transport_.regMr(0, {pinned_.host(), static_cast<uint64_t>(bytes)});
  if (!memory)
    return memory.status();
  registered_ = *memory;
  int64_t used = 0;
  for (int r = 0; r < numRanks; ++r) {
    lanes_.emplace_back();
    if (r == rank)
      continue;
    const bool isFar = std::count(options.far.begin(), options.far.end(), r) > 0;
    Lane &lane = lanes_.back();
    lane.slotBytes = isFar ? options.slotBytes : kNearBytes;
    for (int i = 0; i < (isFar ? kFarSlots : 1); ++i)
      for (std::vector<ChunkPlace> *places : {&lane.out, &lane.in})
        COLL_RETURN_IF_ERROR(addPlace(*places, lane.slotBytes, used));
  }
  return Status::okay();
}

Status ChunkPump::addPlace(std::vector<ChunkPlace> &places, int64_t slotBytes, int64_t &used) {
  places.emplace_back();
  places.back().slot = {pinned_.host() + used, pinned_.device() + used};
  used += slotBytes;
  return gpu_->check(gpu_->cuda().eventCreate(&places.back().event, dl::kCudaEventNoTiming),
                     "cuEventCreate");
}

ChunkPump::~ChunkPump() {
  for (Lane &lane : lanes_)
    for (std::vector<ChunkPlace> *places : {&lane.out, &lane.in})
      for (ChunkPlace &place : *places)
        if (place.event)
          (void)gpu_->cuda().eventDestroy(place.event);
  if (registered_)
    transport_.deregMr(registered_);
}

const ChunkSlot &ChunkPump::slotOf(int rank, bool isSend, int64_t chunk) const {
  const Lane &lane = lanes_[static_cast<size_t>(rank)];
  const std::vector<ChunkPlace> &places = isSend ? lane.out : lane.in;
  return places[static_cast<size_t>(chunk) % places.size()].slot;
}

ChunkPump::Running ChunkPump::start(RankFlow &flow) {
  Lane &lane = lanes_[static_cast<size_t>(flow.rank)];
  auto own = std::make_unique<std::vector<ChunkPlace>>();
  for (const ChunkSlot &slot : flow.slots) {
    own->emplace_back();
    own->back().slot = slot;
  }
  const bool hasOwn = !own->empty();
  std::vector<ChunkPlace> &places = hasOwn ? *own : flow.isSend ? lane.out : lane.in;
  const net::Memory *memory = hasOwn ? flow.memory : registered_;
  flow.mayBeShorter |= hasOwn;
  ChunkRun run(std::move(flow), {links_.to(flow.rank), places, memory, gpu_.get(), &bytesSent_});
  return {flow.rank, std::move(own), std::move(run)};
}

Status ChunkPump::run(std::vector<RankFlow> flows, const std::function<Status()> &watch) {
  std::vector<Running> all;
  bool isEndless = false;
  for (RankFlow &flow : flows) {
    isEndless |= flow.numChunks == ChunkFlow::kEndless;
    all.push_back(start(flow));
  }
  const int64_t spinUs = isEndless ? kEndlessSpinUs : kSpinUs;
  int64_t lastUs = net::nowUs();
  bool isResting = false;
  while (true) {
    const Running *waiting = nullptr;
    bool isMoving = false;
    for (Running &running : all) {
      if (running.run.isDone())
        continue;
      Result<bool> moved = running.run.advance();
      if (!moved)
        return links_.explain(running.rank, moved.status());
      isMoving |= *moved;
      // Blame a rank that sends nothing before one that does not receive.
      if (!running.run.isDone() && (!waiting || !running.run.flow().isSend))
        waiting = &running;
    }
    if (!waiting)
      return Status::okay();
    COLL_RETURN_IF_ERROR(watch());
    const int64_t nowUs = net::nowUs();
    if (isMoving) {
      lastUs = nowUs;
      isResting = false;
    } else if (!isEndless && nowUs - lastUs > timeoutUs_)
      return {kCollTimeout, "rank " + std::to_string(waiting->rank) +
                                (waiting->run.flow().isSend ? " takes nothing" : " sends nothing")};
    if (nowUs - lastUs <= spinUs) {
      std::this_thread::yield();
      continue;
    }
    for (const Running &running : all)
      if (!isResting)
        links_.to(running.rank).rest();
    isResting = true;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

} // namespace coll::rt
