// flight_recorder.h - the last operations of a rank.

#ifndef COLL_RUNTIME_STEP_ABI_FLIGHT_RECORDER_H
#define COLL_RUNTIME_STEP_ABI_FLIGHT_RECORDER_H

#include "runtime/backend/backend.h"
#include "runtime/base/codes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace coll::rt {

// The last operations of one rank; the oldest is overwritten first. Belongs to the rank's thread;
// others may read it while that thread does not run.
class FlightRecorder {
public:
  // Remembers `capacity` operations; 0: none.
  explicit FlightRecorder(size_t capacity) : records_(capacity) {}

  // Records that a call begins, and returns its number for end().
  uint64_t begin(const Call &call, int group, int64_t bytes);
  void end(uint64_t number, CollCode code);

  // Operations recorded so far, including those that were overwritten.
  uint64_t count() const { return next_; }
  struct Record {
    Call call; // its pointers to data are not dereferenced
    int group = -1;
    uint64_t sequence = 0; // of the collective in its group
    int64_t bytes = 0;
    int64_t beginUs = 0; // CLOCK_MONOTONIC
    int64_t endUs = -1;  // -1: not ended
    CollCode code = kCollOk;
  };
  // The operations that are remembered, oldest first.
  std::vector<Record> records() const;
  // One line per operation: the last `limit` that are remembered, oldest first.
  std::vector<std::string> lines(size_t limit) const;

private:
  std::vector<Record> records_;
  std::vector<uint64_t> collectives_; // begun, by group
  uint64_t next_ = 0;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_ABI_FLIGHT_RECORDER_H
