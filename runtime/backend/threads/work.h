// work.h - moves and combines the data of one collective.
//
// All members' calls are known and agree. The work of an operation is a range of units; disjoint
// parts of the range may be done by any threads in any order, and each thread writes its share of
// all members' destinations, straight from the sources.

#ifndef COLL_RUNTIME_BACKEND_THREADS_WORK_H
#define COLL_RUNTIME_BACKEND_THREADS_WORK_H

#include "runtime/backend/backend.h"
#include "runtime/base/memory_use.h"

#include <vector>

namespace coll::rt::threads {

// The addresses of one member's data.
struct Buffers {
  const void *src = nullptr;
  void *dst = nullptr; // null: not written
};

// Bytes of the call's source in a group of n members.
int64_t sourceBytes(const Call &call, int64_t n);

// Does all of an operation at once for the destinations in `members`. No source may overlap a
// destination.
void runWork(const Call &call, const Buffers *members, int64_t n);

struct Work {
  Call call;                    // what all members agree on
  std::vector<Buffers> members; // by position in the group
  int64_t units = 0;
  int64_t unitsPerChunk = 0;
  int64_t numChunks = 0;

  // Computes the numbers; `workers` threads share the chunks. Sources that an
  // in-place call would overwrite too early are copied first; the copies live until
  // reset().
  void prepare(int64_t workers);
  void reset() {
    staged_.clear();
    stagedShare_ = MemoryUse::Share();
  }
  // Does one chunk, 0 <= chunk < numChunks.
  void run(int64_t chunk) const;

private:
  void stageInPlaceSources();

  bool streams_ = false; // writes past the caches
  std::vector<std::vector<char>> staged_;
  MemoryUse::Share stagedShare_;
};

} // namespace coll::rt::threads

#endif // COLL_RUNTIME_BACKEND_THREADS_WORK_H
