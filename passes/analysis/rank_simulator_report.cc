//===- rank_simulator_report.cc - what went wrong, rank by rank ------------------===//

#include "passes/analysis/rank_simulator.h"

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
  return state.running ? *state.running : *state.requests[getNode(agent).request];
}

/// An agent that has not done what `agent` waits for; preferably one that never will.
unsigned RankSimulator::getAwaitedAgent(unsigned agent) const {
  const Post &post = getAwaited(agent);
  if (post.peer >= 0)
    return agents_.getAgent(post.peer);
  std::optional<unsigned> missing;
  for (unsigned member : agents_.getMembers(agents_.getComm(post.event->group, agent))) {
    if (states_[member].numPosted.lookup(post.channel) > post.sequence)
      continue;
    if (states_[member].frames.empty())
      return member;
    if (!missing || member < *missing)
      missing = member;
  }
  return *missing;
}

std::string RankSimulator::describeRank(unsigned agent) const {
  std::string text = "rank " + std::to_string(agents_.getRank(agent));
  if (int64_t others = agents_.getNumRanks(agent) - 1)
    text += " (and " + formatCount(others) + " more)";
  return text;
}

std::string RankSimulator::describeEvent(const CommEvent &event) const {
  std::string text;
  if (event.isPointToPoint())
    text = (event.op->getName().getStringRef() + ", ").str();
  return text + context_.getSignatureText(event.signature).str();
}

std::string RankSimulator::describeWait(unsigned agent) const {
  const Post &post = getAwaited(agent);
  std::string text;
  llvm::raw_string_ostream out(text);
  out << describeRank(agent) << " waits in " << (states_[agent].running ? "" : "coll.wait for ")
      << post.event->op->getName();
  if (post.peer >= 0) {
    out << (post.event->isSend ? " to rank " : " from rank ") << post.peer;
    if (post.event->tag)
      out << " with tag " << post.event->tag;
    return text;
  }
  int comm = context_.groups.getComm(post.event->group, agents_.getRank(agent));
  out << " over " << formatRanks(context_.groups.getMembers(comm)) << " for "
      << describeRank(getAwaitedAgent(agent));
  return text;
}

LogicalResult RankSimulator::reportMismatch(unsigned agent, const CommEvent &event,
                                            const Channel::Pending &first, int comm) {
  InFlightDiagnostic diag = event.op->emitError();
  diag << describeRank(agent) << " executes " << describeEvent(event) << " where "
       << describeRank(first.agent) << " executes " << describeEvent(*first.event) << " over "
       << formatRanks(context_.groups.getMembers(comm));
  diag.attachNote(first.event->op->getLoc()) << describeRank(first.agent) << " is here";
  return diag;
}

/// No agent can move. Succeeds if all of them are at the end.
LogicalResult RankSimulator::reportStuck() {
  unsigned blocked = 0;
  while (blocked < states_.size() && !states_[blocked].isBlocked)
    ++blocked;
  if (blocked == states_.size())
    return success();
  // Every agent that is not at its end waits for another: the chain ends at one that is at its end,
  // or closes a cycle.
  SmallVector<unsigned> chain = {blocked};
  DenseMap<unsigned, size_t> position;
  while (true) {
    unsigned agent = chain.back();
    position[agent] = chain.size() - 1;
    unsigned next = getAwaitedAgent(agent);
    if (states_[next].frames.empty())
      return reportEnded(agent, next);
    if (auto seen = position.find(next); seen != position.end())
      return reportCycle(ArrayRef(chain).drop_front(seen->second));
    chain.push_back(next);
  }
}

LogicalResult RankSimulator::reportCycle(ArrayRef<unsigned> cycle) {
  SmallVector<unsigned> agents(cycle);
  std::rotate(agents.begin(), std::min_element(agents.begin(), agents.end()), agents.end());
  SmallVector<int64_t> ranks =
      llvm::map_to_vector(agents, [&](unsigned agent) { return agents_.getRank(agent); });
  InFlightDiagnostic diag = getNode(agents.front()).op->emitError("cyclic wait in @");
  diag << function_ << ": ranks " << formatRanks(ranks) << " wait for one another";
  for (unsigned agent : ArrayRef(agents).take_front(kMaxNotes))
    diag.attachNote(getNode(agent).op->getLoc()) << describeWait(agent);
  if (agents.size() > kMaxNotes)
    diag.attachNote() << "… and " << formatCount(agents.size() - kMaxNotes) << " more ranks";
  return diag;
}

LogicalResult RankSimulator::reportEnded(unsigned agent, unsigned ended) {
  const Post &post = getAwaited(agent);
  InFlightDiagnostic diag = getNode(agent).op->emitError();
  diag << describeWait(agent) << ", but " << describeRank(ended) << " ends @" << function_
       << " without ";
  if (post.event->isPointToPoint())
    diag << "a matching " << (post.event->isSend ? "coll.recv" : "coll.send");
  else
    diag << "taking part";
  if (func::FuncOp function = agents_.getTrace(ended).function)
    diag.attachNote(function.getLoc()) << describeRank(ended) << " runs this";
  return diag;
}

LogicalResult RankSimulator::reportApart(unsigned agent, unsigned other) {
  InFlightDiagnostic diag = getNode(agent).op->emitError("how often this runs is not known, and ");
  diag << describeRank(other) << " does not reach it together with " << describeRank(agent);
  if (states_[other].isBlocked)
    diag.attachNote(getNode(other).op->getLoc()) << describeWait(other);
  return diag;
}
