#include "runtime/exchange/flow/box_flow.h"

#include <algorithm>

namespace coll::rt::exchange {

namespace {

constexpr int64_t kMostPitch = (int64_t{1} << 31) - 1; // CU_DEVICE_ATTRIBUTE_MAX_PITCH

// Cuts a box loop by loop: complete iterations of a loop stay together, partial ones are cut
// further.
class Cutter {
public:
  explicit Cutter(const StridedBox &box) : box_(box), whole_{} {
    int64_t bytes = box.rowBytes;
    for (int d = box.numLoops; d > 0; --d) {
      whole_[static_cast<size_t>(d)] = bytes;
      bytes *= box.count[static_cast<size_t>(d - 1)];
    }
  }

  // Cuts bytes [begin, end) inside loops 0 to d - 1, which start at `src`.
  void cut(int d, int64_t src, int64_t begin, int64_t end) {
    if (begin == end)
      return;
    if (d == box_.numLoops)
      return add(d, 0, src + begin, end - begin);
    const int64_t each = whole_[static_cast<size_t>(d) + 1];
    const int64_t stride = box_.srcStride[static_cast<size_t>(d)];
    int64_t first = begin / each;
    const int64_t last = end / each;
    if (first == last)
      return cut(d + 1, src + first * stride, begin % each, end % each);
    if (begin % each != 0) {
      cut(d + 1, src + first * stride, begin % each, each);
      ++first;
    }
    if (first < last)
      add(d, last - first, src + first * stride, box_.rowBytes);
    cut(d + 1, src + last * stride, 0, end % each);
  }
  std::vector<StridedBox> take() { return std::move(parts_); }

private:
  // Adds loops from d on, that one `count` times.
  void add(int d, int64_t count, int64_t src, int64_t rowBytes) {
    StridedBox part;
    part.srcOffset = src;
    part.dstOffset = used_;
    part.rowBytes = rowBytes;
    for (int from = d; from < box_.numLoops; ++from) {
      const auto to = static_cast<size_t>(part.numLoops++), at = static_cast<size_t>(from);
      part.count[to] = from == d ? count : box_.count[at];
      part.srcStride[to] = box_.srcStride[at];
      part.dstStride[to] = whole_[at + 1];
    }
    used_ += part.bytes();
    parts_.push_back(part);
  }

  const StridedBox &box_;
  std::array<int64_t, kMaxBoxLoops + 1> whole_; // [d]: bytes inside loop d - 1
  int64_t used_ = 0;
  std::vector<StridedBox> parts_;
};

// The loop that a copy engine executes; -1: none.
int engineLoop(const StridedBox &box) {
  int longest = -1;
  for (int i = 0; i < box.numLoops; ++i) {
    const auto d = static_cast<size_t>(i);
    const auto [low, high] = std::minmax(box.srcStride[d], box.dstStride[d]);
    if (low >= box.rowBytes && high <= kMostPitch &&
        (longest < 0 || box.count[d] > box.count[static_cast<size_t>(longest)]))
      longest = i;
  }
  return longest;
}

} // namespace

StridedBox reversed(StridedBox box) {
  std::swap(box.srcOffset, box.dstOffset);
  std::swap(box.srcStride, box.dstStride);
  return box;
}

std::vector<StridedBox> packedParts(const StridedBox &box, int64_t begin, int64_t bytes) {
  Cutter cutter(box);
  cutter.cut(0, box.srcOffset, begin, begin + bytes);
  return cutter.take();
}

Status copyByEngine(const dl::GpuContext &gpu, const StridedBox &box, const char *src, char *dst,
                    dl::CudaStream stream) {
  dl::CudaCopy2D copy;
  copy.srcKind = copy.dstKind = dl::kCudaMemoryUnified;
  copy.bytes = static_cast<size_t>(box.rowBytes);
  StridedBox outer = box;
  const int loop = engineLoop(box);
  if (loop >= 0) {
    const auto d = static_cast<size_t>(loop);
    copy.rows = static_cast<size_t>(box.count[d]);
    copy.srcPitch = static_cast<size_t>(box.srcStride[d]);
    copy.dstPitch = static_cast<size_t>(box.dstStride[d]);
    outer.count[d] = 1;
  }
  for (RowCursor at(outer); !at.done(); at.next()) {
    copy.src = reinterpret_cast<dl::CudaAddress>(src + at.src());
    copy.dst = reinterpret_cast<dl::CudaAddress>(dst + at.dst());
    COLL_RETURN_IF_ERROR(
        loop >= 0 ? gpu.check(gpu.cuda().memcpy2DAsync(&copy, stream), "cuMemcpy2DAsync")
                  : gpu.check(gpu.cuda().memcpyAsync(copy.dst, copy.src, copy.bytes, stream),
                              "cuMemcpyAsync"));
  }
  return {};
}

ChunkFlow boxFlow(const StridedBox &box, const BoxMemory &memory, bool isSend, uint64_t tag,
                  const ChunkLane &lane) {
  const int64_t most = lane.slotBytes(), all = box.bytes();
  ChunkFlow flow;
  flow.isSend = isSend;
  flow.tag = tag;
  flow.numChunks = (all + most - 1) / most;
  flow.bytes = [=](int64_t chunk) { return std::min(most, all - chunk * most); };
  flow.stream = memory.gpu ? lane.stream() : nullptr;
  flow.move = [=, stream = flow.stream, bytes = flow.bytes](int64_t chunk, const ChunkSlot &slot) {
    char *packed = memory.gpu ? slot.device : slot.host;
    for (const StridedBox &part : packedParts(box, chunk * most, bytes(chunk))) {
      const StridedBox way = isSend ? part : reversed(part);
      const char *src = isSend ? memory.data : packed;
      char *dst = isSend ? packed : memory.data;
      if (memory.gpu)
        COLL_RETURN_IF_ERROR(copyByEngine(*memory.gpu, way, src, dst, stream));
      else
        copyBox(way, src, dst);
    }
    return Status();
  };
  return flow;
}

} // namespace coll::rt::exchange
