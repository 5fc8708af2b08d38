#include "runtime/backend/net/gpu/mover.h"

#include "runtime/backend/net/mesh.h"
#include "runtime/base/dtype.h"
#include "runtime/kernels/compress/compress.h"
#include "runtime/kernels/pages/page_copy.h"
#include "runtime/net/gpu/transport.h"

#include <algorithm>
#include <cstring>

namespace coll::rt::network {

namespace {

// Scratch buffers that are kept for the next operation; more are returned to the GPU.
constexpr size_t kKeptScratch = 8;

int64_t misalignment(const void *data) { return reinterpret_cast<intptr_t>(data) & 15; }

ChannelItem copyItem(void *dst, const void *src, int64_t bytes) {
  ChannelItem item{};
  item.op = ChannelOp::Copy;
  item.dst = dst;
  item.src[0] = src;
  item.bytes = static_cast<uint64_t>(bytes);
  return item;
}

} // namespace

std::optional<GpuPath> parseGpuPath(const std::string &name) {
  for (GpuPath path : {GpuPath::Kernel, GpuPath::Unpack, GpuPath::Pack, GpuPath::Copy})
    if (name == nameOf(path))
      return path;
  return std::nullopt;
}

const char *nameOf(GpuPath path) {
  constexpr const char *kNames[] = {"kernel", "unpack", "pack", "copy"};
  return kNames[static_cast<size_t>(path)];
}

//===-- life --------------------------------------------------------------------===//

Result<std::unique_ptr<GpuMover>> GpuMover::create(const GpuPlatform &platform, int ordinal,
                                                   const GpuMoverOptions &options) {
  Result<std::shared_ptr<GpuContext>> gpu = GpuContext::open(*platform.cuda, ordinal);
  if (!gpu)
    return gpu.status();
  Result<std::unique_ptr<GpuChannel>> channel = GpuChannel::create(platform, *gpu, options.channel);
  if (!channel)
    return channel.status();
  std::unique_ptr<GpuMover> mover(new GpuMover(options));
  mover->channel_ = channel.take();
  dl::CudaScope scope(*platform.cuda, (*gpu)->context());
  COLL_RETURN_IF_ERROR((*gpu)->check(
      platform.cuda->streamCreate(&mover->copies_, dl::kCudaStreamNonBlocking), "cuStreamCreate"));
  Result<GpuMemory> bounce = GpuMemory::create(*gpu, GpuMemory::Kind::Pinned, kBounceBytes);
  if (!bounce)
    return bounce.status();
  mover->bounce_ = bounce.take();
  return mover;
}

GpuMover::~GpuMover() {
  if (!copies_)
    return;
  drain();
  const dl::Cuda &cuda = channel_->gpu()->cuda();
  dl::CudaScope scope(cuda, channel_->gpu()->context());
  cuda.streamDestroy(copies_);
}

Status GpuMover::makeSlots(Slots &slots) {
  Result<GpuMemory> memory =
      GpuMemory::create(channel_->gpu(), GpuMemory::Kind::Pinned, kChunkSlots * kSlotStride);
  if (!memory)
    return memory.status();
  const int32_t first = static_cast<int32_t>(slots.chunks.size()) * kChunkSlots;
  slots.chunks.push_back(memory.take());
  for (int32_t slot = first + kChunkSlots - 1; slot >= first; --slot)
    slots.free.push_back(slot);
  return {};
}

//===-- inside the GPU ----------------------------------------------------------===//

Result<Mover::Ticket> GpuMover::copy(void *dst, const void *src, int64_t bytes) {
  if (dst == src || bytes == 0)
    return kDone;
  return channel_->post(GpuChannel::In, copyItem(dst, src, bytes));
}

Result<Mover::Ticket> GpuMover::copyRows(void *dst, int64_t dstPitch, const void *src,
                                         int64_t srcPitch, int64_t rowBytes, int64_t rows) {
  if (rowBytes == 0 || rows == 0)
    return kDone;
  ChannelItem item = copyItem(dst, src, rowBytes);
  item.op = ChannelOp::CopyRows;
  item.rows = static_cast<uint64_t>(rows);
  item.dstPitch = static_cast<uint64_t>(dstPitch);
  item.srcPitch = static_cast<uint64_t>(srcPitch);
  return channel_->post(GpuChannel::In, item);
}

Result<Mover::Ticket> GpuMover::reduce(CollDtype dtype, CollReduction reduction,
                                       const void *const *srcs, int numSrcs, void *dst,
                                       int64_t elems) {
  if (numSrcs > static_cast<int>(kChannelMaxSources))
    return Status(kCollUnsupported, "GPU buffers of " + std::to_string(numSrcs) +
                                        " ranks cannot be combined at once; " +
                                        std::to_string(kChannelMaxSources) + " at most");
  if (elems == 0)
    return kDone;
  ChannelItem item = copyItem(dst, srcs[0], elems * dtypeSize(dtype));
  item.op = ChannelOp::Reduce;
  item.src[1] = numSrcs > 1 ? srcs[1] : nullptr;
  item.dtype = static_cast<uint32_t>(dtype);
  item.reduction = static_cast<uint32_t>(reduction);
  item.numSources = static_cast<uint32_t>(numSrcs);
  item.divisor = reduction == kCollAvg ? item.numSources : 0;
  std::vector<const void *> table;
  if (numSrcs > 2)
    table.assign(srcs, srcs + numSrcs);
  return channel_->post(GpuChannel::In, item, table);
}

Result<Mover::Ticket> GpuMover::divide(CollDtype dtype, void *dst, int64_t elems, int divisor) {
  if (elems == 0)
    return kDone;
  ChannelItem item = copyItem(dst, dst, elems * dtypeSize(dtype));
  item.op = ChannelOp::Reduce;
  item.dtype = static_cast<uint32_t>(dtype);
  item.reduction = kCollAvg;
  item.numSources = 1;
  item.divisor = static_cast<uint32_t>(divisor);
  return channel_->post(GpuChannel::In, item);
}

Status GpuMover::waitFor(Ticket ticket) {
  return ticket == kDone ? Status::okay() : channel_->waitFor(ticket);
}

Status GpuMover::zero(void *dst, int64_t bytes) {
  const GpuContext &gpu = *channel_->gpu();
  dl::CudaScope scope(gpu.cuda(), gpu.context());
  COLL_RETURN_IF_ERROR(gpu.check(gpu.cuda().memsetD8Async(reinterpret_cast<dl::CudaAddress>(dst), 0,
                                                          static_cast<size_t>(bytes), copies_),
                                 "cuMemsetD8Async"));
  return gpu.check(gpu.cuda().streamSynchronize(copies_), "cuStreamSynchronize");
}

Status GpuMover::copyNow(void *dst, const void *src, int64_t bytes) {
  if (bytes == 0 || dst == src)
    return {};
  const GpuContext &gpu = *channel_->gpu();
  dl::CudaScope scope(gpu.cuda(), gpu.context());
  COLL_RETURN_IF_ERROR(gpu.check(gpu.cuda().memcpyAsync(reinterpret_cast<dl::CudaAddress>(dst),
                                                        reinterpret_cast<dl::CudaAddress>(src),
                                                        static_cast<size_t>(bytes), copies_),
                                 "cuMemcpyAsync"));
  return gpu.check(gpu.cuda().streamSynchronize(copies_), "cuStreamSynchronize");
}

Status GpuMover::read(void *host, const void *src, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += kBounceBytes) {
    const int64_t part = std::min(bytes - at, kBounceBytes);
    COLL_RETURN_IF_ERROR(copyNow(bounce_.device(), static_cast<const char *>(src) + at, part));
    std::memcpy(static_cast<char *>(host) + at, bounce_.host(), static_cast<size_t>(part));
  }
  return {};
}

