#include "runtime/exchange/moe/low_latency_nodes.h"

#include "runtime/base/thread.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace coll::rt {

namespace {

using kernels::LowLatencyMessage;

// Tag of the first buffer; the next tag is the second buffer's. They differ from those of the
// normal mode and of links.
constexpr uint64_t kTag = uint64_t{1} << 63;
constexpr uint32_t kTokenBits = 0xffff, kPlaceShift = 16;

// A buffer's calls are numbered from 1.
uint64_t numberOf(int64_t chunk) { return static_cast<uint64_t>(chunk) + 1; }

Status wrong(const std::string &what) {
  return {kCollMismatch, "it sends " + what + " in the low-latency mode"};
}

} // namespace

//===-- life --------------------------------------------------------------------===//

MoeLowLatencyNodes::MoeLowLatencyNodes(std::shared_ptr<dl::GpuContext> gpu,
                                       net::Transport &transport, const MoeWorld &world,
                                       const kernels::LowLatencyShape &shape)
    : gpu_(std::move(gpu)), transport_(transport), world_(world),
      area_(kernels::lowLatencyFarArea(shape, static_cast<uint32_t>(world.numRanks),
                                       static_cast<uint32_t>(world.members()))),
      incoming_(shape), outgoing_(shape) {}

Result<std::unique_ptr<MoeLowLatencyNodes>>
MoeLowLatencyNodes::create(std::shared_ptr<dl::GpuContext> gpu, net::Transport &transport,
                           const MoeWorld &world, const kernels::LowLatencyShape &shape) {
  std::unique_ptr<MoeLowLatencyNodes> nodes(
      new MoeLowLatencyNodes(std::move(gpu), transport, world, shape));
  COLL_RETURN_IF_ERROR(nodes->open());
  return nodes;
}

Status MoeLowLatencyNodes::open() {
  const uint64_t most = transport_.devices().at(0).maxMessageBytes;
  if (area_.messageBytes > most)
    return Status::invalid("a message of the low-latency mode may have " +
                           std::to_string(area_.messageBytes) + " bytes; the transport takes " +
                           std::to_string(most));
  const uint64_t bytes = 2 * area_.bytes;
  Result<dl::GpuMemory> pinned =
      dl::GpuMemory::create(gpu_, dl::GpuMemory::Kind::Pinned, static_cast<int64_t>(bytes));
  if (!pinned)
    return pinned.status();
  pinned_ = pinned.take();
  for (int64_t buffer = 0; buffer < 2; ++buffer)
    std::memset(at(buffer, 0), 0, area_.out);
  Result<net::Memory *> memory = transport_.regMr(0, {pinned_.host(), bytes});
  if (!memory)
    return memory.status();
  registered_ = *memory;
  return Status::okay();
}

MoeLowLatencyNodes::~MoeLowLatencyNodes() {
  stop();
  if (registered_)
    transport_.deregMr(registered_);
}

kernels::LowLatencyFar MoeLowLatencyNodes::of(int64_t buffer) const {
  kernels::LowLatencyFar far;
  far.numRanks = static_cast<uint32_t>(world_.numRanks);
  far.firstRank = static_cast<uint32_t>(world_.rank - world_.place());
  far.area = area_;
  far.memory = pinned_.device() + buffer * static_cast<int64_t>(area_.bytes);
  return far;
}

Status MoeLowLatencyNodes::start(ChunkPump &pump, std::function<Status()> watch,
                                 std::function<void()> fail) {
  auto body = [this, &pump, watch = std::move(watch), fail = std::move(fail)] {
    const Status ended = pump.run(flows(), [&] {
      return isStopping_ ? Status(kCollAborted, "the buffer is destroyed") : watch();
    });
    if (isStopping_)
      return;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      failure_ = ended;
    }
    fail();
  };
  return startThread(thread_, "messages of the low-latency mode", std::move(body));
}

void MoeLowLatencyNodes::stop() {
  isStopping_ = true;
  if (thread_.joinable())
    thread_.join();
}

Status MoeLowLatencyNodes::failure() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

//===-- shapes ------------------------------------------------------------------===//

