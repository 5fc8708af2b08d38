#include "runtime/net/loopback/loopback.h"

#include "runtime/net/auth.h"
#include "runtime/net/requests.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>

namespace coll::net {

namespace {

constexpr int kMaxSegments = 16;
constexpr size_t kMaxRequests = 256;

struct LoopRequest final : Request {
  std::vector<Segment> segments;
  uint64_t tag = 0;
  uint64_t bytes = 0; // of the buffers; when done, of the message
  bool outbound = false;
  bool done = false;
  Status failure;
};

struct LoopMemory final : Memory {
  RemoteKey remoteKey() const override { return key; }
  RemoteKey key;
  uint8_t *data = nullptr;
};

// One side of a connection. Protected by the pair's lock.
struct Side {
  std::deque<LoopRequest *> sends, recvs; // without a matching half
  std::vector<std::unique_ptr<LoopRequest>> requests;
  bool closed = false;
};

struct Pair {
  std::mutex mutex;
  Side sides[2];
};

// The state that the transports of the process share. `mutex` is taken after a pair's.
struct World {
  std::mutex mutex;
  std::map<uint64_t, std::deque<std::shared_ptr<Pair>> *> listeners;
  std::map<uint64_t, std::unique_ptr<LoopMemory>> memory;

  static World &get() {
    static World world;
    return world;
  }
};

// Calls `visit(piece, bytes)` for each buffer's share of the first `bytes` bytes.
template <typename Visit>
void forEachPiece(const std::vector<Segment> &segments, uint64_t bytes, Visit visit) {
  for (const Segment &segment : segments) {
    uint64_t share = std::min(segment.bytes, bytes);
    if (share > 0)
      visit(static_cast<uint8_t *>(segment.data), share);
    bytes -= share;
  }
}

void copySegments(const LoopRequest &from, const LoopRequest &to) {
  size_t source = 0;
  uint64_t used = 0; // bytes of the source that were used
  forEachPiece(to.segments, from.bytes, [&](uint8_t *target, uint64_t share) {
    while (share > 0) {
      const Segment &segment = from.segments[source];
      uint64_t part = std::min(share, segment.bytes - used);
      if (part > 0)
        std::memcpy(target, static_cast<uint8_t *>(segment.data) + used, part);
      target += part;
      share -= part;
      used += part;
      if (used == segment.bytes) {
        ++source;
        used = 0;
      }
    }
  });
}

void exchange(LoopRequest &send, LoopRequest &recv) {
  send.done = recv.done = true;
  if (send.bytes > recv.bytes) {
    send.failure = recv.failure =
        Status(kCollMismatch, "a message of " + std::to_string(send.bytes) +
                                  " bytes for a receive of " + std::to_string(recv.bytes));
    return;
  }
  copySegments(send, recv);
  recv.bytes = send.bytes;
}

LoopRequest *takeTag(std::deque<LoopRequest *> &queue, uint64_t tag) {
  auto it = std::find_if(queue.begin(), queue.end(),
                         [tag](const LoopRequest *request) { return request->tag == tag; });
  if (it == queue.end())
    return nullptr;
  LoopRequest *request = *it;
  queue.erase(it);
  return request;
}

class LoopConnection final : public Connection {
public:
  LoopConnection(std::shared_ptr<Pair> pair, int side, const DeviceProperties &properties)
      : pair_(std::move(pair)), mine_(pair_->sides[side]), peer_(pair_->sides[1 - side]),
        properties_(properties) {}
  ~LoopConnection() override { close(); }

  Result<Request *> isend(const Segment *segments, int count, uint64_t tag) override {
    std::lock_guard<std::mutex> lock(pair_->mutex);
    Result<LoopRequest *> begun = begin(segments, count, tag, /*outbound=*/true);
    if (!begun.ok() || !*begun)
      return begun.ok() ? Result<Request *>(nullptr) : begun.status();
    if (LoopRequest *recv = takeTag(peer_.recvs, tag))
      exchange(**begun, *recv);
    else
      mine_.sends.push_back(*begun);
    return static_cast<Request *>(*begun);
  }

  Result<Request *> irecv(const Segment *segments, int count, uint64_t tag) override {
    std::lock_guard<std::mutex> lock(pair_->mutex);
    Result<LoopRequest *> begun = begin(segments, count, tag, /*outbound=*/false);
    if (!begun.ok() || !*begun)
      return begun.ok() ? Result<Request *>(nullptr) : begun.status();
    if (LoopRequest *send = takeTag(peer_.sends, tag))
      exchange(*send, **begun);
    else
      mine_.recvs.push_back(*begun);
    return static_cast<Request *>(*begun);
  }

