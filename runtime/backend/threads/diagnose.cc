// The message of a rank that gives up waiting.

#include "runtime/backend/threads/endpoint.h"

namespace coll::rt::threads {

namespace {

constexpr size_t kPeersShown = 8;

std::string milliseconds(int64_t us) { return std::to_string(us / 1000) + " ms"; }

} // namespace

// "all_reduce sum f32 x 8 (op 3 at train.py:12:3) on rank 1, group [0, 1]"
std::string ThreadsEndpoint::place(const ThreadsRequest &request) const {
  return describe(request.call()) + " on rank " + std::to_string(rank_) + ", group " +
         describeGroup(request.communicator.ranks());
}

Status ThreadsEndpoint::abortedStatus(const ThreadsRequest &request) {
  return {kCollAborted,
          place(request) + ": given up because of a failure: " + world_.cause().toString()};
}

Status ThreadsEndpoint::findMissingPeer(const ThreadsRequest &request) {
  for (const ThreadsRequest *pending : pending_) {
    ThreadsCommunicator &communicator = pending->communicator;
    int missing = -1;
    if (isTransfer(pending->call().kind)) {
      int peer = pending->call().peer;
      int rank = communicator.ranks()[static_cast<size_t>(peer)];
      if (!world_.rank(rank).present.load(std::memory_order_acquire))
        missing = peer;
    } else if (pending->stage == ThreadsRequest::Stage::Posted) {
      missing = communicator.group().missingMember(pending->number);
    }
    if (missing >= 0)
      return {kCollPeer, place(*pending) + ": rank " +
                             std::to_string(communicator.ranks()[static_cast<size_t>(missing)]) +
                             " has ended without the matching call" +
                             (pending == &request ? "" : " (seen while waiting for another)")};
  }
  return {};
}

Status ThreadsEndpoint::timeoutStatus(const ThreadsRequest &request) {
  std::string text = place(request) + ": no completion within " + milliseconds(world_.timeoutUs());
  const std::vector<int> &ranks = request.communicator.ranks();
  std::vector<int> late;
  if (isTransfer(request.call().kind))
    late.push_back(request.call().peer);
  else if (request.stage == ThreadsRequest::Stage::Posted)
    late = request.communicator.group().lateMembers(request.number);
  const char *separator = "; waiting for ";
  for (size_t i = 0; i < late.size() && i < kPeersShown; ++i) {
    int rank = ranks[static_cast<size_t>(late[i])];
    text += separator + ("rank " + std::to_string(rank) + " (" + whatRankDoes(rank) + ")");
    separator = ", ";
  }
  if (late.size() > kPeersShown)
    text += " and " + std::to_string(late.size() - kPeersShown) + " more";
  return {kCollTimeout, text};
}

std::string ThreadsEndpoint::whatRankDoes(int rank) {
  RankState &state = world_.rank(rank);
  std::lock_guard<std::mutex> lock(state.mutex);
  return state.blockedIn ? "waits in " + describe(*state.blockedIn) : "outside of any call";
}

void ThreadsEndpoint::setBlockedIn(const Call *call) {
  RankState &state = world_.rank(rank_);
  std::lock_guard<std::mutex> lock(state.mutex);
  if (call)
    state.blockedIn = *call;
  else
    state.blockedIn.reset();
}

} // namespace coll::rt::threads