Status GpuMover::write(void *dst, const void *host, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += kBounceBytes) {
    const int64_t part = std::min(bytes - at, kBounceBytes);
    std::memcpy(bounce_.host(), static_cast<const char *>(host) + at, static_cast<size_t>(part));
    COLL_RETURN_IF_ERROR(copyNow(static_cast<char *>(dst) + at, bounce_.device(), part));
  }
  return {};
}

//===-- messages ----------------------------------------------------------------===//

Result<std::optional<MessagePart>> GpuMover::take(Slots &slots, void *data, int64_t bytes,
                                                  bool first) {
  if (bytes > kSlotBytes)
    return Status::internal("a message of " + std::to_string(bytes) + " bytes for a slot");
  if (slots.free.empty() && (first || slots.chunks.size() * kChunkSlots < kSlots))
    COLL_RETURN_IF_ERROR(makeSlots(slots));
  if (slots.free.empty())
    return std::optional<MessagePart>();
  MessagePart part;
  part.slot = slots.free.back();
  slots.free.pop_back();
  part.slots = &slots.free;
  part.data = data;
  const auto size = static_cast<uint64_t>(bytes);
  if (compresses(bytes)) {
    part.compressed = size;
    part.segment = {slots.host(part.slot), compressedBound(size), nullptr};
  } else {
    // As unaligned as the buffer, so that the kernel can move 16 bytes at a time.
    part.segment = {slots.host(part.slot) + misalignment(data), size, nullptr};
  }
  return std::optional<MessagePart>(part);
}