  Result<Request *> iwrite(const Segment *segments, int count, const RemoteKey &key,
                           uint64_t offset) override {
    return oneSided(segments, count, key, offset, /*write=*/true);
  }
  Result<Request *> iread(const Segment *segments, int count, const RemoteKey &key,
                          const RemoteRows &rows) override {
    return oneSided(segments, count, key, rows, /*write=*/false);
  }

  Result<Request *> iflush(const Segment *segments, int count) override {
    std::lock_guard<std::mutex> lock(pair_->mutex);
    Result<LoopRequest *> begun = begin(segments, count, 0, /*outbound=*/true);
    if (!begun.ok())
      return begun.status();
    if (*begun)
      (*begun)->done = true;
    return static_cast<Request *>(*begun);
  }

  Result<Completion> test(Request *opaque) override {
    auto *request = static_cast<LoopRequest *>(opaque);
    std::lock_guard<std::mutex> lock(pair_->mutex);
    if (!request->done)
      return Completion();
    Completion completion{true, request->bytes};
    Status failure = request->failure;
    auto &all = mine_.requests;
    all.erase(std::find_if(all.begin(), all.end(),
                           [&](const auto &candidate) { return candidate.get() == request; }));
    if (!failure.ok())
      return failure;
    return completion;
  }

  void close() override {
    std::lock_guard<std::mutex> lock(pair_->mutex);
    if (mine_.closed)
      return;
    mine_.closed = true;
    fail(mine_, {kCollAborted, "the connection was closed"});
    fail(peer_, {kCollPeer, "the peer closed the connection"});
  }

private:
  // Null if no request is free.
  Result<LoopRequest *> begin(const Segment *segments, int count, uint64_t tag, bool outbound) {
    Result<uint64_t> bytes = totalBytes(segments, count, properties_);
    if (!bytes.ok())
      return bytes.status();
    if (mine_.closed)
      return Status(kCollAborted, "the connection was closed");
    if (peer_.closed)
      return Status(kCollPeer, "the peer closed the connection");
    auto same = [outbound](const auto &other) { return other->outbound == outbound; };
    auto &all = mine_.requests;
    if (static_cast<size_t>(std::count_if(all.begin(), all.end(), same)) >= kMaxRequests)
      return static_cast<LoopRequest *>(nullptr);
    all.push_back(std::make_unique<LoopRequest>());
    LoopRequest *request = all.back().get();
    request->segments.assign(segments, segments + count);
    request->tag = tag;
    request->bytes = *bytes;
    request->outbound = outbound;
    return request;
  }

  Result<Request *> oneSided(const Segment *segments, int count, const RemoteKey &key,
                             const RemoteRows &rows, bool write) {
    Result<uint64_t> total = totalBytes(segments, count, rows, properties_);
    if (!total.ok())
      return total.status();
    std::lock_guard<std::mutex> lock(pair_->mutex);
    Result<LoopRequest *> begun = begin(segments, count, 0, write);
    if (!begun.ok() || !*begun)
      return begun.ok() ? Result<Request *>(nullptr) : begun.status();
    LoopRequest &request = **begun;
    request.done = true;
    World &world = World::get();
    std::lock_guard<std::mutex> memoryLock(world.mutex);
    auto it = world.memory.find(key.key);
    if (it == world.memory.end() || !rows.fit(request.bytes, it->second->key.bytes)) {
      request.failure = noSuchRange();
      return static_cast<Request *>(&request);
    }
    uint64_t position = 0; // in the data that is read or written
    forEachPiece(request.segments, request.bytes, [&](uint8_t *local, uint64_t share) {
      for (uint64_t part = 0; share > 0; share -= part, local += part, position += part) {
        part = std::min(share, rows.following(position));
        uint8_t *remote = it->second->data + rows.at(position);
        std::memcpy(write ? remote : local, write ? local : remote, part);
      }
    });
    return static_cast<Request *>(&request);
  }

  static void fail(Side &side, const Status &why) {
    side.sends.clear();
    side.recvs.clear();
    for (const std::unique_ptr<LoopRequest> &request : side.requests)
      if (!request->done) {
        request->failure = why;
        request->done = true;
      }
  }

