// Requests of the application.

#include "runtime/net/verbs/endpoint.h"

#include <algorithm>

namespace coll::net::verbs {

namespace {

// The device reads small messages of this size and more from registered memory itself.
constexpr uint64_t kReferenceBytes = 2048;

bool isAllOnHost(const Segment *segments, int count) {
  return std::all_of(segments, segments + count, [](const Segment &segment) {
    return !segment.memory || static_cast<const Region *>(segment.memory)->isHost();
  });
}

// Bytes from the first row to the last, or nullopt if they exceed the address space.
std::optional<uint64_t> spanOf(const RemoteRows &rows, uint64_t bytes) {
  if (!rows.fit(bytes, UINT64_MAX))
    return std::nullopt;
  const uint64_t span = bytes ? rows.at(bytes - 1) + 1 - rows.offset : 0;
  return span <= kMaxMessageBytes ? std::optional(span) : std::nullopt;
}

bool isAllRegistered(const Segment *segments, int count) {
  return std::all_of(segments, segments + count,
                     [](const Segment &segment) { return segment.memory || segment.bytes == 0; });
}

} // namespace

// Finds the keys by which the device reaches the buffers; registers buffers that are not
// registered.
Result<Keys> Endpoint::prepare(const Segment *segments, int count, bool isSource) {
  Keys keys;
  keys.made = true;
  for (int i = 0; i < count; ++i) {
    const Segment &segment = segments[i];
    auto place = static_cast<size_t>(i);
    if (segment.bytes == 0)
      continue;
    if (!segment.memory) {
      Result<RegistrationCache::Lease> lease =
          device_.cache().acquire(segment.data, segment.bytes, isSource);
      if (!lease.ok())
        return lease.status();
      keys.leases[place] = lease.take();
      keys.lkeys[place] = keys.leases[place].mr()->lkey;
      keys.rkeys[place] = keys.leases[place].mr()->rkey;
      continue;
    }
    auto *region = const_cast<Region *>(static_cast<const Region *>(segment.memory));
    uint64_t address = reinterpret_cast<uintptr_t>(segment.data);
    if (address < region->address() || !region->covers(address - region->address(), segment.bytes))
      return Status::invalid("buffer " + std::to_string(i) + " is not within its memory");
    Result<MemoryKeys> known = region->on(device_);
    if (!known.ok())
      return known.status();
    keys.lkeys[place] = known->lkey;
    keys.rkeys[place] = known->rkey;
  }
  return keys;
}

bool Endpoint::hasRoom(const Pool &pool) {
  std::lock_guard<std::mutex> lock(mutex_);
  return pool.available() > 0;
}

// Null if no request is free.
VerbsRequest *Endpoint::begin(Pool &pool, Kind kind, const Segment *segments, int count,
                              uint64_t total) {
  VerbsRequest *request = pool.take();
  if (!request)
    return nullptr;
  request->begin(kind, segments, count, total);
  request->open = request->isBusy = false;
  request->onHost = isAllOnHost(segments, count);
  request->parts = request->expected = 0;
  return request;
}

void Endpoint::release(VerbsRequest &request) {
  (request.isInbound() ? inbound_ : outbound_).give(request);
}

Result<Request *> Endpoint::isend(const Segment *segments, int count, uint64_t tag) {
  Result<uint64_t> total = totalBytes(segments, count, properties_);
  if (!total.ok())
    return total.status();
  bool isSmall = *total <= kEagerBytes, onHost = isAllOnHost(segments, count);
  bool byReference = isSmall && count + 1 <= maxSegments_ &&
                     (!onHost || *total >= kReferenceBytes) && isAllRegistered(segments, count);
  isSmall = isSmall && (onHost || byReference);
  Keys keys;
  if (!isSmall || byReference) {
    if (!hasRoom(outbound_))
      return static_cast<Request *>(nullptr);
    Result<Keys> prepared = prepare(segments, count, /*isSource=*/true);
    if (!prepared.ok())
      return prepared.status();
    keys = prepared.take();
  }
  std::lock_guard<std::mutex> lock(mutex_);
  COLL_RETURN_IF_ERROR(refusal());
  bool isEager = isSmall && *total <= windowBytes_ && windowMessages_ > 0;
  if (!isEager && !keys.made) {
    Result<Keys> prepared = prepare(segments, count, /*isSource=*/true);
    if (!prepared.ok())
      return prepared.status();
    keys = prepared.take();
  }
  VerbsRequest *request = begin(outbound_, Kind::Send, segments, count, *total);
  if (!request)
    return static_cast<Request *>(nullptr);
  request->keys = std::move(keys);
  Outgoing outgoing;
  outgoing.message.type = isEager ? MessageType::Eager : MessageType::Rts;
  outgoing.message.tag = tag;
  outgoing.message.bytes = *total;
  if (isEager) {
    windowBytes_ -= *total;
    --windowMessages_;
    outgoing.request = request;
    outgoing.byReference = byReference;
  } else {
    outgoing.message.id = request->id();
    request->open = true;
  }
  push(std::move(outgoing));
  flush();
  return static_cast<Request *>(request);
}

Result<Request *> Endpoint::irecv(const Segment *segments, int count, uint64_t tag) {
  Result<uint64_t> total = totalBytes(segments, count, properties_);
  if (!total.ok())
    return total.status();
  Keys keys;
  if (*total > kEagerBytes || !isAllOnHost(segments, count)) {
    if (!hasRoom(inbound_))
      return static_cast<Request *>(nullptr);
    Result<Keys> prepared = prepare(segments, count, /*isSource=*/false);
    if (!prepared.ok())
      return prepared.status();
    keys = prepared.take();
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_)
    return refusal();
  VerbsRequest *request = begin(inbound_, Kind::Recv, segments, count, *total);
  if (!request)
    return static_cast<Request *>(nullptr);
  request->keys = std::move(keys);
  request->tag = tag;
  if (!matchUnexpected(*request)) {
    // Messages that arrived before the end may still be received; no more will arrive.
    if (Status refused = refusal(); !refused.ok()) {
      request->keys = Keys();
      release(*request);
      return refused;
    }
    posted_.push_back(request);
  }
  flush();
  return static_cast<Request *>(request);
}

// Asks the peer first (see Gotchas in the README). For rows it asks for the range from the first to
// the last.
Result<Request *> Endpoint::access(bool isWrite, const Segment *segments, int count,
                                   const RemoteKey &key, const RemoteRows &rows) {
  Result<uint64_t> total = totalBytes(segments, count, rows, properties_);
  if (!total.ok())
    return total.status();
  Pool &pool = isWrite ? outbound_ : inbound_;
  if (!hasRoom(pool))
    return static_cast<Request *>(nullptr);
  Result<Keys> keys = prepare(segments, count, isWrite);
  if (!keys.ok())
    return keys.status();
  std::lock_guard<std::mutex> lock(mutex_);
  COLL_RETURN_IF_ERROR(refusal());
  VerbsRequest *request = begin(pool, isWrite ? Kind::Write : Kind::Read, segments, count, *total);
  if (!request)
    return static_cast<Request *>(nullptr);
  request->keys = keys.take();
  request->rows = rows;
  const std::optional<uint64_t> span = spanOf(rows, *total);
  if (!span) {
    request->fail(noSuchRange());
    return static_cast<Request *>(request);
  }
  request->open = true;
  Outgoing outgoing;
  outgoing.message.type = MessageType::Access;
  outgoing.message.id = request->id();
  outgoing.message.tag = isWrite ? 0 : 1;
  outgoing.message.key = key.key;
  outgoing.message.offset = rows.offset;
  outgoing.message.bytes = *span;
  push(std::move(outgoing));
  flush();
  return static_cast<Request *>(request);
}

Result<Request *> Endpoint::iflush(const Segment *segments, int count) {
  Result<uint64_t> total = totalBytes(segments, count, properties_);
  if (!total.ok())
    return total.status();
  bool onHost = isAllOnHost(segments, count);
  Keys keys;
  if (!onHost) {
    Result<Keys> prepared = prepare(segments, count, /*isSource=*/true);
    if (!prepared.ok())
      return prepared.status();
    keys = prepared.take();
  }
  std::lock_guard<std::mutex> lock(mutex_);
  COLL_RETURN_IF_ERROR(refusal());
  VerbsRequest *request = begin(outbound_, Kind::Flush, segments, count, *total);
  if (!request)
    return static_cast<Request *>(nullptr);
  request->keys = std::move(keys);
  Status started;
  if (onHost)
    request->finish();
  else
    started = mirrorFlush(*request);
  if (!started.ok()) {
    release(*request);
    return started;
  }
  flush();
  return static_cast<Request *>(request);
}

Result<Completion> Endpoint::test(Request *opaque) {
  auto *request = static_cast<VerbsRequest *>(opaque);
  // The calling thread polls, which saves a wake-up of the progress thread.
  if (request->isPending()) {
    std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (lock.owns_lock() && !over_)
      progress();
  }
  if (request->isPending())
    return Completion();
  Keys keys; // released without the lock, because deregistering may be slow
  std::lock_guard<std::mutex> lock(mutex_);
  Result<Completion> outcome = request->outcome();
  keys = std::move(request->keys);
  request->keys = Keys();
  release(*request);
  return outcome;
}

} // namespace coll::net::verbs
