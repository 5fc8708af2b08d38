//===- rank_agents.cc - ranks that behave alike, as one --------------------------===//

#include "passes/analysis/rank_agents.h"

#include "llvm/ADT/SetVector.h"

#include <limits>

using namespace mlir;
using namespace mlir::coll;

namespace {

/// Numbers keys in the order of their first use.
class Numbering {
public:
  unsigned operator()(std::vector<int64_t> key) {
    return numbers_.try_emplace(std::move(key), numbers_.size()).first->second;
  }
  unsigned size() const { return numbers_.size(); }

private:
  std::map<std::vector<int64_t>, unsigned> numbers_;
};

} // namespace

/// The features that distinguish ranks of one trace.
struct AgentSet::Features {
  llvm::SetVector<unsigned> groups;
  std::vector<const RankExpr *> decisions;
  /// Peers, or decisions that change while a loop runs.
  bool ranksDiffer = false;

  void addDecision(const RankExpr &expr) {
    if (!expr.dependsOnRank())
      return;
    ranksDiffer |= expr.dependsOnSlots();
    decisions.push_back(&expr);
  }

  void add(const TraceList &list) {
    for (const TraceNode &node : list) {
      if (node.event) {
        groups.insert(node.event->group);
        ranksDiffer |= node.event->isPointToPoint();
      }
      for (const RankExpr &expr : node.exprs)
        addDecision(expr);
      // A carried value may feed a decision.
      for (const auto &[slot, expr] : node.assignments)
        ranksDiffer |= expr && expr->dependsOnRank();
      ranksDiffer |= node.counted && node.counted->dependsOnRank();
      for (const TraceList &body : node.bodies)
        add(body);
    }
  }
};

AgentSet::AgentSet(GroupTable &groups, ArrayRef<Trace> traces, ArrayRef<unsigned> classOf)
    : groups_(groups) {
  std::vector<Features> features(traces.size());
  llvm::SetVector<unsigned> used;
  for (auto [trace, feature] : llvm::zip(traces, features)) {
    feature.add(trace.body);
    used.insert(feature.groups.begin(), feature.groups.end());
  }
  usedGroups_.assign(used.begin(), used.end());
  isOneAgent_ = traces.size() == 1 && !features[0].ranksDiffer && features[0].decisions.empty() &&
                llvm::all_of(used, [&](unsigned group) { return groups.coversAllRanks(group); });
  if (isOneAgent_) {
    makeOneAgent(traces[0]);
    return;
  }
  for (unsigned group : usedGroups_)
    groups.expand(group);
  initialize(features, classOf);
  while (refine())
    ;
  colorComms();
  makeAgents(traces, classOf);
}

/// All ranks do the same in communicators that hold no other ranks.
void AgentSet::makeOneAgent(const Trace &trace) {
  agents_.push_back(Agent{0, groups_.getNumRanks(), &trace});
  commMembers_.assign(groups_.getNumGroups(), {0});
}

void AgentSet::makeAgents(ArrayRef<Trace> traces, ArrayRef<unsigned> classOf) {
  agents_.resize(numColors_);
  for (auto [rank, color] : llvm::enumerate(colorOf_)) {
    Agent &agent = agents_[color];
    if (agent.rank < 0)
      agent = Agent{static_cast<int64_t>(rank), 0, &traces[classOf[rank]]};
    ++agent.numRanks;
  }
  std::vector<llvm::SetVector<unsigned>> members(numCommColors_);
  for (unsigned comm = 0; comm < groups_.getNumComms(); ++comm)
    for (int64_t rank : groups_.getMembers(comm))
      members[commColorOf_[comm]].insert(colorOf_[rank]);
  for (const llvm::SetVector<unsigned> &set : members)
    commMembers_.emplace_back(set.begin(), set.end());
}

void AgentSet::initialize(ArrayRef<Features> features, ArrayRef<unsigned> classOf) {
  Numbering number;
  for (auto [rank, classNumber] : llvm::enumerate(classOf)) {
    const Features &feature = features[classNumber];
    std::vector<int64_t> key = {classNumber};
    if (feature.ranksDiffer)
      key.push_back(rank);
    else
      for (const RankExpr *decision : feature.decisions)
        key.push_back(decision->evaluate(rank).value_or(std::numeric_limits<int64_t>::min()));
    colorOf_.push_back(number(std::move(key)));
  }
  numColors_ = number.size();
}

void AgentSet::colorComms() {
  // A communicator's colour: the groups that mean it, and its members' colours.
  unsigned numComms = groups_.getNumComms();
  std::vector<llvm::SetVector<int64_t>> meaning(numComms);
  for (unsigned group : usedGroups_)
    for (int64_t rank = 0; rank < groups_.getNumRanks(); ++rank)
      if (int comm = groups_.getComm(group, rank); comm >= 0)
        meaning[comm].insert(group);
  Numbering number;
  commColorOf_.clear();
  for (unsigned comm = 0; comm < numComms; ++comm) {
    std::vector<int64_t> colors;
    for (int64_t rank : groups_.getMembers(comm))
      colors.push_back(colorOf_[rank]);
    llvm::sort(colors);
    colors.erase(std::unique(colors.begin(), colors.end()), colors.end());
    std::vector<int64_t> key(meaning[comm].begin(), meaning[comm].end());
    key.push_back(-1);
    key.insert(key.end(), colors.begin(), colors.end());
    commColorOf_.push_back(number(std::move(key)));
  }
  numCommColors_ = number.size();
}

bool AgentSet::refine() {
  if (numColors_ == colorOf_.size())
    return false;
  colorComms();
  Numbering number;
  std::vector<unsigned> refined;
  for (auto [rank, color] : llvm::enumerate(colorOf_)) {
    std::vector<int64_t> key = {color};
    for (unsigned group : usedGroups_) {
      int comm = groups_.getComm(group, rank);
      key.push_back(comm < 0 ? -1 : static_cast<int64_t>(commColorOf_[comm]));
    }
    refined.push_back(number(std::move(key)));
  }
  bool changed = number.size() != numColors_;
  colorOf_ = std::move(refined);
  numColors_ = number.size();
  return changed;
}

int AgentSet::getComm(unsigned group, unsigned agent) const {
  if (isOneAgent_)
    return group;
  int comm = groups_.getComm(group, agents_[agent].rank);
  return comm < 0 ? -1 : static_cast<int>(commColorOf_[comm]);
}
