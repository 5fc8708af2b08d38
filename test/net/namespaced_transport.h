// namespaced_transport.h - a transport of another network namespace than the caller's.

#ifndef COLL_TEST_NET_NAMESPACED_TRANSPORT_H
#define COLL_TEST_NET_NAMESPACED_TRANSPORT_H

#include "runtime/net/transport.h"
#include "test/net/namespaces.h"

#include <memory>

namespace coll::net::test {

// Executes in a side of `pair` the calls that make sockets; their threads stay in that side.
class NamespacedTransport final : public Transport {
public:
  template <typename Make>
  static Result<std::unique_ptr<Transport>> create(const Namespaces &pair, int side, Make make) {
    Namespaces::Inside inside(pair, side);
    Result<std::unique_ptr<Transport>> inner = make();
    if (!inner.ok())
      return inner.status();
    return std::unique_ptr<Transport>(new NamespacedTransport(pair, side, inner.take()));
  }

  const char *name() const override { return inner_->name(); }
  const std::vector<DeviceProperties> &devices() const override { return inner_->devices(); }
  Result<std::unique_ptr<Listener>> listen(int device) override {
    Namespaces::Inside inside(pair_, side_);
    return inner_->listen(device);
  }
  Result<std::unique_ptr<Connector>> connect(int device, const Handle &handle) override {
    Namespaces::Inside inside(pair_, side_);
    return inner_->connect(device, handle);
  }
  Result<Memory *> regMr(int device, const MemoryRegion &region) override {
    return inner_->regMr(device, region);
  }
  void deregMr(Memory *memory) override { inner_->deregMr(memory); }

private:
  NamespacedTransport(const Namespaces &pair, int side, std::unique_ptr<Transport> inner)
      : pair_(pair), side_(side), inner_(std::move(inner)) {}

  const Namespaces &pair_;
  int side_;
  std::unique_ptr<Transport> inner_;
};

} // namespace coll::net::test

#endif // COLL_TEST_NET_NAMESPACED_TRANSPORT_H