  std::shared_ptr<Pair> pair_;
  Side &mine_, &peer_;
  DeviceProperties properties_;
};

class LoopListener final : public Listener {
public:
  LoopListener(uint64_t number, const DeviceProperties &properties)
      : number_(number), properties_(properties) {
    std::memcpy(handle_.bytes.data(), &number, sizeof(number));
    std::lock_guard<std::mutex> lock(World::get().mutex);
    World::get().listeners[number] = &waiting_;
  }
  ~LoopListener() override {
    std::lock_guard<std::mutex> lock(World::get().mutex);
    World::get().listeners.erase(number_);
  }
  const Handle &handle() const override { return handle_; }
  Result<std::unique_ptr<Connection>> accept() override {
    std::lock_guard<std::mutex> lock(World::get().mutex);
    if (waiting_.empty())
      return std::unique_ptr<Connection>();
    std::shared_ptr<Pair> pair = waiting_.front();
    waiting_.pop_front();
    return std::unique_ptr<Connection>(std::make_unique<LoopConnection>(pair, 1, properties_));
  }

private:
  uint64_t number_;
  DeviceProperties properties_;
  Handle handle_;
  std::deque<std::shared_ptr<Pair>> waiting_; // protected by the world's lock
};

class LoopConnector final : public Connector {
public:
  LoopConnector(std::shared_ptr<Pair> pair, const DeviceProperties &properties)
      : pair_(std::move(pair)), properties_(properties) {}
  Result<std::unique_ptr<Connection>> poll() override {
    if (!pair_)
      return Status::invalid("the connection was taken before");
    return std::unique_ptr<Connection>(
        std::make_unique<LoopConnection>(std::move(pair_), 0, properties_));
  }

private:
  std::shared_ptr<Pair> pair_;
  DeviceProperties properties_;
};

class LoopTransport final : public Transport {
public:
  LoopTransport() {
    DeviceProperties properties;
    properties.name = "loopback";
    properties.maxSegments = kMaxSegments;
    properties.maxRequests = static_cast<int32_t>(kMaxRequests);
    properties.maxMessageBytes = uint64_t(1) << 40;
    devices_.push_back(properties);
  }

  const char *name() const override { return "loopback"; }
  const std::vector<DeviceProperties> &devices() const override { return devices_; }

  Result<std::unique_ptr<Listener>> listen(int device) override {
    COLL_RETURN_IF_ERROR(check(device));
    uint64_t number = 0;
    COLL_RETURN_IF_ERROR(fillRandom(&number, sizeof(number)));
    return std::unique_ptr<Listener>(std::make_unique<LoopListener>(number, devices_[0]));
  }

  Result<std::unique_ptr<Connector>> connect(int device, const Handle &handle) override {
    COLL_RETURN_IF_ERROR(check(device));
    uint64_t number = 0;
    std::memcpy(&number, handle.bytes.data(), sizeof(number));
    auto pair = std::make_shared<Pair>();
    std::lock_guard<std::mutex> lock(World::get().mutex);
    auto it = World::get().listeners.find(number);
    if (it == World::get().listeners.end())
      return Status::invalid("the handle is not that of a loopback listener");
    it->second->push_back(pair);
    return std::unique_ptr<Connector>(std::make_unique<LoopConnector>(pair, devices_[0]));
  }

  Result<Memory *> regMr(int device, const MemoryRegion &region) override {
    COLL_RETURN_IF_ERROR(check(device));
    if (region.kind != MemoryKind::Host)
      return Status(kCollUnsupported, "loopback moves host memory only");
    if (!region.data && region.bytes > 0)
      return Status::invalid("memory at null");
    auto memory = std::make_unique<LoopMemory>();
    COLL_RETURN_IF_ERROR(fillRandom(&memory->key.key, sizeof(memory->key.key)));
    memory->key.bytes = region.bytes;
    memory->data = static_cast<uint8_t *>(region.data);
    Memory *result = memory.get();
    std::lock_guard<std::mutex> lock(World::get().mutex);
    World::get().memory[memory->key.key] = std::move(memory);
    return result;
  }

  void deregMr(Memory *memory) override {
    if (!memory)
      return;
    std::lock_guard<std::mutex> lock(World::get().mutex);
    World::get().memory.erase(memory->remoteKey().key);
  }

private:
  Status check(int device) const {
    return device == 0 ? Status()
                       : Status::invalid("there is no loopback device " + std::to_string(device));
  }

  std::vector<DeviceProperties> devices_;
};

} // namespace

Result<std::unique_ptr<Transport>> createLoopbackTransport() {
  return std::unique_ptr<Transport>(std::make_unique<LoopTransport>());
}

} // namespace coll::net