bool MoeLowLatencyNodes::fits(const kernels::LowLatencyShape &shape) const {
  return kernels::lowLatencyFits(shape, static_cast<uint32_t>(world_.numRanks),
                                 static_cast<uint32_t>(world_.members()), area_);
}

void MoeLowLatencyNodes::expect(const kernels::LowLatencyShape &shape) {
  std::lock_guard<std::mutex> lock(mutex_);
  incoming_ = shape;
}

void MoeLowLatencyNodes::sendAsExpected() {
  std::lock_guard<std::mutex> lock(mutex_);
  outgoing_ = incoming_;
}

kernels::LowLatencyShape MoeLowLatencyNodes::copyOf(const kernels::LowLatencyShape &shape) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return shape;
}

//===-- flows -------------------------------------------------------------------===//

char *MoeLowLatencyNodes::at(int64_t buffer, uint64_t offset) const {
  return pinned_.host() + static_cast<uint64_t>(buffer) * area_.bytes + offset;
}

uint64_t *MoeLowLatencyNodes::wordOf(int64_t buffer, uint64_t offset, int place) const {
  return reinterpret_cast<uint64_t *>(at(buffer, offset)) + place;
}

std::vector<RankFlow> MoeLowLatencyNodes::flows() {
  std::vector<RankFlow> flows;
  for (int rank = 0; rank < world_.numRanks; ++rank)
    if (rank / world_.nodeSize != world_.node())
      for (int64_t buffer : {0, 1})
        for (bool isSend : {false, true})
          flows.push_back(flowOf(rank, buffer, isSend));
  return flows;
}

RankFlow MoeLowLatencyNodes::flowOf(int rank, int64_t buffer, bool isSend) {
  const int first = world_.rank - world_.place();
  const auto index = static_cast<uint64_t>(rank < first ? rank : rank - world_.members());
  RankFlow flow;
  flow.rank = rank;
  flow.isSend = isSend;
  flow.tag = kTag + static_cast<uint64_t>(buffer);
  flow.numChunks = ChunkFlow::kEndless;
  flow.memory = registered_;
  char *const message = at(buffer, (isSend ? area_.out : area_.in) + index * area_.messageBytes);
  flow.slots = {{message, nullptr}};
  const auto isRaised = [=](int64_t chunk, uint64_t offset, int place) {
    const uint64_t word = __atomic_load_n(wordOf(buffer, offset, place), __ATOMIC_ACQUIRE);
    // GPUs count in 32 bits.
    return static_cast<int32_t>(static_cast<uint32_t>(word - numberOf(chunk))) >= 0;
  };
  if (!isSend) {
    flow.bytes = [this](int64_t) { return static_cast<int64_t>(area_.messageBytes); };
    flow.move = [=](int64_t chunk, const ChunkSlot &slot) {
      return admit(rank, buffer, chunk, slot);
    };
    flow.isMoved = [=](int64_t chunk) { return isRaised(chunk, area_.taken, 0); };
    return flow;
  }
  flow.isMoved = [=](int64_t chunk) { return isRaised(chunk, area_.rung, rank); };
  flow.bytes = [=](int64_t) {
    return bytesOf(copyOf(outgoing_), *reinterpret_cast<const LowLatencyMessage *>(message));
  };
  flow.isGone = [=](int64_t chunk) {
    __atomic_store_n(wordOf(buffer, area_.sent, rank), numberOf(chunk), __ATOMIC_RELEASE);
  };
  return flow;
}

//===-- messages ----------------------------------------------------------------===//

int64_t MoeLowLatencyNodes::bytesOf(const kernels::LowLatencyShape &shape,
                                    const LowLatencyMessage &header) const {
  using namespace kernels::low_latency;
  const bool isDispatch = header.kind == LowLatencyMessage::kDispatch;
  const uint64_t before =
      isDispatch ? rowsAt(expertsOfRank(shape), header.tokens, header.numTopk) : kReturnsAt;
  const uint64_t each = uint64_t{header.rowBytes} + (isDispatch ? 0 : kTailBytes);
  return static_cast<int64_t>(before + header.rows * each);
}

