// request.h - a call in flight, and the group, or direction between two ranks, that it belongs to.
//
// The endpoint owns all of these and uses them on the rank's thread. Groups and lanes live as long
// as the endpoint; a request lives until its caller has its outcome and its comparison has ended.

#ifndef COLL_RUNTIME_BACKEND_GPU_REQUEST_H
#define COLL_RUNTIME_BACKEND_GPU_REQUEST_H

#include "runtime/backend/gpu/call_history.h"
#include "runtime/backend/gpu/card.h"
#include "runtime/backend/gpu/lane.h"

#include <map>
#include <memory>
#include <vector>

namespace coll::rt::gpu {

// A list of ranks, shared by all communicators with the same list.
struct Group {
  Group(std::vector<int> ranks, int position) : ranks(std::move(ranks)), position(position) {}

  int size() const { return static_cast<int>(ranks.size()); }
  int rankAt(int i) const { return ranks[static_cast<size_t>(i)]; }

  const std::vector<int> ranks;
  const int position;
  std::unique_ptr<Communicator> control;
  std::unique_ptr<Lane> lane;
  bool introduced = false; // a call that makes the lane has begun
  CallHistory history;
};

// One direction between two ranks.
struct TransferLane {
  std::unique_ptr<Lane> lane;
  Identity identity; // this rank's
  bool identified = false;
  int64_t nextTicket = 0;
  std::map<int64_t, LaneOp *> early; // of the sender: transfers whose turn has not come
};

struct GpuRequest final : Request {
  GpuRequest(Group &group, const Call &call) : group(group) { op.call = call; }

  const Call &call() const { return op.call; }

  Group &group;
  LaneOp op;
  Lane *lane = nullptr; // the lane that it is on, or will be on
  // Requests on the control endpoint; their buffers are the cards.
  Request *told = nullptr, *heard = nullptr;
  std::vector<char> mine, theirs;
  Card card; // mine, decoded
  // A collective whose cards carry what connects the lane.
  bool introduces = false;
  bool met = false; // a transfer whose other half is known
  bool agreed = false;
  bool compared = false; // the members have compared the call
  bool ordered = false;  // the caller's stream waits for it
  Status verdict;        // of the comparison, until all members have it
  bool finished = false;
  Status outcome; // if finished
};

} // namespace coll::rt::gpu

#endif // COLL_RUNTIME_BACKEND_GPU_REQUEST_H
