// schedule.h - one rank's part of a large operation: steps, and which step waits for which.
//
// An algorithm adds steps; run() then executes each step as soon as the steps that it depends on
// are done. So segments are combined while others are in flight.
//
// Messages are sent in lanes: one per peer, direction and label. A lane's messages are sent and
// received in the order in which its steps were added, a window of them at once. The two ends of a
// lane add the same messages in the same order.

#ifndef COLL_RUNTIME_BACKEND_NET_ALGORITHMS_SCHEDULE_H
#define COLL_RUNTIME_BACKEND_NET_ALGORITHMS_SCHEDULE_H

#include "runtime/backend/net/mesh.h"
#include "runtime/backend/net/message_trace.h"
#include "runtime/backend/net/mover.h"

#include <deque>
#include <vector>

namespace coll::rt::network {

class Schedule {
public:
  using Step = int32_t;
  static constexpr Step kNone = -1; // depends on nothing, and nothing depends on it
  using Steps = std::vector<Step>;
  static constexpr size_t kWindow = 4; // of host memory

  // `tag` is the operation's tag (callTag); `site` is its site, for the trace.
  Schedule(Mesh &mesh, Mover &mover, uint64_t tag, const CallSite &site = {})
      : mesh_(mesh), mover_(mover), tag_(tag), site_(site) {}
  ~Schedule();
  Schedule(const Schedule &) = delete;
  Schedule &operator=(const Schedule &) = delete;

  // Messages of a lane that should be in flight at once: allocate scratch memory for this many.
  int64_t window() const { return static_cast<int64_t>(mover_.window()); }

  // Scratch memory that lives as long as the schedule.
  Result<char *> scratch(int64_t bytes);

  // Each function adds a step that begins when all of `after` are done. `peer` is a global rank.
  // Without bytes or elements no step is added, at both ends, and the function returns kNone.
  Step send(int peer, uint32_t label, const void *src, int64_t bytes, const Steps &after = {});
  Step recv(int peer, uint32_t label, void *dst, int64_t bytes, const Steps &after = {});
  Step copy(void *dst, const void *src, int64_t bytes, const Steps &after = {});
  Step reduce(CollDtype dtype, CollReduction reduction, const std::vector<const void *> &srcs,
              void *dst, int64_t elems, const Steps &after = {});
  Step divide(CollDtype dtype, void *dst, int64_t elems, int divisor, const Steps &after = {});

  // Does some of the work that is possible without waiting. Sets `moved` if it did some; there may
  // be more. Returns true once every step is done. After an error no buffer may be used before the
  // mesh is closed; `failedPeer` is then the rank whose connection failed, or -1.
  Result<bool> run(bool &moved, int &failedPeer);
  // Peers whose messages are missing.
  std::vector<int> waitingFor() const;

private:
  enum class Kind : uint8_t { Send, Recv, Copy, Reduce, Divide };
  struct Work {
    Kind kind;
    CollDtype dtype = kCollF32;
    CollReduction reduction = kCollSum;
    int32_t missing = 0;    // steps that it still waits for
    int32_t firstEdge = -1; // the first of its edges to the steps that wait for it
    int32_t numSrcs = 0;    // Divide: the divisor
    size_t srcsAt = 0;
    void *dst = nullptr;
    const void *src = nullptr;
    int64_t amount = 0; // bytes or elements
  };
  struct Edge {
    Step to;
    int32_t next;
  };
  // A message: loaded, posted, sent; or expected, posted, received, unloaded.
  struct Flight {
    Step step;
    MessagePart part;
    net::Request *request = nullptr;
    MessageSpan span = 0;
    bool isOver = false; // the transport has finished it
    Mover::Ticket landing = Mover::kDone;
  };
  struct Lane {
    int peer;
    bool isSend;
    uint32_t label;
    Steps steps;
    size_t begun = 0;
    std::deque<Flight> flights; // of the last steps begun
    LaneTrace trace;
  };

  Lane &lane(int peer, bool isSend, uint32_t label);
  Step add(const Work &work, const Steps &after);
  void finish(Step step);
  Status advanceLane(Lane &lane, bool &moved);
  Status begin(Lane &lane, bool &moved);
  Status post(Lane &lane, bool &moved);
  Status test(Lane &lane, bool &moved);
  Status land(Lane &lane, bool &moved);
  Status advanceLocal(bool &moved);
  Result<Mover::Ticket> begin(const Work &work);

  Mesh &mesh_;
  Mover &mover_;
  uint64_t tag_;
  CallSite site_;
  std::vector<Work> work_;
  std::vector<Edge> edges_;
  std::vector<const void *> srcs_;
  std::deque<Lane> lanes_;
  std::deque<Step> ready_; // local steps that may begin
  std::deque<std::pair<Step, Mover::Ticket>> busy_;
  std::vector<char *> scratch_;
  size_t remaining_ = 0;
};

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_ALGORITHMS_SCHEDULE_H
