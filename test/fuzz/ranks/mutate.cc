#include "test/fuzz/ranks/mutate.h"

#include <algorithm>

namespace coll::fuzz {
namespace {

using Kind = Action::Kind;

// Each request is started once and waited for once, in whatever order.
bool isValid(const Segment &segment) {
  std::vector<int> started, waited;
  for (const Action &action : segment.actions) {
    if (action.isStart())
      started.push_back(action.request);
    if (action.kind == Kind::Wait)
      waited.push_back(action.request);
  }
  std::sort(started.begin(), started.end());
  std::sort(waited.begin(), waited.end());
  return started == waited && std::adjacent_find(started.begin(), started.end()) == started.end();
}

class Mutator {
public:
  Mutator(const Protocol &protocol, Segment &segment, Random &random)
      : protocol_(protocol), segment_(segment), actions_(segment.actions), random_(random),
        at_(size_t(random.below(int64_t(actions_.size())))) {}

  // Returns false where the choice does not apply.
  bool run() {
    Action &action = actions_[at_];
    switch (random_.below(12)) {
    case 0:
      return drop();
    case 1:
      return repeat();
    case 2:
      std::swap(action, actions_[size_t(random_.below(int64_t(actions_.size())))]);
      return true;
    case 3:
      return move();
    case 4:
      action.peer = int(random_.between(-1, protocol_.stages));
      return action.isTransfer();
    case 5:
      action.tag = int(random_.below(protocol_.numTags));
      return action.isTransfer();
    case 6:
      action.type = (action.type + 1) % int(protocol_.types.size());
      return action.kind != Kind::Wait;
    case 7:
      return action.isStart() && carry();
    case 8:
      return turn();
    case 9:
      return action.isStart() ? makeBlocking() : makeAsync();
    case 10:
      action.cross = int(random_.below(3));
      return action.isTransfer() && protocol_.peers == Protocol::Peers::Ranks;
    default:
      segment_.trips += segment_.trips > 1 && random_.chance(0.5) ? -1 : 1;
      return true;
    }
  }

private:
  size_t waitOf(int request) const {
    size_t i = 0;
    while (actions_[i].kind != Kind::Wait || actions_[i].request != request)
      ++i;
    return i;
  }
  int freshRequest() const {
    int next = 0;
    for (const Action &action : actions_)
      next = std::max(next, action.request + 1);
    return next;
  }
  void insert(size_t at, Action action) {
    actions_.insert(actions_.begin() + std::ptrdiff_t(at), action);
  }
  void erase(size_t at) { actions_.erase(actions_.begin() + std::ptrdiff_t(at)); }
  void eraseWait(int request) {
    size_t wait = waitOf(request);
    erase(wait);
    at_ -= wait < at_;
  }
  size_t after(size_t at) {
    return size_t(random_.between(int64_t(at) + 1, int64_t(actions_.size())));
  }

  bool drop() {
    Action action = actions_[at_];
    if (action.kind == Kind::Wait)
      return false;
    if (action.isStart())
      eraseWait(action.request);
    erase(at_);
    return true;
  }
  // Waits for the operation a round later, if it waits in the same round, or the other way round.
  bool carry() {
    Action wait{Kind::Wait};
    wait.request = actions_[at_].request;
    const bool isLate = waitOf(wait.request) < at_;
    eraseWait(wait.request);
    insert(isLate ? after(at_) : size_t(random_.between(0, int64_t(at_))), wait);
    return true;
  }
  bool repeat() {
    Action action = actions_[at_];
    if (action.kind == Kind::Wait)
      return false;
    if (action.isStart()) {
      Action wait{Kind::Wait};
      size_t end = waitOf(action.request) + 1;
      action.request = wait.request = freshRequest();
      insert(end, wait);
      at_ += end <= at_;
    }
    insert(at_ + 1, action);
    return true;
  }
  bool move() {
    Action action = actions_[at_];
    erase(at_);
    insert(size_t(random_.between(0, int64_t(actions_.size()))), action);
    return true;
  }
  bool turn() {
    Kind &kind = actions_[at_].kind;
    const Kind kTurned[] = {Kind::Recv, Kind::Send, Kind::StartRecv, Kind::StartSend};
    if (!actions_[at_].isTransfer())
      return false;
    kind = kTurned[size_t(kind)];
    return true;
  }
  bool makeBlocking() {
    eraseWait(actions_[at_].request);
    actions_[at_].kind = actions_[at_].isSend() ? Kind::Send : Kind::Recv;
    return true;
  }
  bool makeAsync() {
    if (!actions_[at_].isTransfer())
      return false;
    Action wait{Kind::Wait};
    wait.request = actions_[at_].request = freshRequest();
    actions_[at_].kind = actions_[at_].isSend() ? Kind::StartSend : Kind::StartRecv;
    insert(after(at_), wait);
    return true;
  }

  const Protocol &protocol_;
  Segment &segment_;
  std::vector<Action> &actions_;
  Random &random_;
  size_t at_;
};

} // namespace

void mutate(Protocol &protocol, Random &random) {
  int rank = int(random.below(protocol.numRanks()));
  int number = protocol.classOf[size_t(rank)];
  if (random.chance(0.5)) {
    // This rank alone.
    protocol.classOf[size_t(rank)] = int(protocol.classes.size());
    protocol.classes.push_back(Code(protocol.classes[size_t(number)]));
    number = protocol.classOf[size_t(rank)];
  }
  Code &code = protocol.classes[size_t(number)];
  if (protocol.peers == Protocol::Peers::Ranks && random.chance(0.2)) {
    // All transfers, so that no other one says which replica was meant.
    int cross = int(random.below(3));
    for (Segment &segment : code)
      for (Action &action : segment.actions)
        action.cross = cross;
    return;
  }
  while (!code.empty()) {
    Segment &segment = code[size_t(random.below(int64_t(code.size())))];
    if (segment.actions.empty())
      return;
    Segment mutant = segment;
    if (!Mutator(protocol, mutant, random).run() || !isValid(mutant))
      continue;
    segment = std::move(mutant);
    return;
  }
}

} // namespace coll::fuzz
