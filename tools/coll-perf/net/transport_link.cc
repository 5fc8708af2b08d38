// A transport of runtime/net, driven by one thread, like NCCL's proxy or a rank does.

#include "runtime/net/bond/bond.h"
#include "runtime/net/tcp/tcp.h"
#ifdef COLL_HAVE_VERBS
#include "runtime/net/verbs/verbs.h"
#endif
#include "tools/coll-perf/net/arena.h"
#include "tools/coll-perf/net/link.h"
#include "tools/coll-perf/units.h"

#include <algorithm>
#include <sched.h>

namespace coll::perf {

namespace {

using net::Connection;
using net::nowUs;
using net::Request;
using net::Segment;

constexpr uint64_t kDataTag = 1, kDoneTag = 2, kHelloTag = 3;
// After this long without progress the peer counts as lost.
constexpr int64_t kStallUs = 30'000'000;
constexpr int kSpins = 200;

// Decides when to give up waiting. Call `moved` after each poll.
class Patience {
public:
  Status look(bool moved) {
    if (moved) {
      idle_ = 0;
      return {};
    }
    if (++idle_ < kSpins)
      return {};
    sched_yield();
    if (idle_ == kSpins)
      sinceUs_ = nowUs();
    if (idle_ % 1024 == 0 && nowUs() - sinceUs_ > kStallUs)
      return {kCollTimeout, "no progress for 30 s"};
    return {};
  }

private:
  int64_t idle_ = 0, sinceUs_ = 0;
};

// One direction of one connection.
struct Flow {
  enum class Kind { Send, Recv, Write, Read };
  Connection *connection;
  Kind kind;
  uint64_t firstSlot;
  uint64_t posted = 0, done = 0;
  std::vector<Request *> ring; // the requests on the way; the oldest is done % size
};

class TransportLink final : public Link {
public:
  TransportLink(Job &job, const NetPlan &plan)
      : job_(job), plan_(plan),
        slots_(static_cast<uint64_t>(plan.connections) * static_cast<uint64_t>(plan.inflight)),
        out_(slots_ + 1, plan.largest()), in_(slots_ + 1, plan.largest()) {}
  ~TransportLink() override {
    connections_.clear();
    for (net::Memory *memory : {outMemory_, inMemory_})
      if (memory)
        transport_->deregMr(memory);
  }

  Status open();
  std::string describe() const override { return description_; }
  std::string device() const override {
    return transport_->devices()[static_cast<size_t>(device_)].name;
  }
  Status verify(uint64_t bytes) override;
  Status pingPong(uint64_t bytes, uint64_t count, std::vector<double> &timesUs) override;
  Result<double> stream(uint64_t bytes, uint64_t count, bool bothWays) override;

private:
  Result<std::unique_ptr<net::Transport>> makeTcp();
  Result<std::unique_ptr<net::Transport>> makeVerbs();
  Status join(std::unique_ptr<net::Transport> transport);
  Status connect();
  Status acceptAll(net::Listener &listener);
  Status connectAll(const net::Handle &handle);
  Status exchangeKeys();
  Result<Request *> post(const Flow &flow, uint64_t bytes);
  Result<bool> advance(Flow &flow, uint64_t bytes, uint64_t count);
  Status runFlows(std::vector<Flow> &flows, uint64_t bytes, uint64_t count);
  Status waitFor(Connection &connection, Request *request);
  Status move(Connection &connection, bool isSend, const Segment &segment, uint64_t tag);
  Status echo(uint64_t bytes, uint64_t count);
  Status meet();

