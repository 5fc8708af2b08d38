#include "test/fuzz/ranks/pipeline.h"

#include <algorithm>

namespace coll::fuzz {
namespace {

using Kind = Action::Kind;

constexpr int kForward = 0, kBackward = 1; // tags

// Builds the code of one stage.
class StageBuilder {
public:
  StageBuilder(const Protocol &protocol, int stage, bool isAsync, bool hasLoops, bool crosses)
      : stages_(protocol.stages), stage_(stage), isAsync_(isAsync), hasLoops_(hasLoops),
        crosses_(crosses) {}

  // Loops carry the sends: each round waits for that of the round before.
  Code gpipeCarried(int batches) {
    for (int tag : {kForward, kBackward}) {
      int from = tag == kForward ? stage_ - 1 : stage_ + 1, to = 2 * stage_ - from;
      code_.emplace_back();
      receiveNow(from, tag);
      code_.emplace_back().trips = std::max(batches, 1);
      if (batches > 0)
        receiveNow(from, tag);
      if (isStage(to)) {
        Action start{Kind::StartSend, to, tag}, wait{Kind::Wait};
        start.request = wait.request = nextRequest_++;
        if (batches > 0)
          add(wait);
        add(start);
        if (batches == 0)
          add(wait);
      }
    }
    return std::move(code_);
  }

  Code gpipe(int batches) {
    repeat(batches, [&] {
      receive(stage_ - 1, kForward);
      send(stage_ + 1, kForward);
    });
    repeat(batches, [&] {
      receive(stage_ + 1, kBackward);
      send(stage_ - 1, kBackward);
    });
    return std::move(code_);
  }

  Code oneForwardOneBackward(int batches) {
    isAsync_ = true;
    int warm = std::min(stages_ - 1 - stage_, batches);
    auto forward = [&] {
      receiveNow(stage_ - 1, kForward);
      send(stage_ + 1, kForward);
    };
    auto backward = [&] {
      receiveNow(stage_ + 1, kBackward);
      send(stage_ - 1, kBackward);
    };
    repeat(warm, forward);
    repeat(batches - warm, [&] {
      forward();
      backward();
    });
    repeat(warm, backward);
    return std::move(code_);
  }

  // The last stage hands the first chunk's results to the first stage.
  Code twoChunks(int batches) {
    isAsync_ = true;
    hasLoops_ = false;
    for (int chunk = 0; chunk < 2; ++chunk) {
      code_.emplace_back();
      for (int i = 0; i < batches; ++i) {
        if (chunk > 0 || stage_ > 0)
          receiveNow((stage_ + stages_ - 1) % stages_, kForward);
        if (chunk == 0 || stage_ + 1 < stages_)
          send((stage_ + 1) % stages_, kForward);
      }
      flush();
    }
    return std::move(code_);
  }

  Code ring(int rounds) {
    isAsync_ = true;
    repeat(rounds, [&] {
      send((stage_ + 1) % stages_, kForward);
      receive((stage_ + stages_ - 1) % stages_, kForward);
    });
    return std::move(code_);
  }

private:
  template <typename Body>
  void repeat(int trips, Body body) {
    if (trips == 0)
      return;
    if (hasLoops_) {
      code_.emplace_back().trips = trips;
      body();
      flush();
      return;
    }
    code_.emplace_back();
    for (int i = 0; i < trips; ++i) {
      body();
      flush();
    }
  }

  void add(Action action) {
    // Both ends of a transfer agree: the way up crosses, the way down crosses back.
    if (crosses_ && action.isTransfer())
      action.cross = action.peer > stage_ ? 1 : 2;
    code_.back().actions.push_back(action);
  }
  bool isStage(int stage) const { return stage >= 0 && stage < stages_; }

  void start(Kind kind, int peer, int tag) {
    Action action{kind, peer, tag};
    action.request = nextRequest_++;
    add(action);
    open_.push_back(action.request);
  }
  void send(int peer, int tag) {
    if (!isStage(peer))
      return;
    if (isAsync_)
      start(Kind::StartSend, peer, tag);
    else
      add({Kind::Send, peer, tag});
  }
  void receiveNow(int peer, int tag) {
    if (isStage(peer))
      add({Kind::Recv, peer, tag});
  }
  void receive(int peer, int tag) {
    if (!isAsync_)
      return receiveNow(peer, tag);
    if (!isStage(peer))
      return;
    start(Kind::StartRecv, peer, tag);
    // What is sent next comes from it, except on a ring.
    if (code_.back().actions.size() == 1)
      flush();
  }
  // Waits for everything in flight.
  void flush() {
    for (int request : open_) {
      Action wait{Kind::Wait};
      wait.request = request;
      add(wait);
    }
    open_.clear();
  }

  int stages_, stage_;
  bool isAsync_, hasLoops_, crosses_;
  int nextRequest_ = 0;
  Code code_;
  std::vector<int> open_;
};

} // namespace

Protocol makePipeline(Random &random) {
  Protocol protocol;
  protocol.replicas = int(random.between(1, 3));
  protocol.stages = int(random.between(2, protocol.replicas == 3 ? 2 : 5 - protocol.replicas));
  protocol.peers = random.chance(0.5) ? Protocol::Peers::Positions : Protocol::Peers::Ranks;
  protocol.isOneProgram = random.chance(0.5);
  protocol.spelling = random.next();
  std::vector<int64_t> crossing = random.permutation(size_t(protocol.replicas));
  for (std::vector<int> &each : protocol.crossing)
    each.resize(crossing.size());
  for (size_t i = 0; i < crossing.size(); ++i) {
    protocol.crossing[0][i] = int(crossing[i]);
    protocol.crossing[1][size_t(crossing[i])] = int(i);
  }
  bool crosses = protocol.peers == Protocol::Peers::Ranks && random.chance(0.5);
  int schedule = int(random.below(5)), batches = int(random.between(1, 3));
  bool isAsync = random.chance(0.5), hasLoops = random.chance(0.5);
  int reduced = int(random.between(-3, 2));
  for (int stage = 0; stage < protocol.stages; ++stage) {
    StageBuilder builder(protocol, stage, isAsync, hasLoops, crosses);
    Code code = schedule == 0   ? builder.gpipe(batches)
                : schedule == 1 ? builder.oneForwardOneBackward(batches)
                : schedule == 2 ? builder.twoChunks(std::min(batches, 2))
                : schedule == 3 ? builder.gpipeCarried(batches - 1)
                                : builder.ring(batches);
    if (reduced >= 0) {
      Action reduce{Kind::Reduce};
      reduce.group = reduced;
      code.push_back({1, {reduce}});
    }
    protocol.classes.push_back(std::move(code));
  }
  for (int rank = 0; rank < protocol.numRanks(); ++rank)
    protocol.classOf.push_back(rank % protocol.stages);
  return protocol;
}

} // namespace coll::fuzz
