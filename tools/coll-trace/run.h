// run.h - the collectives of a run, by communicator, number and rank, read from the traces of its
// ranks.

#ifndef COLL_TOOLS_COLL_TRACE_RUN_H
#define COLL_TOOLS_COLL_TRACE_RUN_H

#include "tools/coll-trace/slices.h"

#include <map>

namespace coll::trace {

// One rank's part in one collective. Times are those of the rank's own clocks.
struct Part {
  uint64_t seq = 0; // number of the collective in its communicator
  int32_t rank = 0;
  uint32_t what = 0; // number of "AllReduce, 1024 ncclFloat32"
  uint64_t call = 0; // stands for function, count and type, which all ranks have to have alike
  // The time when the rank is ready: when its kernel started or, without time stamps of that, when
  // it made the call.
  uint64_t arrivedNs = 0, endNs = 0;
  uint64_t enqueuedNs = 0; // the call of the host
  uint64_t idleNs = 0;     // since the rank's last collective ended, of any communicator
  uint64_t computeNs = 0;  // compute slices in that time
  uint64_t lateCallNs = 0; // of that time, until the host made the call
  uint64_t hiddenNs = 0;   // of [arrivedNs, endNs]: its rank computed meanwhile
  // From its proxy ops: the longest send in the network, its peer, and the waits.
  uint64_t transferNs = 0, receiveWaitNs = 0, gpuWaitNs = 0;
  int32_t peer = -1;
  bool hasProxies = false;
};

struct CommunicatorParts {
  int ranks = 0;           // as the traces say; 0: they do not
  std::vector<Part> parts; // by seq, then by rank
};

struct Run {
  std::map<uint64_t, CommunicatorParts> communicators;
  std::vector<std::string> whats;
  std::vector<std::string> functions;     // of each what
  std::map<uint32_t, std::string> places; // of a what: its line of the program, if the trace has it
  bool hasCompute = false; // compute slices: else nothing is known of hidden communication
  uint64_t dropped = 0;
  std::vector<std::string> truncated; // files

  const std::string &what(const Part &part) const { return whats[part.what]; }
};

// kCollInvalidCall: the message names the file.
rt::Result<Run> loadRun(const std::vector<std::string> &paths);

} // namespace coll::trace

#endif // COLL_TOOLS_COLL_TRACE_RUN_H
