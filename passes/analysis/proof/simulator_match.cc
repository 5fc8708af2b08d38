//===- simulator_match.cc - matching of posted operations -----------------------===//

#include "passes/analysis/proof/simulator.h"

using namespace mlir;
using namespace mlir::coll;

unsigned RankSimulator::addPost(unsigned agent, const CommEvent &event, unsigned request) {
  unsigned number = freePost_;
  if (number == kNone) {
    number = posts_.size();
    posts_.emplace_back();
  } else {
    freePost_ = posts_[number].next;
  }
  State &state = states_[agent];
  posts_[number] = Post{&event, agent, request, kNone, state.numPosts++, -1};
  state.requests[request] = number;
  return number;
}

/// Completes the operation of `post`, which has matched everything that it waits for.
void RankSimulator::complete(unsigned post) {
  Post &done = posts_[post];
  State &state = states_[done.agent];
  state.requests[done.request] = kComplete;
  if (state.awaited == done.request) {
    state.awaited = kNone;
    ready_.push_back(done.agent);
  }
  done.next = freePost_;
  freePost_ = post;
}

LogicalResult RankSimulator::post(unsigned agent, const CommEvent &event, unsigned request) {
  int comm = agents_.getComm(event.group, agent);
  if (comm < 0)
    return event.op->emitOpError() << "is executed by rank " << agents_.getRank(agent)
                                   << ", which is not a member of the group";
  return event.isPointToPoint() ? postPointToPoint(agent, event, request)
                                : postCollective(agent, event, request, comm);
}

LogicalResult RankSimulator::postCollective(unsigned agent, const CommEvent &event,
                                            unsigned request, int comm) {
  auto [entry, isNew] = channelOf_.try_emplace({comm, event.stream}, channels_.size());
  if (isNew)
    channels_.emplace_back();
  Channel &channel = channels_[entry->second];
  auto &posted = states_[agent].posted;
  auto *count = llvm::find_if(
      posted, [channel = entry->second](const auto &pair) { return pair.first == channel; });
  if (count == posted.end()) {
    posted.push_back({entry->second, 0});
    count = &posted.back();
  }
  size_t index = count->second++ - channel.numComplete;
  if (index == channel.instances.size())
    channel.instances.emplace_back();
  Instance &instance = channel.instances[index];
  if (instance.numPosts > 0 && posts_[instance.posts].event->signature != event.signature)
    return reportMismatch(agent, event, instance.posts);
  // The first post stays in front, for messages.
  unsigned number = addPost(agent, event, request);
  unsigned &next = instance.numPosts++ == 0 ? instance.posts : posts_[instance.posts].next;
  posts_[number].next = next;
  next = number;
  if (instance.numPosts < agents_.getMembers(comm).size())
    return success();
  for (unsigned post = instance.posts, following; post != kNone; post = following) {
    following = posts_[post].next;
    complete(post);
  }
  channel.instances.erase(channel.instances.begin());
  ++channel.numComplete;
  return success();
}

const RankExpr &RankSimulator::getPeerExpr(unsigned agent, const CommEvent &event) const {
  const Trace &trace = agents_.getTrace(agent);
  return trace.ports[trace.links[event.link].port].peer;
}

/// Where `event` meets its counterparts; null if it has no peer. `position` and `key` are set where
/// peers are not fixed.
RankSimulator::Queue *RankSimulator::findQueue(unsigned agent, const CommEvent &event,
                                               int &position, QueueKey &key) {
  if (agents_.hasFixedPeers()) {
    unsigned queue = agents_.getQueues().get(agent, event.link);
    return queue == QueueTable::kNone ? nullptr : &queues_[queue];
  }
  int64_t rank = agents_.getRank(agent);
  RankValue value = getPeerExpr(agent, event).evaluate(rank, states_[agent].slots);
  auto [peer, error] = resolvePeer(getMembers(rank, event), value, rank);
  if (error != PeerError::None)
    return nullptr;
  position = *value;
  uint64_t tag = tagNumbers_.try_emplace(event.tag, tagNumbers_.size()).first->second;
  uint64_t pair[] = {agent, agents_.getAgent(peer)};
  if (event.isRecv)
    std::swap(pair[0], pair[1]);
  key = {uint64_t(agents_.getComm(event.group, agent)) << 32 | tag, pair[0] << 32 | pair[1]};
  return &openQueues_[key];
}

LogicalResult RankSimulator::postPointToPoint(unsigned agent, const CommEvent &event,
                                              unsigned request) {
  int position = -1;
  QueueKey key;
  Queue *queue = findQueue(agent, event, position, key);
  if (!queue)
    return reportPeer(agent, event);
  unsigned head = queue->head;
  if (head != kNone && posts_[head].event->isSend != event.isSend) {
    if (posts_[head].event->signature != event.signature)
      return reportTypes(agent, event, posts_[head]);
    queue->head = posts_[head].next;
    if (queue->head == kNone && !agents_.hasFixedPeers())
      openQueues_.erase(key);
    complete(head);
    states_[agent].requests[request] = kComplete;
    return success();
  }
  unsigned number = addPost(agent, event, request);
  posts_[number].position = position;
  if (head == kNone)
    queue->head = number;
  else
    posts_[queue->tail].next = number;
  queue->tail = number;
  return success();
}

LogicalResult RankSimulator::reportPeer(unsigned agent, const CommEvent &event) {
  int64_t rank = agents_.getRank(agent);
  ArrayRef<int64_t> members = getMembers(rank, event);
  RankValue value = getPeerExpr(agent, event).evaluate(rank, states_[agent].slots);
  InFlightDiagnostic diag = event.op->emitOpError();
  switch (resolvePeer(members, value, rank).second) {
  case PeerError::OutOfRange:
    return diag << "has peer " << *value << " on rank " << rank << ", but the group "
                << formatRanks(members) << " has " << members.size() << " members";
  case PeerError::Self:
    return diag << "has rank " << rank << " itself as peer";
  default:
    return diag << "has a peer that rank " << rank << " cannot evaluate";
  }
}
