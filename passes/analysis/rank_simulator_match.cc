//===- rank_simulator_match.cc - how posted operations meet ----------------------===//

#include "passes/analysis/rank_simulator.h"

using namespace mlir;
using namespace mlir::coll;

unsigned RankSimulator::getChannel(std::vector<int64_t> key, unsigned numMembers) {
  auto [entry, isNew] = channelOf_.try_emplace(std::move(key), channels_.size());
  if (isNew)
    channels_.emplace_back().numMembers = numMembers;
  return entry->second;
}

/// The oldest pending entry of `channel` has met everything that it waits for.
void RankSimulator::complete(Channel &channel) {
  channel.pending.pop_front();
  ++channel.numComplete;
  ready_.insert(ready_.end(), channel.waiters.begin(), channel.waiters.end());
  channel.waiters.clear();
}

FailureOr<RankSimulator::Post> RankSimulator::post(unsigned agent, const CommEvent &event) {
  int comm = agents_.getComm(event.group, agent);
  if (comm < 0) {
    event.op->emitOpError() << "is executed by rank " << agents_.getRank(agent)
                            << ", which is not a member of the group";
    return failure();
  }
  return event.isPointToPoint() ? postPointToPoint(agent, event)
                                : postCollective(agent, event, comm);
}

FailureOr<RankSimulator::Post> RankSimulator::postCollective(unsigned agent, const CommEvent &event,
                                                             int comm) {
  unsigned number = getChannel({comm, event.stream}, agents_.getMembers(comm).size());
  Channel &channel = channels_[number];
  int64_t sequence = states_[agent].numPosted[number]++;
  size_t index = sequence - channel.numComplete;
  if (index == channel.pending.size())
    channel.pending.push_back({&event, agent, 0});
  Channel::Pending &pending = channel.pending[index];
  if (pending.event->signature != event.signature)
    return reportMismatch(agent, event, pending,
                          context_.groups.getComm(event.group, agents_.getRank(agent)));
  if (++pending.numPosted == channel.numMembers)
    complete(channel);
  return Post{&event, number, sequence, -1};
}

FailureOr<int64_t> RankSimulator::getPeer(unsigned agent, const CommEvent &event) {
  int64_t rank = agents_.getRank(agent);
  ArrayRef<int64_t> members =
      context_.groups.getMembers(context_.groups.getComm(event.group, rank));
  RankValue position = event.peer->evaluate(rank, states_[agent].slots);
  if (!position) {
    event.op->emitOpError() << "has a peer that rank " << rank << " cannot evaluate";
    return failure();
  }
  if (*position < 0 || *position >= static_cast<int64_t>(members.size())) {
    event.op->emitOpError() << "has peer " << *position << " on rank " << rank << ", but the group "
                            << formatRanks(members) << " has " << members.size() << " members";
    return failure();
  }
  if (members[*position] == rank) {
    event.op->emitOpError() << "has rank " << rank << " itself as peer";
    return failure();
  }
  return members[*position];
}

FailureOr<RankSimulator::Post> RankSimulator::postPointToPoint(unsigned agent,
                                                               const CommEvent &event) {
  FailureOr<int64_t> peer = getPeer(agent, event);
  if (failed(peer))
    return failure();
  int64_t rank = agents_.getRank(agent);
  int64_t source = event.isSend ? rank : *peer, target = event.isSend ? *peer : rank;
  // Keys of pairs are longer than those of collectives, which keeps them apart.
  unsigned number =
      getChannel({context_.groups.getComm(event.group, rank), event.tag, source, target}, 2);
  Channel &channel = channels_[number];
  int64_t sequence = event.isSend ? channel.numSends++ : channel.numRecvs++;
  bool meets = !channel.pending.empty() && channel.pending.front().event->isSend != event.isSend;
  if (!meets) {
    channel.pending.push_back({&event, agent, 1});
    return Post{&event, number, sequence, *peer};
  }
  Channel::Pending other = channel.pending.front();
  if (other.event->signature != event.signature) {
    const CommEvent &recv = event.isRecv ? event : *other.event;
    const CommEvent &send = event.isRecv ? *other.event : event;
    InFlightDiagnostic diag = recv.op->emitOpError();
    diag << "on rank " << target << " receives " << context_.getSignatureText(recv.signature)
         << " from rank " << source << ", which sends "
         << context_.getSignatureText(send.signature);
    diag.attachNote(send.op->getLoc()) << "rank " << source << " sends here";
    return failure();
  }
  complete(channel);
  return Post{&event, number, sequence, *peer};
}
