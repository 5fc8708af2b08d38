// greeting.h - lets both ends of a connection agree on the format of its messages.
//
// Each end sends one small message with a reserved tag and compares it with the peer's. Neither end
// waits for it: a peer without this layer sends none, and plain messages look the same with and
// without this layer. Scattered messages have other tags than plain ones, so that the two cannot be
// confused.

#ifndef COLL_RUNTIME_NET_GPU_GREETING_H
#define COLL_RUNTIME_NET_GPU_GREETING_H

#include "runtime/net/transport.h"

#include <array>

namespace coll::net {

inline constexpr uint64_t kGreetingTag = 0xc011'de71'0000'0001;
inline constexpr uint64_t kScatterTagBit = uint64_t(1) << 63;

class Greeting {
public:
  // Posts the send and the receive. `connection` outlives the greeting's requests.
  Status start(Connection &connection, bool scatter);
  // Progresses; kCollMismatch, with both settings, if the ends disagree. A failure of the
  // connection is not reported.
  Status progress(Connection &connection);
  bool over() const { return !sent_ && !expected_; }

private:
  static constexpr size_t kBytes = 12;

  bool scatter_ = false;
  std::array<uint8_t, kBytes> mine_ = {}, theirs_ = {};
  Request *sent_ = nullptr, *expected_ = nullptr;
};

} // namespace coll::net

#endif // COLL_RUNTIME_NET_GPU_GREETING_H