Status MoeLowLatencyNodes::admit(int rank, int64_t buffer, int64_t chunk, const ChunkSlot &slot) {
  if (slot.bytes < static_cast<int64_t>(sizeof(LowLatencyMessage)))
    return wrong("an incomplete message");
  const auto &header = *reinterpret_cast<const LowLatencyMessage *>(slot.host);
  const bool isDispatch = header.kind == LowLatencyMessage::kDispatch;
  if ((!isDispatch && header.kind != LowLatencyMessage::kCombine) ||
      header.number != static_cast<uint32_t>(numberOf(chunk)))
    return wrong("a message other than its next one");
  const kernels::LowLatencyShape shape = copyOf(incoming_);
  if (const int64_t bytes = bytesOf(shape, header); slot.bytes != bytes)
    return wrong(std::to_string(slot.bytes) + " bytes for a message of " + std::to_string(bytes));
  COLL_RETURN_IF_ERROR(isDispatch ? admitDispatch(shape, header, slot)
                                  : admitCombine(buffer, shape, header, slot));
  __atomic_store_n(wordOf(buffer, area_.arrived, rank), numberOf(chunk), __ATOMIC_RELEASE);
  return Status::okay();
}

Status MoeLowLatencyNodes::admitDispatch(const kernels::LowLatencyShape &shape,
                                         const LowLatencyMessage &header,
                                         const ChunkSlot &slot) const {
  using namespace kernels::low_latency;
  const uint32_t localExperts = expertsOfRank(shape);
  if (header.tokens > shape.maxTokens || header.numTopk > shape.numTopk ||
      header.entries > header.tokens * header.numTopk || header.rows > header.tokens ||
      (header.rowBytes != plainBytes(shape.hidden) && header.rowBytes != fp8Bytes(shape.hidden)))
    return wrong("a header with impossible values");
  const auto *begins = reinterpret_cast<const uint32_t *>(slot.host + kBeginsAt);
  bool isOrdered = begins[0] == 0 && begins[localExperts] == header.entries;
  for (uint32_t e = 0; e < localExperts; ++e)
    isOrdered &= begins[e] <= begins[e + 1] && begins[e + 1] - begins[e] <= header.tokens;
  if (!isOrdered)
    return wrong("impossible numbers of tokens");
  const auto *entries = reinterpret_cast<const uint64_t *>(slot.host + entriesAt(localExperts));
  for (uint32_t i = 0; i < header.entries; ++i) {
    const auto says = static_cast<uint32_t>(entries[i]);
    if (entries[i] >> 32 >= header.rows || (says & kTokenBits) >= header.tokens ||
        says >> kPlaceShift >= header.numTopk)
      return wrong("an unknown token");
  }
  return Status::okay();
}

Status MoeLowLatencyNodes::admitCombine(int64_t buffer, const kernels::LowLatencyShape &shape,
                                        const LowLatencyMessage &header, const ChunkSlot &slot) {
  using namespace kernels::low_latency;
  // Kernels step by rows of the call's form, which may be longer, so the number of rows is limited
  // too.
  if ((header.rowBytes != plainBytes(shape.hidden) && header.rowBytes != logBytes(shape.hidden)) ||
      header.rows > shape.maxTokens * std::min(shape.numTopk, expertsOfRank(shape)))
    return wrong("a header with impossible values");
  const char *tail = slot.host + kReturnsAt + header.rowBytes;
  for (uint32_t row = 0; row < header.rows; ++row, tail += header.rowBytes + kTailBytes) {
    uint32_t says = 0;
    std::memcpy(&says, tail, sizeof says);
    const uint32_t token = says & kTokenBits, place = says >> kPlaceShift;
    if (token >= shape.maxTokens || place >= shape.numTopk)
      return wrong("a row of an unknown token");
    __atomic_store_n(wordOf(buffer, area_.returns, static_cast<int>(token * shape.numTopk + place)),
                     uint64_t{header.number} << 32 | row, __ATOMIC_RELAXED);
  }
  return Status::okay();
}

} // namespace coll::rt
