#include "runtime/step/rank_memory.h"

#include "runtime/base/aligned_buffer.h"

namespace coll::rt {

namespace {

// -1 stands for a sum that has overflowed.
void addBytes(int64_t &total, int64_t bytes) {
  if (total < 0 || bytes < 0 || __builtin_add_overflow(total, bytes, &total))
    total = -1;
}

RankBuffer makeBuffer(BufferKind kind, const TensorInfo *tensor, int64_t bytes) {
  const bool fits = bytes >= 0 && bytes < INT64_MAX - AlignedBuffer::kAlignment;
  return {kind, tensor, fits ? AlignedBuffer::allocatedBytes(bytes) : -1};
}

} // namespace

const char *nameOf(BufferKind kind) {
  switch (kind) {
  case BufferKind::State:
    return "state";
  case BufferKind::Batch:
    return "batch";
  case BufferKind::Output:
    return "outputs";
  case BufferKind::Temporaries:
    return "temporaries";
  case BufferKind::NextBatch:
    return "next batch";
  }
  return "?";
}

std::vector<RankBuffer> buffersOf(const Descriptor &descriptor) {
  std::vector<RankBuffer> buffers;
  for (const TensorInfo &arg : descriptor.args)
    buffers.push_back(
        makeBuffer(arg.isState() ? BufferKind::State : BufferKind::Batch, &arg, arg.localBytes()));
  for (const TensorInfo &result : descriptor.results)
    if (result.arg < 0)
      buffers.push_back(makeBuffer(result.isState() ? BufferKind::State : BufferKind::Output,
                                   &result, result.localBytes()));
  buffers.push_back(makeBuffer(BufferKind::Temporaries, nullptr, descriptor.arenaBytes));
  if (descriptor.isOnGpu)
    for (const TensorInfo &arg : descriptor.args)
      if (!arg.isState())
        buffers.push_back(makeBuffer(BufferKind::NextBatch, &arg, arg.localBytes()));
  return buffers;
}

int64_t RankMemory::total() const {
  int64_t sum = 0;
  for (int64_t bytes : {state, batch, outputs, temporaries, nextBatch})
    addBytes(sum, bytes);
  return sum;
}

RankMemory memoryOf(const Descriptor &descriptor) {
  RankMemory memory;
  for (const RankBuffer &buffer : buffersOf(descriptor)) {
    switch (buffer.kind) {
    case BufferKind::State:
      addBytes(memory.state, buffer.bytes);
      break;
    case BufferKind::Batch:
      addBytes(memory.batch, buffer.bytes);
      break;
    case BufferKind::Output:
      addBytes(memory.outputs, buffer.bytes);
      break;
    case BufferKind::Temporaries:
      addBytes(memory.temporaries, buffer.bytes);
      break;
    case BufferKind::NextBatch:
      addBytes(memory.nextBatch, buffer.bytes);
      break;
    }
  }
  return memory;
}

} // namespace coll::rt
