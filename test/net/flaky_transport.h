// flaky_transport.h - simulates several devices over the first device of a transport; their links
// can be cut.

#ifndef COLL_TEST_NET_FLAKY_TRANSPORT_H
#define COLL_TEST_NET_FLAKY_TRANSPORT_H

#include "runtime/net/transport.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

namespace coll::net::test {

class FlakyTransport final : public Transport {
public:
  FlakyTransport(std::unique_ptr<Transport> inner, int devices)
      : inner_(std::move(inner)), cuts_(static_cast<size_t>(devices)),
        sent_(static_cast<size_t>(devices)), swallows_(static_cast<size_t>(devices)) {
    for (int i = 0; i < devices; ++i) {
      devices_.push_back(inner_->devices()[0]);
      devices_.back().name += std::to_string(i);
    }
  }

  // The existing links of a device fail at their next call; only this end knows why.
  void cut(int device) { ++cuts_[static_cast<size_t>(device)]; }
  // From now on this device cannot reach its peers; -1: all devices can.
  void isolate(int device) { isolated_ = device; }
  // Data that is sent over its links is lost, but reported as sent.
  void swallow(int device) { swallows_[static_cast<size_t>(device)] = true; }
  // From now on no request is free for messages of registered memory.
  void refuseRegistered() { refusesRegistered_ = true; }
  // The number of bytes that were given to the links of a device to send.
  uint64_t sent(int device) const { return sent_[static_cast<size_t>(device)]; }

  const char *name() const override { return inner_->name(); }
  const std::vector<DeviceProperties> &devices() const override { return devices_; }
  Result<std::unique_ptr<Listener>> listen(int device) override {
    COLL_RETURN_IF_ERROR(check(device));
    Result<std::unique_ptr<Listener>> listener = inner_->listen(0);
    if (!listener.ok())
      return listener;
    return std::unique_ptr<Listener>(std::make_unique<Door>(*this, device, listener.take()));
  }
  Result<std::unique_ptr<Connector>> connect(int device, const Handle &handle) override {
    COLL_RETURN_IF_ERROR(check(device));
    if (device == isolated_)
      return Status(kCollLink, "no way to the peer");
    Result<std::unique_ptr<Connector>> connector = inner_->connect(0, handle);
    if (!connector.ok())
      return connector;
    return std::unique_ptr<Connector>(std::make_unique<Way>(*this, device, connector.take()));
  }
  Result<Memory *> regMr(int, const MemoryRegion &region) override {
    return inner_->regMr(0, region);
  }
  void deregMr(Memory *memory) override { inner_->deregMr(memory); }

private:
  struct Lost final : Request {
    uint64_t bytes = 0;
  };

  class Link final : public Connection {
  public:
    Link(FlakyTransport &owner, int device, std::unique_ptr<Connection> inner)
        : cuts_(owner.cuts_[static_cast<size_t>(device)]), born_(cuts_),
          sent_(owner.sent_[static_cast<size_t>(device)]),
          swallows_(owner.swallows_[static_cast<size_t>(device)]),
          refusesRegistered_(owner.refusesRegistered_), inner_(std::move(inner)) {}

    Result<Request *> isend(const Segment *segments, int count, uint64_t tag) override {
      COLL_RETURN_IF_ERROR(state());
      if (isRefused(segments, count))
        return static_cast<Request *>(nullptr);
      for (int i = 0; i < count; ++i)
        sent_ += segments[i].bytes;
      if (swallows_) {
        for (int i = 0; i < count; ++i)
          lost_.bytes += segments[i].bytes;
        return static_cast<Request *>(&lost_);
      }
      return inner_->isend(segments, count, tag);
    }
    Result<Request *> irecv(const Segment *segments, int count, uint64_t tag) override {
      COLL_RETURN_IF_ERROR(state());
      if (isRefused(segments, count))
        return static_cast<Request *>(nullptr);
      return inner_->irecv(segments, count, tag);
    }
    Result<Request *> iwrite(const Segment *segments, int count, const RemoteKey &key,
                             uint64_t offset) override {
      COLL_RETURN_IF_ERROR(state());
      return inner_->iwrite(segments, count, key, offset);
    }
    Result<Request *> iread(const Segment *segments, int count, const RemoteKey &key,
                            const RemoteRows &rows) override {
      COLL_RETURN_IF_ERROR(state());
      return inner_->iread(segments, count, key, rows);
    }
    Result<Request *> iflush(const Segment *segments, int count) override {
      return inner_->iflush(segments, count);
    }
    Result<Completion> test(Request *request) override {
      COLL_RETURN_IF_ERROR(state());
      if (request == &lost_)
        return Completion{true, std::exchange(lost_.bytes, 0)};
      return inner_->test(request);
    }
    void close() override { inner_->close(); }
    void abort() override { inner_->abort(); }

  private:
    Status state() {
      if (cuts_ == born_)
        return {};
      inner_->close();
      return {kCollLink, "cut"};
    }
    bool isRefused(const Segment *segments, int count) const {
      return refusesRegistered_ && std::any_of(segments, segments + count, [](const Segment &s) {
               return s.memory != nullptr;
             });
    }
    std::atomic<int> &cuts_;
    const int born_;
    std::atomic<uint64_t> &sent_;
    std::atomic<bool> &swallows_;
    const std::atomic<bool> &refusesRegistered_;
    Lost lost_;
    std::unique_ptr<Connection> inner_;
  };

  class Door final : public Listener {
  public:
    Door(FlakyTransport &owner, int device, std::unique_ptr<Listener> inner)
        : owner_(owner), device_(device), inner_(std::move(inner)) {}
    const Handle &handle() const override { return inner_->handle(); }
    Result<std::unique_ptr<Connection>> accept() override {
      return owner_.wrap(device_, inner_->accept());
    }

  private:
    FlakyTransport &owner_;
    int device_;
    std::unique_ptr<Listener> inner_;
  };

  class Way final : public Connector {
  public:
    Way(FlakyTransport &owner, int device, std::unique_ptr<Connector> inner)
        : owner_(owner), device_(device), inner_(std::move(inner)) {}
    Result<std::unique_ptr<Connection>> poll() override {
      return owner_.wrap(device_, inner_->poll());
    }

  private:
    FlakyTransport &owner_;
    int device_;
    std::unique_ptr<Connector> inner_;
  };

  Result<std::unique_ptr<Connection>> wrap(int device, Result<std::unique_ptr<Connection>> made) {
    if (!made.ok() || !*made)
      return made;
    return std::unique_ptr<Connection>(std::make_unique<Link>(*this, device, made.take()));
  }
  Status check(int device) const {
    if (device >= 0 && static_cast<size_t>(device) < devices_.size())
      return {};
    return Status::invalid("there is no device " + std::to_string(device));
  }

  std::unique_ptr<Transport> inner_;
  std::vector<DeviceProperties> devices_;
  std::atomic<int> isolated_{-1};
  std::vector<std::atomic<int>> cuts_;
  std::vector<std::atomic<uint64_t>> sent_;
  std::vector<std::atomic<bool>> swallows_;
  std::atomic<bool> refusesRegistered_{false};
};

} // namespace coll::net::test

#endif // COLL_TEST_NET_FLAKY_TRANSPORT_H