MessagePart GpuMover::direct(void *data, int64_t bytes) const {
  MessagePart part;
  part.data = data;
  part.segment = {data, static_cast<uint64_t>(bytes), options_.memory};
  return part;
}

Result<std::optional<MessagePart>> GpuMover::load(Link &link, const void *src, int64_t bytes,
                                                  bool first) {
  void *data = const_cast<void *>(src);
  if (options_.path == GpuPath::Copy && !takesSlot(bytes))
    return std::optional<MessagePart>(direct(data, bytes));
  if (options_.path != GpuPath::Pack || takesSlot(bytes))
    return loadSlot(src, bytes, first);
  // Pack slots are freed in order: a lane must not wait for the slot of another lane.
  const auto &connection = static_cast<const net::DeviceConnection &>(link.connection());
  if (connection.packRoom() <= unsent_[&link])
    return loadSlot(src, bytes, first);
  ++unsent_[&link];
  MessagePart part = direct(data, bytes);
  part.to = &link;
  return std::optional<MessagePart>(part);
}

Result<std::optional<MessagePart>> GpuMover::loadSlot(const void *src, int64_t bytes, bool first) {
  void *data = const_cast<void *>(src);
  Result<std::optional<MessagePart>> taken = take(out_, data, bytes, first);
  if (!taken || !*taken)
    return taken;
  MessagePart &part = **taken;
  char *slot = out_.device(part.slot);
  ChannelItem item = copyItem(slot + misalignment(data), src, bytes);
  if (part.compressed) {
    item = copyItem(slot, src, static_cast<int64_t>(part.segment.bytes));
    item.op = ChannelOp::Compress;
    item.srcBytes = part.compressed;
  }
  Result<Ticket> filled = channel_->post(GpuChannel::Out, item);
  if (!filled)
    return filled.status();
  part.filled = *filled;
  return taken;
}

// Uses copies: for a page that is contiguous on both sides the kernel would not be faster.
Status GpuMover::fillPages(MessagePart &part, net::Request *request) {
  auto &connection = static_cast<net::DeviceConnection &>(part.to->connection());
  char *const bounce = reinterpret_cast<char *>(connection.packView().bounce);
  for (const PageDescriptor &page : connection.packPages(request)) {
    const char *from = static_cast<const char *>(part.data) + page.bufferOff;
    Result<Ticket> filled =
        channel_->post(GpuChannel::Out, copyItem(bounce + page.bounceOff, from, page.len));
    if (!filled)
      return filled.status();
    part.filled = *filled;
  }
  return {};
}

Status GpuMover::feed(MessagePart &part, net::Request *request) {
  if (part.filled == kDone) {
    COLL_RETURN_IF_ERROR(fillPages(part, request));
    --unsent_[part.to];
  }
  Result<bool> done = channel_->isDone(part.filled);
  if (!done || !*done)
    return done.status();
  static_cast<net::DeviceConnection &>(part.to->connection()).packed(request);
  part.to = nullptr;
  return {};
}

Result<bool> GpuMover::isFilled(MessagePart &part) {
  if (part.filled == kDone)
    return true;
  Result<bool> done = channel_->isDone(part.filled);
  if (!done || !*done || !part.compressed)
    return done;
  CompressedHeader header;
  std::memcpy(&header, part.segment.data, sizeof(header));
  if (header.bytes > compressedBound(part.compressed))
    return Status::internal("a compressed message of " + std::to_string(header.bytes) + " bytes");
  part.segment.bytes = header.bytes;
  return true;
}

Result<std::optional<MessagePart>> GpuMover::expect(Link &link, void *dst, int64_t bytes,
                                                    bool first) {
  if (takesSlot(bytes))
    return take(in_, dst, bytes, first);
  if (options_.path == GpuPath::Copy)
    return std::optional<MessagePart>(direct(dst, bytes));
  if (const net::DeviceHandle *handle = link.connection().deviceHandle();
      handle && !unpacked_.count(&link))
    COLL_RETURN_IF_ERROR(kernels::checkVersion(handle->version, kUnpackVersion));
  int &underWay = unpacked_[&link];
  if (underWay >= (first ? kSlots : kUnpackShared))
    return take(in_, dst, bytes, first);
  ++underWay;
  MessagePart part = direct(dst, bytes);
  part.link = &link;
  return std::optional<MessagePart>(part);
}

