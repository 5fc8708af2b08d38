// mover.h - copies and combines memory of one GPU, for one rank.
//
// How a message moves between a buffer and the transport (COLL_NET_GPU_PATH):
//
// | path   | a send | a receive |
// |---|---|---|
// | kernel | the channel kernel writes it to a slot of pinned memory | the kernel reads a slot |
// | unpack | the same | the kernel moves its pages out of the bounce pool (net/gpu) |
// | pack | the kernel fills its pages in the bounce pool | as on the path `unpack` |
// | copy   | the copy engine, inside the transport (net/gpu) | the same |
//
// With `compress`, messages of a page or more on the path `kernel` are compressed
// (base/compressed_layout.h): the kernel compresses into the sender's slot, and expands from the
// receiver's.
//
// Short messages may use slots, as on the path `kernel`, whatever the path of the others
// (`kernelEnd`).
//
// The number of slots is limited: a message without a slot waits, unless it is the first of its
// lane, for which a slot is made. On the path `unpack` a connection has at most as many receives as
// slots, on the path `pack` as many sends as PACK has slots. Further messages use slots, and so
// does, on every path, the first message of a lane if the bounce pool has no room. The kernel does
// everything else (copies, sums) on every path. Belongs to one thread at a time.

#ifndef COLL_RUNTIME_BACKEND_NET_GPU_MOVER_H
#define COLL_RUNTIME_BACKEND_NET_GPU_MOVER_H

#include "runtime/backend/net/gpu/channel.h"
#include "runtime/backend/net/mover.h"
#include "runtime/base/compressed_layout.h"
#include "runtime/net/gpu/bounce_pool.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace coll::rt::network {

enum class GpuPath : uint8_t { Kernel, Unpack, Pack, Copy };
// "kernel", "unpack", "pack", "copy", or nothing.
std::optional<GpuPath> parseGpuPath(const std::string &name);
const char *nameOf(GpuPath path);
// Whether a kernel fetches received data from the pages of the bounce pool.
constexpr bool unpacks(GpuPath path) { return path == GpuPath::Unpack || path == GpuPath::Pack; }

struct GpuMoverOptions {
  GpuPath path = GpuPath::Kernel;
  int64_t kernelEnd = 0;                // messages of fewer bytes go as on the path `kernel`
  bool compress = false;                // on the path `kernel` only; the same on all ranks
  std::string chosenBy = "the default"; // for users: what chose the path, and why
  GpuChannelOptions channel;
  // Stands for all memory of the GPU in the transport; null on the path `kernel`.
  const net::Memory *memory = nullptr;
};

class GpuMover final : public Mover {
  // Slots of each direction; once all are in use, only first messages of lanes get one. Allocated
  // in chunks when they are first needed. On the paths `unpack` and `pack`: receives of a
  // connection.
  static constexpr int kSlots = 32, kChunkSlots = 4;

public:
  // The longest message.
  static constexpr int64_t kSlotBytes = 2 << 20;
  static_assert(kSlotBytes <= static_cast<int64_t>(kCompressMaxBytes));
  // Bounce-pool memory that those receives need, including trailers of fragments.
  static constexpr uint64_t kUnpackRoomBytes = kSlots * (kSlotBytes + net::BouncePool::kBlockBytes);

  // Creates the channel and its slots; may wait for running kernels.
  static Result<std::unique_ptr<GpuMover>> create(const GpuPlatform &platform, int ordinal,
                                                  const GpuMoverOptions &options);
  ~GpuMover() override;

  Result<Ticket> copy(void *dst, const void *src, int64_t bytes) override;
  Result<Ticket> reduce(CollDtype dtype, CollReduction reduction, const void *const *srcs,
                        int numSrcs, void *dst, int64_t elems) override;
  Result<Ticket> divide(CollDtype dtype, void *dst, int64_t elems, int divisor) override;
  Result<Ticket> copyRows(void *dst, int64_t dstPitch, const void *src, int64_t srcPitch,
                          int64_t rowBytes, int64_t rows) override;
  Result<bool> isDone(Ticket ticket) override { return channel_->isDone(ticket); }
  Status waitFor(Ticket ticket) override;
  Status zero(void *dst, int64_t bytes) override;
  void drain() override { channel_->drain(); }

  size_t window() const override { return kWindow; }
  Result<std::optional<MessagePart>> load(Link &link, const void *src, int64_t bytes,
                                          bool first) override;
  Result<std::optional<MessagePart>> expect(Link &link, void *dst, int64_t bytes,
                                            bool first) override;
  Status detour(MessagePart &part, bool isSend) override;
  Result<bool> isFilled(MessagePart &part) override;
  Status feed(MessagePart &part, net::Request *request) override;
  Result<Ticket> unload(MessagePart &part) override;
  void release(MessagePart &part) override;

  Result<char *> allocate(int64_t bytes) override;
  void release(char *memory) override;

  // The number of items that found bad data and were repeated.
  uint64_t repairs() const { return channel_->repairs(); }

  // Copies between the GPU and any host memory, and within the GPU, with the copy engine. The copy
  // is done on return.
  Status read(void *host, const void *src, int64_t bytes);
  Status write(void *dst, const void *host, int64_t bytes);
  Status copyNow(void *dst, const void *src, int64_t bytes);

private:
  static constexpr size_t kWindow = 8;
  static constexpr int64_t kBounceBytes = 256 << 10;
  // The number of unpacked receives of a connection after which only the first of a lane is added.
  static constexpr int kUnpackShared = kSlots - 4;
  // A slot has room for data that begins as unaligned as its buffer, and for the compressed message
  // of incompressible data.
  static constexpr int64_t kSlotStride =
      static_cast<int64_t>(compressedBound(kSlotBytes) + 255) / 256 * 256;
  static_assert(kSlotStride >= kSlotBytes + 16);

  struct Slots {
    std::vector<GpuMemory> chunks;
    std::vector<int32_t> free;

    char *device(int32_t slot) const {
      return of(slot).device() + slot % kChunkSlots * kSlotStride;
    }
    char *host(int32_t slot) const { return of(slot).host() + slot % kChunkSlots * kSlotStride; }
    const GpuMemory &of(int32_t slot) const {
      return chunks[static_cast<size_t>(slot / kChunkSlots)];
    }
  };
  struct Scratch {
    GpuMemory memory;
    bool used = false;
  };
  GpuMover(const GpuMoverOptions &options) : options_(options) {}
  Status makeSlots(Slots &slots);
  Result<std::optional<MessagePart>> loadSlot(const void *src, int64_t bytes, bool first);
  Status fillPages(MessagePart &part, net::Request *request);
  Result<std::optional<MessagePart>> take(Slots &slots, void *data, int64_t bytes, bool first);
  Result<Ticket> expand(const MessagePart &part);
  bool takesSlot(int64_t bytes) const {
    return options_.path == GpuPath::Kernel || bytes < options_.kernelEnd;
  }
  bool compresses(int64_t bytes) const { return options_.compress && bytes >= kCompressPageBytes; }
  MessagePart direct(void *data, int64_t bytes) const;
  Result<ChannelItem> expandOnHost(const MessagePart &part);

  const GpuMoverOptions options_;
  std::unique_ptr<GpuChannel> channel_;
  dl::CudaStream copies_ = nullptr;
  Slots out_, in_;
  GpuMemory bounce_; // pinned; read() and write()
  std::vector<Scratch> scratch_;
  std::map<Link *, int> unpacked_; // receives in flight of a connection on the path `unpack`
  std::map<Link *, int> unsent_;   // loaded sends that will need a pack slot
};

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_GPU_MOVER_H
