// work.h - moves and combines the data of one collective.
//
// All members' calls are known and agree. The work of an operation is a range of
// units; disjoint parts of the range may be done by any threads in any order, and
// each writes its share of all members' destinations, straight from the sources.

#ifndef COLL_RUNTIME_BACKEND_THREADS_WORK_H
#define COLL_RUNTIME_BACKEND_THREADS_WORK_H

#include "runtime/backend.h"

#include <vector>

namespace coll::rt::threads {

struct Work {
  std::vector<Call> calls; // by position in the group
  int64_t units = 0;
  int64_t unitsPerChunk = 0;
  int64_t numChunks = 0;

  // Fills the numbers from `calls`. Sources that an in-place call would overwrite
  // before all of it is read are copied first; the copies live until reset().
  void prepare();
  void reset() { staged_.clear(); }
  // Does one chunk, 0 <= chunk < numChunks.
  void run(int64_t chunk) const;

private:
  void stageInPlaceSources();

  std::vector<std::vector<char>> staged_;
};

} // namespace coll::rt::threads

#endif // COLL_RUNTIME_BACKEND_THREADS_WORK_H
