//===- simulator_report.cc - errors, rank by rank -------------------------------===//

#include "passes/analysis/proof/simulator.h"

using namespace mlir;
using namespace mlir::coll;

static constexpr size_t kMaxNotes = 8;

/// The node that a blocked or parked agent is at.
const TraceNode &RankSimulator::getNode(unsigned agent) const {
  const Frame &frame = states_[agent].frames.back();
  return (*frame.list)[frame.next];
}

const RankSimulator::Post &RankSimulator::getAwaited(unsigned agent) const {
  const State &state = states_[agent];
  return posts_[state.requests[state.awaited]];
}

/// The members of the communicator in which `rank` executes `event`.
ArrayRef<int64_t> RankSimulator::getMembers(int64_t rank, const CommEvent &event) const {
  return context_.groups.getMembers(context_.groups.getComm(event.group, rank));
}

/// The peer of `rank` in `event`, which its agent executes.
int64_t RankSimulator::getPeerRank(int64_t rank, const CommEvent &event, int position) const {
  RankValue value = position;
  if (agents_.hasFixedPeers())
    value = getPeerExpr(agents_.getAgent(rank), event).evaluate(rank);
  return getMembers(rank, event)[*value];
}

/// An agent that has not joined the collective that `agent` waits for; preferably one that never
/// will.
unsigned RankSimulator::getMissingAgent(unsigned agent) const {
  const Post &post = getAwaited(agent);
  int comm = agents_.getComm(post.event->group, agent);
  DenseSet<unsigned> present;
  for (const Instance &instance :
       channels_[channelOf_.lookup({comm, post.event->stream})].instances) {
    present.clear();
    for (unsigned at = instance.posts; at != kNone; at = posts_[at].next)
      present.insert(posts_[at].agent);
    bool isAwaited = false;
    for (unsigned at = instance.posts; at != kNone; at = posts_[at].next)
      isAwaited |= &posts_[at] == &post;
    if (isAwaited)
      break;
  }
  std::optional<unsigned> missing;
  for (unsigned member : agents_.getMembers(comm)) {
    if (present.contains(member))
      continue;
    if (states_[member].frames.empty())
      return member;
    if (!missing || member < *missing)
      missing = member;
  }
  return *missing;
}

/// A rank that has not done what `rank` waits for.
int64_t RankSimulator::getAwaitedRank(int64_t rank) const {
  unsigned agent = agents_.getAgent(rank);
  const Post &post = getAwaited(agent);
  if (post.event->isPointToPoint())
    return getPeerRank(rank, *post.event, post.position);
  unsigned missing = getMissingAgent(agent);
  return *llvm::find_if(getMembers(rank, *post.event),
                        [&](int64_t member) { return agents_.getAgent(member) == missing; });
}

std::string RankSimulator::describeAgent(unsigned agent) const {
  std::string text = "rank " + std::to_string(agents_.getRank(agent));
  if (int64_t others = agents_.getNumRanks(agent) - 1)
    text += " (and " + formatCount(others) + " more)";
  return text;
}

/// Says that other ranks of the agent fail in the same way, with peers of their own.
void RankSimulator::noteOthers(InFlightDiagnostic &diag, int64_t rank) const {
  if (int64_t others = agents_.getNumRanks(agents_.getAgent(rank)) - 1)
    diag.attachNote() << "the same happens to " << formatCount(others)
                      << (others == 1 ? " more rank" : " more ranks") << " like rank " << rank;
}

std::string RankSimulator::describeEvent(const CommEvent &event) const {
  std::string text;
  if (event.isPointToPoint())
    text = (event.op->getName().getStringRef() + ", ").str();
  return text + context_.getSignatureText(event.signature).str();
}

std::string RankSimulator::describeWait(int64_t rank) const {
  unsigned agent = agents_.getAgent(rank);
  const Post &post = getAwaited(agent);
  bool isBlocking = states_[agent].awaited == states_[agent].getBlocking();
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "rank " << rank << " waits in " << (isBlocking ? "" : "coll.await of ")
      << post.event->op->getName();
  if (post.event->isPointToPoint()) {
    out << (post.event->isSend ? " to rank " : " from rank ") << getAwaitedRank(rank);
    if (post.event->tag)
      out << " with tag " << post.event->tag;
    return text;
  }
  out << " over " << formatRanks(getMembers(rank, *post.event)) << " for rank "
      << getAwaitedRank(rank);
  return text;
}

