//===- queues.cc - queues in which sends match receives -------------------------===//

#include "passes/analysis/proof/queues.h"

using namespace mlir;
using namespace mlir::coll;

QueueTable::QueueTable(const PortTable &ports, ArrayRef<Agent> agents, ArrayRef<unsigned> agentOf)
    : ports_(&ports), agents_(agents) {
  for (const Agent &agent : agents) {
    begins_.push_back(queues_.size());
    queues_.resize(queues_.size() + agent.trace->links.size(), kNone);
  }
  sends_.resize(agents.size());
  for (unsigned agent = 0; agent < agents.size(); ++agent)
    addSends(agent);
  for (unsigned agent = 0; agent < agents.size(); ++agent)
    addReceives(agent, agentOf);
  ports_ = nullptr;
  agents_ = {};
  sends_ = {};
}

QueueTable::LinkKey QueueTable::getKey(unsigned agent, unsigned link) const {
  const TraceLink &meant = agents_[agent].trace->links[link];
  return {ports_->getFirst(agents_[agent].rank, meant.port), meant.tag};
}

/// The links of one direction that have a peer, by key.
std::vector<unsigned> QueueTable::sortLinks(unsigned agent, bool sends) const {
  std::vector<unsigned> links;
  for (auto [number, link] : llvm::enumerate(agents_[agent].trace->links))
    if (link.isSend == sends && ports_->hasPeer(agents_[agent].rank, link.port))
      links.push_back(number);
  llvm::stable_sort(links,
                    [&](unsigned a, unsigned b) { return getKey(agent, a) < getKey(agent, b); });
  return links;
}

void QueueTable::addSends(unsigned agent) {
  sends_[agent] = sortLinks(agent, /*sends=*/true);
  ArrayRef<unsigned> links = sends_[agent];
  for (size_t i = 0; i < links.size(); ++i) {
    bool isSame = i > 0 && getKey(agent, links[i - 1]) == getKey(agent, links[i]);
    queues_[begins_[agent] + links[i]] =
        isSame ? queues_[begins_[agent] + links[i - 1]] : numQueues_++;
  }
}

/// A receive takes the queue of the peer's sends, or one where it waits for ever.
void QueueTable::addReceives(unsigned agent, ArrayRef<unsigned> agentOf) {
  int64_t rank = agents_[agent].rank;
  std::vector<unsigned> links = sortLinks(agent, /*sends=*/false);
  for (size_t i = 0; i < links.size(); ++i) {
    const TraceLink &link = agents_[agent].trace->links[links[i]];
    unsigned &queue = queues_[begins_[agent] + links[i]];
    if (int reverse = ports_->getReverse(rank, link.port); reverse >= 0) {
      unsigned sender = agentOf[ports_->getPeer(rank, link.port)];
      LinkKey key(reverse, link.tag);
      const auto *found = std::lower_bound(
          sends_[sender].data(), sends_[sender].data() + sends_[sender].size(), key,
          [&](unsigned send, const LinkKey &wanted) { return getKey(sender, send) < wanted; });
      if (found != sends_[sender].data() + sends_[sender].size() && getKey(sender, *found) == key) {
        queue = queues_[begins_[sender] + *found];
        continue;
      }
    }
    bool isSame = i > 0 && getKey(agent, links[i - 1]) == getKey(agent, links[i]);
    queue = isSame ? queues_[begins_[agent] + links[i - 1]] : numQueues_++;
  }
}
