#include "runtime/base/aligned_buffer.h"
#include "tools/coll-perf/reshard/memory.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

namespace coll::perf {

namespace {

// What a rank tells the others, sent as plain bytes.
struct Card {
  net::Handle handle;
  net::RemoteKey keys[kPlaces];
};

class TcpRankMemory final : public HostRankMemory {
public:
  ~TcpRankMemory() override {
    active_.clear();
    passive_.clear();
    listener_.reset();
    for (net::Memory *memory : memories_)
      if (memory)
        transport_->deregMr(memory);
  }

  Status open(const ReshardTask &task, int rank, const PlaceBytes &bytes,
              net::Bootstrap &bootstrap) {
    Result<std::unique_ptr<net::Transport>> transport = makeTcp();
    if (!transport)
      return transport.status();
    transport_ = transport.take();
    Result<std::unique_ptr<net::Listener>> listener = transport_->listen(0);
    if (!listener)
      return listener.status();
    listener_ = listener.take();
    Card card;
    card.handle = listener_->handle();
    for (size_t place = 0; place < kPlaces; ++place)
      COLL_RETURN_IF_ERROR(makeBuffer(place, bytes[place], card.keys[place]));
    COLL_RETURN_IF_ERROR(swapCards(card, bootstrap, task.timeoutUs, cards_));
    return connect(rank, task.timeoutUs);
  }

  Result<rt::exchange::PeerBuffer> peer(int rank, Place place) override {
    const auto at = static_cast<size_t>(rank);
    return rt::exchange::PeerBuffer{nullptr, 0, active_[at].get(),
                                    cards_[at].keys[static_cast<size_t>(place)],
                                    transport_->devices()[0].maxSegments};
  }

private:
  Status makeBuffer(size_t place, int64_t bytes, net::RemoteKey &key) {
    Result<rt::AlignedBuffer> made = rt::AlignedBuffer::create(bytes);
    if (!made)
      return made.status().annotate("host memory for --shape");
    buffers_[place] = made.take();
    Result<net::Memory *> memory = transport_->regMr(
        0, {buffers_[place].data(), static_cast<uint64_t>(bytes), net::MemoryKind::Host, -1, 0});
    if (!memory)
      return memory.status();
    memories_[place] = *memory;
    key = (*memory)->remoteKey();
    own_[place] = {buffers_[place].data(), bytes, *memory};
    return {};
  }

  // Connects to all ranks; keeps the accepted ends, because they serve accesses.
  Status connect(int rank, int64_t timeoutUs) {
    std::vector<std::unique_ptr<net::Connector>> connectors(cards_.size());
    active_.resize(cards_.size());
    for (size_t i = 0; i < cards_.size(); ++i) {
      if (static_cast<int>(i) == rank)
        continue;
      Result<std::unique_ptr<net::Connector>> made = transport_->connect(0, cards_[i].handle);
      if (!made)
        return made.status().annotate("rank " + std::to_string(i));
      connectors[i] = made.take();
    }
    const int64_t deadlineUs = net::nowUs() + timeoutUs;
    while (true) {
      bool done = passive_.size() + 1 == cards_.size();
      for (size_t i = 0; i < cards_.size(); ++i) {
        if (!connectors[i] || active_[i])
          continue;
        Result<std::unique_ptr<net::Connection>> got = connectors[i]->poll();
        if (!got)
          return got.status().annotate("rank " + std::to_string(i));
        active_[i] = got.take();
        done &= active_[i] != nullptr;
      }
      Result<std::unique_ptr<net::Connection>> got = listener_->accept();
      if (!got)
        return got.status();
      if (*got)
        passive_.push_back(got.take());
      if (done)
        return {};
      if (net::nowUs() > deadlineUs)
        return {kCollTimeout, "the ranks do not connect"};
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }

  std::unique_ptr<net::Transport> transport_;
  std::unique_ptr<net::Listener> listener_;
  rt::AlignedBuffer buffers_[kPlaces];
  net::Memory *memories_[kPlaces] = {};
  std::vector<Card> cards_;
  std::vector<std::unique_ptr<net::Connection>> active_, passive_;
};

} // namespace

Result<std::unique_ptr<RankMemory>> makeHostMemory(const ReshardTask &task, int rank,
                                                   const PlaceBytes &bytes,
                                                   net::Bootstrap &bootstrap) {
  auto memory = std::make_unique<TcpRankMemory>();
  COLL_RETURN_IF_ERROR(memory->open(task, rank, bytes, bootstrap));
  return std::unique_ptr<RankMemory>(std::move(memory));
}

} // namespace coll::perf