LogicalResult RankSimulator::reportMismatch(unsigned agent, const CommEvent &event,
                                            unsigned first) {
  const Post &other = posts_[first];
  InFlightDiagnostic diag = event.op->emitError();
  diag << describeAgent(agent) << " executes " << describeEvent(event) << " where "
       << describeAgent(other.agent) << " executes " << describeEvent(*other.event) << " over "
       << formatRanks(getMembers(agents_.getRank(agent), event));
  diag.attachNote(other.event->op->getLoc()) << describeAgent(other.agent) << " is here";
  return diag;
}

/// `event` would meet `other`, whose type is another one.
LogicalResult RankSimulator::reportTypes(unsigned agent, const CommEvent &event,
                                         const Post &other) {
  // The first rank of the agent of `other` may be in another replica.
  int64_t rank = agents_.getRank(agent), position = -1;
  if (!agents_.hasFixedPeers())
    position = *getPeerExpr(agent, event).evaluate(rank, states_[agent].slots);
  int64_t peer = getPeerRank(rank, event, position);
  const CommEvent &recv = event.isRecv ? event : *other.event;
  const CommEvent &send = event.isRecv ? *other.event : event;
  int64_t source = event.isRecv ? peer : rank, target = event.isRecv ? rank : peer;
  InFlightDiagnostic diag = recv.op->emitOpError();
  diag << "on rank " << target << " receives " << context_.getSignatureText(recv.signature)
       << " from rank " << source << ", which sends " << context_.getSignatureText(send.signature);
  diag.attachNote(send.op->getLoc()) << "rank " << source << " sends here";
  noteOthers(diag, rank);
  return diag;
}

/// No agent can move. Succeeds if all of them are at the end.
LogicalResult RankSimulator::reportStuck() {
  auto blocked = llvm::find_if(states_, [](const State &state) { return state.awaited != kNone; });
  if (blocked == states_.end())
    return success();
  // Every rank that is not at its end waits for another: the chain ends at one that is at its end,
  // or closes a cycle.
  SmallVector<int64_t> chain = {agents_.getRank(blocked - states_.begin())};
  DenseMap<int64_t, size_t> position;
  while (true) {
    int64_t rank = chain.back();
    position[rank] = chain.size() - 1;
    int64_t next = getAwaitedRank(rank);
    if (states_[agents_.getAgent(next)].frames.empty())
      return reportEnded(rank, next);
    if (auto seen = position.find(next); seen != position.end())
      return reportCycle(ArrayRef(chain).drop_front(seen->second));
    chain.push_back(next);
  }
}

LogicalResult RankSimulator::reportCycle(ArrayRef<int64_t> cycle) {
  SmallVector<int64_t> ranks(cycle);
  std::rotate(ranks.begin(), std::min_element(ranks.begin(), ranks.end()), ranks.end());
  auto getOp = [&](int64_t rank) { return getNode(agents_.getAgent(rank)).op; };
  InFlightDiagnostic diag = getOp(ranks.front())->emitError("cyclic wait in @");
  diag << function_ << ": ranks " << formatRanks(ranks) << " wait for one another";
  for (int64_t rank : ArrayRef(ranks).take_front(kMaxNotes))
    diag.attachNote(getOp(rank)->getLoc()) << describeWait(rank);
  if (ranks.size() > kMaxNotes)
    diag.attachNote() << "… and " << formatCount(ranks.size() - kMaxNotes) << " more ranks";
  return diag;
}

LogicalResult RankSimulator::reportEnded(int64_t rank, int64_t ended) {
  unsigned agent = agents_.getAgent(rank), endedAgent = agents_.getAgent(ended);
  const Post &post = getAwaited(agent);
  InFlightDiagnostic diag = getNode(agent).op->emitError();
  diag << describeWait(rank) << ", but rank " << ended << " ends @" << function_ << " without ";
  if (post.event->isPointToPoint())
    diag << "a matching " << (post.event->isSend ? "coll.recv" : "coll.send");
  else
    diag << "taking part";
  if (func::FuncOp function = agents_.getTrace(endedAgent).function)
    diag.attachNote(function.getLoc()) << "rank " << ended << " runs this";
  noteOthers(diag, rank);
  return diag;
}

LogicalResult RankSimulator::reportApart(unsigned agent, unsigned other) {
  InFlightDiagnostic diag = getNode(agent).op->emitError("how often this runs is not known, and ");
  diag << describeAgent(other) << " does not reach it together with " << describeAgent(agent);
  if (states_[other].awaited != kNone)
    diag.attachNote(getNode(other).op->getLoc()) << describeWait(agents_.getRank(other));
  return diag;
}