Status GpuMover::detour(MessagePart &part, bool isSend) {
  if (part.slots)
    return {};
  const auto bytes = static_cast<int64_t>(part.segment.bytes);
  Result<std::optional<MessagePart>> slot = isSend ? loadSlot(part.data, bytes, /*first=*/true)
                                                   : take(in_, part.data, bytes, /*first=*/true);
  if (!slot)
    return slot.status();
  release(part);
  part = **slot;
  return {};
}

Result<Mover::Ticket> GpuMover::unload(MessagePart &part) {
  const int64_t bytes = static_cast<int64_t>(part.segment.bytes);
  if (part.compressed)
    return expand(part);
  if (part.slots) {
    const char *slot = in_.device(part.slot) + misalignment(part.data);
    return channel_->post(GpuChannel::In, copyItem(part.data, slot, bytes));
  }
  if (part.pageSlot < 0) // empty, or already brought by the copy engine
    return kDone;
  auto &connection = static_cast<net::DeviceConnection &>(part.link->connection());
  const net::KernelView view = connection.unpackView();
  ChannelItem item = copyItem(part.data, reinterpret_cast<const void *>(view.bounce), bytes);
  item.op = ChannelOp::Unpack;
  item.src[1] = reinterpret_cast<const void *>(view.meta);
  item.srcBytes = view.bounceBytes;
  item.pageSlot = static_cast<uint32_t>(part.pageSlot);
  // The descriptors were checked before they were published, so bad data was damaged since.
  return channel_->post(
      GpuChannel::In, item, {}, [item, &connection](uint64_t) -> Result<ChannelItem> {
        COLL_RETURN_IF_ERROR(connection.republish(static_cast<int32_t>(item.pageSlot)));
        return item;
      });
}

Result<Mover::Ticket> GpuMover::expand(const MessagePart &part) {
  COLL_RETURN_IF_ERROR(
      kernels::checkCompressed(part.segment.data, part.segment.bytes, part.compressed));
  ChannelItem item =
      copyItem(part.data, in_.device(part.slot), static_cast<int64_t>(part.compressed));
  item.op = ChannelOp::Expand;
  item.srcBytes = part.segment.bytes;
  return channel_->post(GpuChannel::In, item, {},
                        [this, part](uint64_t) { return expandOnHost(part); });
}

// Expands a message that the kernel could not decode in its slot; then it is copied.
Result<ChannelItem> GpuMover::expandOnHost(const MessagePart &part) {
  std::vector<char> raw(part.compressed);
  COLL_RETURN_IF_ERROR(
      kernels::expandReference(raw.data(), raw.size(), part.segment.data, part.segment.bytes));
  std::memcpy(part.segment.data, raw.data(), raw.size());
  return copyItem(part.data, in_.device(part.slot), static_cast<int64_t>(raw.size()));
}

void GpuMover::release(MessagePart &part) {
  if (part.slots)
    part.slots->push_back(part.slot);
  if (part.to && part.filled == kDone)
    --unsent_[part.to];
  if (!part.link)
    return;
  --unpacked_[part.link];
  if (part.pageSlot >= 0)
    static_cast<net::DeviceConnection &>(part.link->connection()).consumed(part.pageSlot);
}

//===-- scratch -----------------------------------------------------------------===//

Result<char *> GpuMover::allocate(int64_t bytes) {
  Scratch *best = nullptr;
  for (Scratch &scratch : scratch_)
    if (!scratch.used && scratch.memory.bytes() >= bytes &&
        (!best || scratch.memory.bytes() < best->memory.bytes()))
      best = &scratch;
  if (!best) {
    Result<GpuMemory> memory =
        GpuMemory::create(channel_->gpu(), GpuMemory::Kind::Device, std::max<int64_t>(bytes, 1));
    if (!memory)
      return memory.status();
    scratch_.push_back({memory.take(), false});
    best = &scratch_.back();
  }
  best->used = true;
  return best->memory.device();
}

void GpuMover::release(char *memory) {
  for (size_t i = 0; i < scratch_.size(); ++i) {
    if (scratch_[i].memory.device() != memory)
      continue;
    scratch_[i].used = false;
    if (scratch_.size() > kKeptScratch)
      scratch_.erase(scratch_.begin() + static_cast<ptrdiff_t>(i));
    return;
  }
}

} // namespace coll::rt::network