  Job &job_;
  NetPlan plan_;
  // Slots for messages. Each arena has one more slot, for verify(). One-sided operations do not use
  // it, because the thread that owns the memory is not ordered with the thread that serves the
  // peer's reads and writes.
  uint64_t slots_;
  Arena out_, in_;
  std::unique_ptr<net::Transport> transport_;
  int device_ = 0;
  net::Memory *outMemory_ = nullptr, *inMemory_ = nullptr;
  net::RemoteKey peerIn_, peerOut_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::string description_;
};

//===-- set-up ------------------------------------------------------------------===//

Result<std::unique_ptr<net::Transport>> TransportLink::makeTcp() {
  net::TcpOptions options = net::TcpOptions::fromEnv();
  if (!job_.place().iface.empty())
    options.iface = job_.place().iface;
  if (plan_.sockets)
    options.dataStreams = plan_.sockets;
  if (plan_.threads)
    options.threads = plan_.threads;
  options.timeoutUs = job_.place().timeoutUs;
  int sockets = options.dataStreams ? options.dataStreams : net::TcpOptions::kDataStreams;
  description_ = (options.oneSocket() ? "one socket a connection, "
                                      : std::to_string(sockets) + " sockets a connection, ") +
                 (options.threads ? std::to_string(options.threads) : "default") + " threads";
  return createTcpTransport(options, job_.secret());
}

Result<std::unique_ptr<net::Transport>> TransportLink::makeVerbs() {
#ifdef COLL_HAVE_VERBS
  net::VerbsOptions options = net::VerbsOptions::fromEnv();
  options.iface = job_.place().iface;
  if (plan_.sockets)
    options.queuePairs = plan_.sockets;
  if (plan_.threads)
    options.threads = plan_.threads;
  options.timeoutUs = job_.place().timeoutUs;
  description_ = std::to_string(options.queuePairs) + " queue pairs a connection, " +
                 std::to_string(options.threads) + " threads";
  return createVerbsTransport(options, job_.secret());
#else
  return Status(kCollUnsupported, "this build has no transport verbs");
#endif
}

// Uses the transport's devices, as many at once as the plan says.
Status TransportLink::join(std::unique_ptr<net::Transport> transport) {
  transport_ = std::move(transport);
  if (plan_.rails == 1)
    return {};
  net::BondOptions options;
  options.rails = plan_.rails;
  options.timeoutUs = job_.place().timeoutUs;
  Result<std::unique_ptr<net::Transport>> joined =
      createBondTransport(std::move(transport_), options);
  if (!joined.ok())
    return joined.status();
  transport_ = joined.take();
  // The result is named by all of its devices, so fewer devices would give a wrong name.
  const std::string name = device();
  const auto count = 1 + std::count(name.begin(), name.end(), '+');
  if (count < plan_.rails)
    return Status::invalid("there are fewer than " + std::to_string(plan_.rails) +
                           " devices (--rails, COLL_NET_RAILS): " + name +
                           "; name more with --iface or COLL_NET_RDMA_DEVICES");
  description_ += ", over each of " + std::to_string(plan_.rails) + " devices";
  return {};
}

Status TransportLink::open() {
  if (!out_.data() || !in_.data())
    return {kCollDevice, "no memory for " + formatBytes(out_.bytes()) + " of buffers"};
  Result<std::unique_ptr<net::Transport>> made =
      plan_.transport == "verbs" ? makeVerbs() : makeTcp();
  if (!made.ok())
    return made.status();
  COLL_RETURN_IF_ERROR(join(made.take()));
  // Packets from a port to itself need not leave the device, so if both ranks are here, each uses a
  // different port.
  if (plan_.transport == "verbs" && job_.alone() && transport_->devices().size() > 1)
    device_ = job_.rank();
  description_ = plan_.transport + " over " + device() + ", " + description_;
  for (auto [arena, memory] : {std::pair(&out_, &outMemory_), std::pair(&in_, &inMemory_)}) {
    Result<net::Memory *> registered =
        transport_->regMr(device_, {arena->data(), arena->bytes(), net::MemoryKind::Host, -1, 0});
    if (!registered.ok())
      return registered.status();
    *memory = *registered;
  }
  COLL_RETURN_IF_ERROR(connect());
  return exchangeKeys();
}

Status TransportLink::connect() {
  std::unique_ptr<net::Listener> listener;
  std::string mine;
  if (job_.rank() == 0) {
    Result<std::unique_ptr<net::Listener>> made = transport_->listen(device_);
    if (!made.ok())
      return made.status();
    listener = made.take();
    const net::Handle &handle = listener->handle();
    mine.assign(reinterpret_cast<const char *>(handle.bytes.data()), handle.bytes.size());
  }
  Result<std::string> theirs = job_.swap(mine);
  if (!theirs.ok())
    return theirs.status();
  if (listener)
    return acceptAll(*listener);
  net::Handle handle;
  if (theirs->size() != handle.bytes.size())
    return {kCollMismatch, "the peer sent no handle"};
  std::copy(theirs->begin(), theirs->end(), handle.bytes.begin());
  return connectAll(handle);
}

// Connections arrive in any order, so each one sends its number.
Status TransportLink::acceptAll(net::Listener &listener) {
  connections_.resize(static_cast<size_t>(plan_.connections));
  Patience patience;
  for (int i = 0; i < plan_.connections;) {
    Result<std::unique_ptr<Connection>> got = listener.accept();
    if (!got.ok())
      return got.status();
    COLL_RETURN_IF_ERROR(patience.look(*got != nullptr));
    if (!*got)
      continue;
    uint32_t number = 0;
    COLL_RETURN_IF_ERROR(
        move(**got, /*isSend=*/false, {&number, sizeof(number), nullptr}, kHelloTag));
    if (number >= connections_.size() || connections_[number])
      return {kCollMismatch, "two connections have the same number"};
    connections_[number] = got.take();
    ++i;
  }
  return {};
}

Status TransportLink::connectAll(const net::Handle &handle) {
  for (uint32_t i = 0; i < static_cast<uint32_t>(plan_.connections); ++i) {
    Result<std::unique_ptr<net::Connector>> connector = transport_->connect(device_, handle);
    if (!connector.ok())
      return connector.status();
    Patience patience;
    while (true) {
      Result<std::unique_ptr<Connection>> got = (*connector)->poll();
      if (!got.ok())
        return got.status();
      if (*got) {
        connections_.push_back(got.take());
        break;
      }
      COLL_RETURN_IF_ERROR(patience.look(false));
    }
    COLL_RETURN_IF_ERROR(
        move(*connections_.back(), /*isSend=*/true, {&i, sizeof(i), nullptr}, kHelloTag));
  }
  return {};
}

Status TransportLink::exchangeKeys() {
  net::RemoteKey mine[2] = {inMemory_->remoteKey(), outMemory_->remoteKey()}, theirs[2];
  Result<std::string> got =
      job_.swap(std::string(reinterpret_cast<const char *>(mine), sizeof(mine)));
  if (!got.ok())
    return got.status();
  if (got->size() != sizeof(theirs))
    return {kCollMismatch, "the peer sent no keys"};
  std::memcpy(theirs, got->data(), sizeof(theirs));
  peerIn_ = theirs[0];
  peerOut_ = theirs[1];
  return {};
}

//===-- moving ------------------------------------------------------------------===//

Status TransportLink::waitFor(Connection &connection, Request *request) {
  Patience patience;
  while (true) {
    Result<net::Completion> state = connection.test(request);
    if (!state.ok())
      return state.status();
    if (state->done)
      return {};
    COLL_RETURN_IF_ERROR(patience.look(false));
  }
}

Status TransportLink::move(Connection &connection, bool isSend, const Segment &segment,
                           uint64_t tag) {
  Result<Request *> request =
      isSend ? connection.isend(&segment, 1, tag) : connection.irecv(&segment, 1, tag);
  if (!request.ok())
    return request.status();
  return waitFor(connection, *request);
}

// Waits until both ranks have arrived and their earlier messages have ended.
Status TransportLink::meet() {
  uint8_t mine = 1, theirs = 0;
  Segment out{&mine, 1, nullptr}, in{&theirs, 1, nullptr};
  Connection &first = *connections_[0];
  Result<Request *> wanted = first.irecv(&in, 1, kDoneTag), given = first.isend(&out, 1, kDoneTag);
  for (const Result<Request *> *request : {&given, &wanted}) {
    if (!request->ok())
      return request->status();
    COLL_RETURN_IF_ERROR(waitFor(first, **request));
  }
  return {};
}

Result<Request *> TransportLink::post(const Flow &flow, uint64_t bytes) {
  uint64_t slot = flow.firstSlot + flow.posted % flow.ring.size();
  Segment out{out_.slot(slot), bytes, outMemory_}, in{in_.slot(slot), bytes, inMemory_};
  switch (flow.kind) {
  case Flow::Kind::Send:
    return flow.connection->isend(&out, 1, kDataTag);
  case Flow::Kind::Recv:
    return flow.connection->irecv(&in, 1, kDataTag);
  case Flow::Kind::Write:
    return flow.connection->iwrite(&out, 1, peerIn_, in_.offset(slot));
  case Flow::Kind::Read:
    break;
  }
  return flow.connection->iread(&in, 1, peerOut_, out_.offset(slot));
}

// Handles completed requests, and posts as many new ones.
Result<bool> TransportLink::advance(Flow &flow, uint64_t bytes, uint64_t count) {
  bool moved = false;
  while (flow.done < flow.posted) {
    Result<net::Completion> state = flow.connection->test(flow.ring[flow.done % flow.ring.size()]);
    if (!state.ok())
      return state.status();
    if (!state->done)
      break;
    ++flow.done;
    moved = true;
  }
  while (flow.posted < count && flow.posted - flow.done < flow.ring.size()) {
    Result<Request *> request = post(flow, bytes);
    if (!request.ok())
      return request.status();
    if (!*request)
      break;
    flow.ring[flow.posted++ % flow.ring.size()] = *request;
    moved = true;
  }
  return moved;
}

Status TransportLink::runFlows(std::vector<Flow> &flows, uint64_t bytes, uint64_t count) {
  Patience patience;
  for (size_t left = flows.size(); left > 0;) {
    bool moved = false;
    left = 0;
    for (Flow &flow : flows) {
      if (flow.done == count)
        continue;
      ++left;
      Result<bool> did = advance(flow, bytes, count);
      if (!did.ok())
        return did.status();
      moved |= *did;
    }
    COLL_RETURN_IF_ERROR(patience.look(moved));
  }
  return {};
}

Result<double> TransportLink::stream(uint64_t bytes, uint64_t count, bool bothWays) {
  std::vector<Flow> flows;
  bool gives = job_.rank() == 0 || bothWays, takes = job_.rank() == 1 || bothWays;
  auto add = [&](size_t i, Flow::Kind kind) {
    flows.push_back({connections_[i].get(), kind, i * static_cast<uint64_t>(plan_.inflight), 0, 0,
                     std::vector<Request *>(static_cast<size_t>(plan_.inflight))});
  };
  for (size_t i = 0; i < connections_.size(); ++i) {
    if (gives)
      add(i, plan_.op == Op::Send    ? Flow::Kind::Send
             : plan_.op == Op::Write ? Flow::Kind::Write
                                     : Flow::Kind::Read);
    if (takes && plan_.op == Op::Send)
      add(i, Flow::Kind::Recv);
  }
  COLL_RETURN_IF_ERROR(meet());
  int64_t begin = nowUs();
  COLL_RETURN_IF_ERROR(runFlows(flows, bytes, count));
  COLL_RETURN_IF_ERROR(meet());
  return static_cast<double>(nowUs() - begin) * 1e-6;
}

// Rank 1 of a ping-pong.
Status TransportLink::echo(uint64_t bytes, uint64_t count) {
  Connection &first = *connections_[0];
  for (uint64_t i = 0; i < count; ++i) {
    COLL_RETURN_IF_ERROR(move(first, false, {in_.slot(0), bytes, inMemory_}, kDataTag));
    COLL_RETURN_IF_ERROR(move(first, true, {out_.slot(0), bytes, outMemory_}, kDataTag));
  }
  return {};
}

Status TransportLink::pingPong(uint64_t bytes, uint64_t count, std::vector<double> &timesUs) {
  if (job_.rank() == 1) {
    if (plan_.op == Op::Send)
      COLL_RETURN_IF_ERROR(echo(bytes, count));
    return meet();
  }
  timesUs.reserve(count);
  std::vector<Flow> once(1);
  Segment in{in_.slot(0), bytes, inMemory_}, out{out_.slot(0), bytes, outMemory_};
  Connection &first = *connections_[0];
  for (uint64_t i = 0; i < count; ++i) {
    timespec begin = {}, end = {};
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (plan_.op == Op::Send) {
      Result<Request *> wanted = first.irecv(&in, 1, kDataTag);
      if (!wanted.ok())
        return wanted.status();
      COLL_RETURN_IF_ERROR(move(first, true, out, kDataTag));
      COLL_RETURN_IF_ERROR(waitFor(first, *wanted));
    } else {
      Result<Request *> request = plan_.op == Op::Write ? first.iwrite(&out, 1, peerIn_, 0)
                                                        : first.iread(&in, 1, peerOut_, 0);
      if (!request.ok())
        return request.status();
      COLL_RETURN_IF_ERROR(waitFor(first, *request));
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    timesUs.push_back(static_cast<double>(end.tv_sec - begin.tv_sec) * 1e6 +
                      static_cast<double>(end.tv_nsec - begin.tv_nsec) * 1e-3);
  }
  return meet();
}

Status TransportLink::verify(uint64_t bytes) {
  uint8_t *out = out_.slot(slots_), *in = in_.slot(slots_);
  for (size_t i = 0; i < connections_.size(); ++i) {
    Connection &connection = *connections_[i];
    Segment given{out, bytes, outMemory_}, wanted{in, bytes, inMemory_};
    if (job_.rank() == 1) {
      COLL_RETURN_IF_ERROR(move(connection, false, wanted, kDataTag));
      std::memcpy(out, in, bytes);
      COLL_RETURN_IF_ERROR(move(connection, true, given, kDataTag));
      continue;
    }
    for (uint64_t at = 0; at < bytes; ++at)
      out[at] = static_cast<uint8_t>((at + i) * 2654435761u >> 13);
    COLL_RETURN_IF_ERROR(move(connection, true, given, kDataTag));
    COLL_RETURN_IF_ERROR(move(connection, false, wanted, kDataTag));
    if (std::memcmp(out, in, bytes) != 0)
      return Status::internal("wrong data came back in messages of " + formatBytes(bytes));
  }
  return {};
}

} // namespace

Result<std::unique_ptr<Link>> makeTransportLink(Job &job, const NetPlan &plan) {
  auto link = std::make_unique<TransportLink>(job, plan);
  COLL_RETURN_IF_ERROR(link->open());
  return std::unique_ptr<Link>(std::move(link));
}

} // namespace coll::perf
