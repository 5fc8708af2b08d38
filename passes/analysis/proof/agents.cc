//===- agents.cc - equivalent ranks, treated as one -----------------------------===//

#include "passes/analysis/proof/agents.h"

#include <unordered_set>

using namespace mlir;
using namespace mlir::coll;

/// A colouring that is made finer step by step.
class AgentSet::Coloring {
public:
  explicit Coloring(size_t size) : colors_(size, 0) {}

  /// Gives nodes of one colour different colours if `valueOf` differs.
  void split(llvm::function_ref<RankValue(unsigned)> valueOf) {
    DenseMap<std::pair<int64_t, int64_t>, unsigned> numbers;
    for (auto [node, color] : llvm::enumerate(colors_)) {
      RankValue value = valueOf(node);
      std::pair<int64_t, int64_t> key(2 * int64_t(color) + value.has_value(), value.value_or(0));
      color = numbers.try_emplace(key, numbers.size()).first->second;
    }
  }
  std::vector<unsigned> take() { return std::move(colors_); }

private:
  std::vector<unsigned> colors_;
};

/// Numbers colours in the order in which they first occur. Returns how many there are.
static unsigned renumber(MutableArrayRef<unsigned> colors) {
  DenseMap<unsigned, unsigned> numbers;
  for (unsigned &color : colors)
    color = numbers.try_emplace(color, numbers.size()).first->second;
  return numbers.size();
}

/// The properties by which ranks of one trace differ, besides communicators and peers.
struct AgentSet::Features {
  llvm::SetVector<unsigned> collectiveGroups, peerGroups;
  std::vector<const RankExpr *> decisions;
  bool hasFixedPeers = true;

  explicit Features(const Trace &trace) {
    add(trace.body);
    for (const TracePort &port : trace.ports) {
      hasFixedPeers &= !port.peer.dependsOnSlots();
      peerGroups.insert(port.group);
      if (port.peer.dependsOnSlots())
        add(port.peer);
    }
  }

  void add(const RankExpr &expr) {
    if (expr.dependsOnRank() && distinct_.insert(expr).second)
      decisions.push_back(&expr);
  }

  void add(const TraceList &list) {
    for (const TraceNode &node : list) {
      if (node.event && !node.event->isPointToPoint())
        collectiveGroups.insert(node.event->group);
      for (const RankExpr &expr : node.exprs)
        add(expr);
      // A carried value may feed a decision.
      for (const auto &[slot, expr] : node.assignments)
        if (expr)
          add(*expr);
      if (node.counted)
        add(*node.counted);
      for (const TraceList &body : node.bodies)
        add(body);
    }
  }

  void add(const CountedWhile &counted) {
    add(*counted.condition);
    for (const std::vector<CountedWhile::Carry> *carries :
         {&counted.init, &counted.before, &counted.after})
      for (const CountedWhile::Carry &carry : *carries)
        add(carry.value);
  }

private:
  std::unordered_set<RankExpr, RankExpr::Hash> distinct_;
};

AgentSet::AgentSet(GroupTable &groups, ArrayRef<Trace> traces, ArrayRef<unsigned> classOf)
    : groups_(groups) {
  std::vector<Features> features;
  for (const Trace &trace : traces) {
    const Features &feature = features.emplace_back(trace);
    collectiveGroups_.insert_range(feature.collectiveGroups);
    peerGroups_.insert_range(feature.peerGroups);
    hasFixedPeers_ &= feature.hasFixedPeers;
  }
  if (isOneAgent(features)) {
    makeOneAgent(traces[0]);
    return;
  }
  for (const llvm::SetVector<unsigned> *used : {&collectiveGroups_, &peerGroups_})
    for (unsigned group : *used)
      groups.expand(group);
  PortTable ports;
  if (hasFixedPeers_)
    ports = PortTable(groups, traces, classOf);
  std::vector<unsigned> colors = colorRanks(features, classOf, ports);
  CommMeanings meanings = getMeanings();
  colorComms(meanings, colors);
  makeAgents(refineColors(makeGraph(ports, meanings), std::move(colors)), traces, classOf);
  if (hasFixedPeers_)
    queues_ = QueueTable(ports, agents_, agentOf_);
}

/// Whether no property distinguishes ranks. If so, nothing is stored per rank.
bool AgentSet::isOneAgent(ArrayRef<Features> features) const {
  return features.size() == 1 && features[0].decisions.empty() && peerGroups_.empty() &&
         llvm::all_of(collectiveGroups_,
                      [&](unsigned group) { return groups_.coversAllRanks(group); });
}

/// Makes one agent of all ranks.
void AgentSet::makeOneAgent(const Trace &trace) {
  agents_.push_back({0, &trace});
  numRanks_.push_back(groups_.getNumRanks());
  commMembers_.assign(groups_.getNumGroups(), {0});
}

/// The ranks' colours that refinement starts from.
std::vector<unsigned> AgentSet::colorRanks(ArrayRef<Features> features, ArrayRef<unsigned> classOf,
                                           const PortTable &ports) {
  Coloring coloring(groups_.getNumRanks());
  coloring.split([&](unsigned rank) { return classOf[rank]; });
  splitByDecisions(features, classOf, coloring);
  for (unsigned group : collectiveGroups_)
    coloring.split([&](unsigned rank) { return groups_.getComm(group, rank) >= 0; });
  if (!hasFixedPeers_) {
    for (unsigned group : peerGroups_) {
      std::vector<RankValue> positions = getPositions(group);
      coloring.split([&](unsigned rank) { return positions[rank]; });
    }
    return coloring.take();
  }
  for (unsigned port = 0; port < ports.getMaxPorts(); ++port)
    coloring.split([&](unsigned rank) -> RankValue {
      if (port >= ports.getNumPorts(rank) || !ports.hasPeer(rank, port))
        return std::nullopt;
      return int64_t(ports.getFirst(rank, port)) << 32 | (ports.getReverse(rank, port) + 1);
    });
  return coloring.take();
}

