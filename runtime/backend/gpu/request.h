// request.h - a call in flight, and what it belongs to: a group, or a direction between two ranks.
//
// All of it is the endpoint's own and lives on the rank's thread. Groups and lanes live as long as
// the endpoint, a request until its caller has its outcome, and as long as its comparison goes on.

#ifndef COLL_RUNTIME_BACKEND_GPU_REQUEST_H
#define COLL_RUNTIME_BACKEND_GPU_REQUEST_H

#include "runtime/backend/gpu/call_history.h"
#include "runtime/backend/gpu/card.h"
#include "runtime/backend/gpu/lane.h"

#include <map>
#include <memory>
#include <vector>

namespace coll::rt::gpu {

// A rank list, the same for all communicators with it.
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
  std::map<int64_t, LaneOp *> early; // of the sender: their turn has not come
};

struct GpuRequest final : Request {
  GpuRequest(Group &group, const Call &call) : group(group) { op.call = call; }

  const Call &call() const { return op.call; }

  Group &group;
  LaneOp op;
  Lane *lane = nullptr; // which it is on, or will be
  // What is under way on the control backend; its buffers are the cards.
  Request *told = nullptr, *heard = nullptr;
  std::vector<char> mine, theirs;
  Card card; // mine, decoded
  // Of a collective: its cards carry what connects the lane.
  bool introduces = false;
  bool met = false; // of a transfer: its other half is known
  bool agreed = false;
  bool compared = false; // the members have made the call
  bool ordered = false;  // the caller's stream waits for it
  Status verdict;        // of the comparison, until everyone has it
  bool finished = false;
  Status outcome; // where finished
};

} // namespace coll::rt::gpu

#endif // COLL_RUNTIME_BACKEND_GPU_REQUEST_H
