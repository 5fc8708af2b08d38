// Messages of a rank that gives up waiting.

#include "runtime/backend/net/endpoint.h"

#include <algorithm>

namespace coll::rt::network {

namespace {

constexpr size_t kPeersShown = 8;

std::string milliseconds(int64_t us) { return std::to_string(us / 1000) + " ms"; }

} // namespace

// "all_reduce sum f32 x 8 (op 3 at train.py:12:3) on rank 1, group [0, 1]"
std::string NetEndpoint::place(const NetRequest &request) const {
  return describe(request.call) + " on rank " + std::to_string(rank()) + ", group " +
         describeGroup(request.group.ranks);
}

// Members of the operation that failed get the cause itself.
Status NetEndpoint::abortedStatus(const NetRequest &request) {
  std::lock_guard<std::mutex> lock(causeMutex_);
  if (causeKey_ != 0 && cause_.code() == kCollMismatch && request.activity &&
      request.activity->key() == causeKey_)
    return cause_;
  return {kCollAborted, place(request) + ": given up because of a failure: " + cause_.toString()};
}

// Describes the failure of an activity for the user.
Status NetEndpoint::failureOf(const NetRequest &request, const Status &failure) {
  switch (failure.code()) {
  case kCollLink:
  case kCollPeer:
    if (request.activity->failedPeer >= 0)
      return {kCollPeer, place(request) + ": rank " + std::to_string(request.activity->failedPeer) +
                             " is gone: " + failure.message()};
    return failure.annotate(place(request));
  case kCollMismatch:
    return failure;
  default:
    return failure.annotate(place(request));
  }
}

// The first operation that waits for a rank which has left; null if there is none.
NetRequest *NetEndpoint::missesPeer(Status &why) {
  for (NetRequest *pending : pending_) {
    if (!pending->activity)
      continue;
    for (int peer : pending->activity->waitingFor())
      if (mesh_->link(peer).hasLeft(epoch_)) {
        why = {kCollPeer, place(*pending) + ": rank " + std::to_string(peer) +
                              " has ended without the matching call"};
        return pending;
      }
  }
  return nullptr;
}

Status NetEndpoint::timeoutStatus(const NetRequest &request) {
  std::string text = place(request) + ": no completion within " + milliseconds(options_.timeoutUs);
  std::vector<int> peers;
  if (request.activity)
    peers = request.activity->waitingFor();
  else if (request.stage == NetRequest::Stage::Running)
    peers = {rank()};
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  const char *separator = "; waiting for ";
  for (size_t i = 0; i < peers.size() && i < kPeersShown; ++i) {
    bool left = peers[i] != rank() && mesh_->link(peers[i]).hasLeft(epoch_);
    text +=
        separator + ("rank " + std::to_string(peers[i])) + (left ? " (outside of any call)" : "");
    separator = ", ";
  }
  if (peers.size() > kPeersShown)
    text += " and " + std::to_string(peers.size() - kPeersShown) + " more";
  return {kCollTimeout, text};
}

} // namespace coll::rt::network
