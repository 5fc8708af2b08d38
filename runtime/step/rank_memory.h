// rank_memory.h - the memory of a rank, buffer by buffer, computed from its descriptor.
//
// Collectives of backend `threads` work on these buffers and allocate none of their own.

#ifndef COLL_RUNTIME_STEP_RANK_MEMORY_H
#define COLL_RUNTIME_STEP_RANK_MEMORY_H

#include "runtime/program/program.h"

#include <cstdint>
#include <vector>

namespace coll::rt {

enum class BufferKind {
  State,
  Batch,
  Output,      // a result that does not update state
  Temporaries, // of the step, at their peak
  NextBatch,   // on GPUs: a batch argument of the next step, if it is copied ahead of time
};
// "state", "batch", "outputs", "temporaries", "next batch"
const char *nameOf(BufferKind kind);

struct RankBuffer {
  BufferKind kind = BufferKind::State;
  const TensorInfo *tensor = nullptr; // null: temporaries
  int64_t bytes = 0;                  // allocated; -1 if that overflows
};

// The buffers in the order in which they are allocated: arguments, results with a buffer of their
// own (state that is not updated in place has a second copy), temporaries, the next batch. The
// tensors are those of `descriptor`.
std::vector<RankBuffer> buffersOf(const Descriptor &descriptor);

// Bytes of the buffers of one rank.
struct RankMemory {
  int64_t state = 0; // includes both copies of state that the step does not update in place
  int64_t batch = 0;
  int64_t outputs = 0;
  int64_t temporaries = 0;
  int64_t nextBatch = 0; // 0 on host memory

  // -1 if the sum overflows.
  int64_t total() const;
};
// -1 if a sum overflows.
RankMemory memoryOf(const Descriptor &descriptor);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_RANK_MEMORY_H