void AgentSet::splitByDecisions(ArrayRef<Features> features, ArrayRef<unsigned> classOf,
                                Coloring &coloring) {
  size_t numDecisions = 0;
  for (const Features &feature : features)
    numDecisions = std::max(numDecisions, feature.decisions.size());
  for (size_t number = 0; number < numDecisions; ++number) {
    size_t numParts = 1;
    for (size_t part = 0; part < numParts; ++part)
      coloring.split([&](unsigned rank) -> RankValue {
        ArrayRef<const RankExpr *> decisions = features[classOf[rank]].decisions;
        SmallVector<RankValue> values;
        if (number < decisions.size())
          decisions[number]->appendRankParts(rank, values);
        numParts = std::max(numParts, values.size());
        return part < values.size() ? values[part] : std::nullopt;
      });
  }
}

/// Each rank's position in its communicator of the group.
std::vector<RankValue> AgentSet::getPositions(unsigned group) const {
  std::vector<RankValue> positions(groups_.getNumRanks());
  for (int64_t rank = 0; rank < groups_.getNumRanks(); ++rank) {
    int comm = groups_.getComm(group, rank);
    if (comm < 0 || positions[rank])
      continue;
    for (auto [position, member] : llvm::enumerate(groups_.getMembers(comm)))
      positions[member] = position;
  }
  return positions;
}

/// The groups whose members are before their communicators.
llvm::SetVector<unsigned> AgentSet::getGraphGroups() const {
  llvm::SetVector<unsigned> groups = collectiveGroups_;
  if (!hasFixedPeers_)
    groups.insert_range(peerGroups_);
  return groups;
}

/// The groups that mean each communicator.
AgentSet::CommMeanings AgentSet::getMeanings() const {
  CommMeanings meanings(groups_.getNumComms());
  for (unsigned group : getGraphGroups())
    for (int64_t rank = 0; rank < groups_.getNumRanks(); ++rank)
      if (int comm = groups_.getComm(group, rank); comm >= 0)
        if (meanings[comm].empty() || meanings[comm].back() != group)
          meanings[comm].push_back(group);
  return meanings;
}

/// Appends the communicators' colours that refinement starts from: what they mean.
void AgentSet::colorComms(const CommMeanings &meanings, std::vector<unsigned> &colors) const {
  unsigned numRankColors = 1 + *llvm::max_element(colors);
  std::map<SmallVector<unsigned, 2>, unsigned> numbers;
  for (const SmallVector<unsigned, 2> &meaning : meanings)
    colors.push_back(numRankColors + numbers.try_emplace(meaning, numbers.size()).first->second);
}

ColorGraph AgentSet::makeGraph(const PortTable &ports, const CommMeanings &meanings) const {
  ColorGraph graph;
  llvm::SetVector<unsigned> graphGroups = getGraphGroups();
  for (int64_t rank = 0; rank < groups_.getNumRanks(); ++rank) {
    graph.addNode(/*isOrdered=*/true);
    for (unsigned group : graphGroups)
      if (int comm = groups_.getComm(group, rank); comm >= 0)
        graph.addEdge(groups_.getNumRanks() + comm);
    for (unsigned port = 0; hasFixedPeers_ && port < ports.getNumPorts(rank); ++port)
      if (ports.hasPeer(rank, port) && ports.getFirst(rank, port) == port)
        graph.addEdge(ports.getPeer(rank, port));
  }
  for (auto [comm, meaning] : llvm::enumerate(meanings)) {
    graph.addNode(/*isOrdered=*/!hasFixedPeers_ && llvm::any_of(meaning, [&](unsigned group) {
                    return peerGroups_.contains(group);
                  }));
    if (!meaning.empty())
      for (int64_t rank : groups_.getMembers(comm))
        graph.addEdge(rank);
  }
  return graph;
}

/// `colors`: of the ranks, then of the communicators.
void AgentSet::makeAgents(std::vector<unsigned> colors, ArrayRef<Trace> traces,
                          ArrayRef<unsigned> classOf) {
  auto rankColors = MutableArrayRef(colors).take_front(classOf.size());
  auto commColors = MutableArrayRef(colors).drop_front(classOf.size());
  numRanks_.assign(renumber(rankColors), 0);
  for (auto [rank, agent] : llvm::enumerate(rankColors))
    if (++numRanks_[agent] == 1)
      agents_.push_back({static_cast<int64_t>(rank), &traces[classOf[rank]]});
  std::vector<llvm::SetVector<unsigned>> members(renumber(commColors));
  for (unsigned comm = 0; comm < commColors.size(); ++comm)
    for (int64_t rank : groups_.getMembers(comm))
      members[commColors[comm]].insert(rankColors[rank]);
  for (const llvm::SetVector<unsigned> &set : members)
    commMembers_.emplace_back(set.begin(), set.end());
  agentOf_.assign(rankColors.begin(), rankColors.end());
  commOf_.assign(commColors.begin(), commColors.end());
}

int AgentSet::getComm(unsigned group, unsigned agent) const {
  if (agentOf_.empty())
    return group;
  int comm = groups_.getComm(group, agents_[agent].rank);
  return comm < 0 ? -1 : static_cast<int>(commOf_[comm]);
}
