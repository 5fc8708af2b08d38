#include "runtime/exchange/tensor/shared_segment.h"
#include "tools/coll-perf/reshard/memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

namespace coll::perf {

namespace {

using rt::exchange::SharedSegment;

// What a rank tells the others, sent as plain bytes.
struct Card {
  int64_t process;
  int descriptors[kPlaces];
  int64_t bytes[kPlaces];
};

class SharedRankMemory final : public HostRankMemory {
public:
  Status open(const ReshardTask &task, const PlaceBytes &bytes, net::Bootstrap &bootstrap) {
    Card card = {};
    card.process = ::getpid();
    for (size_t place = 0; place < kPlaces; ++place) {
      Result<SharedSegment> made = SharedSegment::create(std::max<int64_t>(bytes[place], 1));
      if (!made)
        return made.status().annotate("shared memory for --shape");
      segments_[place] = made.take();
      own_[place] = {segments_[place].data(), bytes[place], nullptr};
      card.descriptors[place] = segments_[place].fd().get();
      card.bytes[place] = bytes[place];
    }
    COLL_RETURN_IF_ERROR(swapCards(card, bootstrap, task.timeoutUs, cards_));
    return {};
  }

  Result<rt::exchange::PeerBuffer> peer(int rank, Place place) override {
    SharedSegment &window = windows_[{rank, place}];
    if (!window.data()) {
      Result<SharedSegment> opened =
          openOf(cards_[static_cast<size_t>(rank)], static_cast<size_t>(place));
      if (!opened)
        return opened.status().annotate("memory of rank " + std::to_string(rank));
      window = opened.take();
    }
    return rt::exchange::PeerBuffer{window.data(), window.bytes(), nullptr, {}, 1};
  }

private:
  // Ranks are processes of one user on one machine, so each can open the others' descriptors.
  static Result<SharedSegment> openOf(const Card &card, size_t place) {
    const std::string path =
        "/proc/" + std::to_string(card.process) + "/fd/" + std::to_string(card.descriptors[place]);
    const rt::Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!fd.valid())
      return Status(kCollPeer, path + ": " + std::strerror(errno));
    return SharedSegment::open(fd, card.bytes[place]);
  }

  SharedSegment segments_[kPlaces];
  std::map<std::pair<int, Place>, SharedSegment> windows_;
  std::vector<Card> cards_;
};

} // namespace

Result<std::unique_ptr<RankMemory>>
makeSharedMemory(const ReshardTask &task, const PlaceBytes &bytes, net::Bootstrap &bootstrap) {
  auto memory = std::make_unique<SharedRankMemory>();
  COLL_RETURN_IF_ERROR(memory->open(task, bytes, bootstrap));
  return std::unique_ptr<RankMemory>(std::move(memory));
}

} // namespace coll::perf
