// recording.h - the events that a recording plugin (recording_plugin.cc) has received, for the
// tests.

#ifndef COLL_TEST_PROFILER_HOST_RECORDING_H
#define COLL_TEST_PROFILER_HOST_RECORDING_H

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace coll::profiler::test {

struct Record {
  enum class Kind { Init, Start, Stop, State, Finalize };
  Kind kind;
  uint64_t context = 0; // from 1
  uint64_t handle = 0;  // from 1; Start of a dropped event: 0
  uint64_t parent = 0, parentGroup = 0;
  uint64_t type = 0;
  int state = -1;
  int rank = -1;
  std::string function{}, datatype{};
  uint64_t count = 0, userTag = 0, sequence = 0, bytes = 0;
  int number = 0; // peer, step, communicator's rank
  bool isSend = false;
};

// The plugin's behaviour, and the events that it has received. There is one in each plugin library.
struct Recording {
  int mask = 0xffff; // handed out at init
  bool failsInit = false;
  bool failsStart = false; // after writing garbage to the handle
  bool givesNull = false;  // drops every event
  bool throws = false;     // from every event
  bool isSlow = false;     // takes a while for every event

  std::mutex mutex;
  std::vector<Record> records;
  std::vector<int *> masks; // of the communicators
  uint64_t numContexts = 0, numHandles = 0;

  std::vector<Record> take() {
    std::lock_guard<std::mutex> lock(mutex);
    return records;
  }
  void reset() {
    std::lock_guard<std::mutex> lock(mutex);
    mask = 0xffff;
    failsInit = failsStart = givesNull = throws = isSlow = false;
    records.clear();
    masks.clear();
    numContexts = numHandles = 0;
  }
};

// The plugin's symbol "collRecording" is a function like this.
using RecordingFunction = Recording *();

} // namespace coll::profiler::test

#endif // COLL_TEST_PROFILER_HOST_RECORDING_H
