#include "runtime/backend/net/mover.h"

#include "runtime/backend/net/algorithms/schedule.h"
#include "runtime/base/aligned_buffer.h"
#include "runtime/base/reduce.h"

#include <cstring>
#include <list>

namespace coll::rt::network {

namespace {

// Scratch memory that is kept for the next operation.
constexpr int64_t kKeptBytes = 32 << 20;

class HostMover final : public Mover {
public:
  Result<Ticket> copy(void *dst, const void *src, int64_t bytes) override {
    if (dst != src && bytes > 0)
      std::memcpy(dst, src, static_cast<size_t>(bytes));
    return kDone;
  }

  Result<Ticket> reduce(CollDtype dtype, CollReduction reduction, const void *const *srcs,
                        int numSrcs, void *dst, int64_t elems) override {
    reduceBuffers(dtype, reduction, srcs, numSrcs, dst, elems);
    return kDone;
  }

  Result<Ticket> divide(CollDtype dtype, void *dst, int64_t elems, int divisor) override {
    divideBuffer(dtype, dst, elems, divisor);
    return kDone;
  }

  Result<Ticket> copyRows(void *dst, int64_t dstPitch, const void *src, int64_t srcPitch,
                          int64_t rowBytes, int64_t rows) override {
    for (int64_t row = 0; row < rows && rowBytes > 0; ++row)
      std::memcpy(static_cast<char *>(dst) + row * dstPitch,
                  static_cast<const char *>(src) + row * srcPitch, static_cast<size_t>(rowBytes));
    return kDone;
  }

  Result<bool> isDone(Ticket) override { return true; }
  Status waitFor(Ticket) override { return {}; }
  Status zero(void *dst, int64_t bytes) override {
    std::memset(dst, 0, static_cast<size_t>(bytes));
    return {};
  }
  void drain() override {}

  size_t window() const override { return Schedule::kWindow; }
  Result<std::optional<MessagePart>> load(Link &, const void *src, int64_t bytes, bool) override {
    return partOf(const_cast<void *>(src), bytes);
  }
  Result<std::optional<MessagePart>> expect(Link &, void *dst, int64_t bytes, bool) override {
    return partOf(dst, bytes);
  }
  Status detour(MessagePart &, bool) override { return {}; }
  Result<bool> isFilled(MessagePart &) override { return true; }
  Status feed(MessagePart &, net::Request *) override { return {}; }
  Result<Ticket> unload(MessagePart &) override { return kDone; }
  void release(MessagePart &) override {}

  // The smallest kept buffer that is large enough, or a new one.
  Result<char *> allocate(int64_t bytes) override {
    auto best = kept_.end();
    for (auto it = kept_.begin(); it != kept_.end(); ++it)
      if (it->bytes >= bytes && (best == kept_.end() || it->bytes < best->bytes))
        best = it;
    if (best != kept_.end()) {
      keptBytes_ -= best->bytes;
      used_.splice(used_.end(), kept_, best);
    } else {
      Result<AlignedBuffer> memory = AlignedBuffer::create(bytes);
      if (!memory)
        return memory.status();
      used_.push_back({memory.take(), bytes});
    }
    return used_.back().memory.data();
  }

  void release(char *memory) override {
    for (auto it = used_.begin(); it != used_.end(); ++it) {
      if (it->memory.data() != memory)
        continue;
      keptBytes_ += it->bytes;
      kept_.splice(kept_.end(), used_, it);
      break;
    }
    // The oldest buffers are freed first.
    while (keptBytes_ > kKeptBytes) {
      keptBytes_ -= kept_.front().bytes;
      kept_.pop_front();
    }
  }

private:
  static std::optional<MessagePart> partOf(void *data, int64_t bytes) {
    MessagePart part;
    part.segment = {data, static_cast<uint64_t>(bytes), nullptr};
    return part;
  }

  struct Scratch {
    AlignedBuffer memory;
    int64_t bytes = 0;
  };
  std::list<Scratch> kept_, used_;
  int64_t keptBytes_ = 0;
};

} // namespace

std::unique_ptr<Mover> createHostMover() { return std::make_unique<HostMover>(); }

} // namespace coll::rt::network
