// one_sided.h - boxes between memory of this process and a peer's, over a connection.
//
// Rows that follow each other without a gap on the peer's side are moved by one request; a read may
// also move equidistant rows by one. Several requests are in flight at once.

#ifndef COLL_RUNTIME_EXCHANGE_FLOW_ONE_SIDED_H
#define COLL_RUNTIME_EXCHANGE_FLOW_ONE_SIDED_H

#include "runtime/base/strided_box.h"
#include "runtime/net/transport.h"

#include <array>
#include <cstddef>
#include <vector>

namespace coll::rt::exchange {

enum class Direction { Write, Read };

// A request that is built row by row.
class JoinedRequest {
public:
  static constexpr uint64_t kMostBytes = uint64_t{64} << 20; // limits its time

  // `memory`, `maxSegments`: see OneSided.
  JoinedRequest(Direction direction, const net::Memory *memory, int maxSegments);

  // Adds bytes of this process that correspond to `peerOffset` at the peer; false if they cannot be
  // joined to the earlier ones. Up to kMostBytes always fit an empty request.
  bool take(char *own, uint64_t peerOffset, uint64_t bytes);
  bool isEmpty() const { return count_ == 0; }
  void clear() { count_ = 0; }
  Result<net::Request *> post(net::Connection &connection, const net::RemoteKey &key) const;

private:
  static constexpr int kMostSegments = 16;

  bool hasPlace(const char *own) const;
  bool join(uint64_t peerOffset, uint64_t bytes);

  const Direction direction_;
  const net::Memory *const memory_;
  const int maxSegments_;
  std::array<net::Segment, kMostSegments> segments_;
  int count_ = 0;
  // In the peer's buffer: `rows_` rows of rowBytes_ bytes; stride_ apart if there are several.
  uint64_t begin_ = 0, rowBytes_ = 0, stride_ = 0, rows_ = 0;
};

// Whether boxes need many requests of few bytes each, estimated from their first 65,536 rows.
bool isScattered(Direction direction, const std::vector<StridedBox> &boxes, char *own,
                 int maxSegments);

class OneSided {
public:
  // `own` is the start of this process's buffer; `memory` its registration, or null. `maxSegments`
  // is that of the transport's device.
  OneSided(Direction direction, net::Connection &connection, const net::RemoteKey &key, char *own,
           const net::Memory *memory, int maxSegments, int64_t timeoutUs);

  // Starts to move the box; its source is this process's buffer for Write, else the peer's. May
  // wait for earlier requests.
  Status move(const StridedBox &box);
  // Waits for everything that was started. Call it, because the destructor does not wait. After an
  // error the connection has to be closed before buffers are reused. kCollTimeout if a request has
  // not ended, whatever else has failed.
  Status finish();

private:
  static constexpr size_t kInFlight = 128;

  Status add(char *own, uint64_t peerOffset, uint64_t bytes);
  Status flush();
  Status awaitOldest();

  const Direction direction_;
  net::Connection &connection_;
  const net::RemoteKey key_;
  char *const own_;
  const int64_t timeoutUs_;
  JoinedRequest next_;
  std::array<net::Request *, kInFlight> requests_ = {}; // a ring
  size_t oldest_ = 0, inFlight_ = 0;
};

} // namespace coll::rt::exchange

#endif // COLL_RUNTIME_EXCHANGE_FLOW_ONE_SIDED_H
