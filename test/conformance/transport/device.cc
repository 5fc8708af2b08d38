// Host memory through a device transport: plain, and as shuffled fragments.

#include "runtime/net/gpu/transport.h"
#include "runtime/net/loopback/loopback.h"
#include "runtime/net/tcp/tcp.h"
#include "test/support/fakes/cuda.h"

#include "test/conformance/transport/harness.h"

namespace coll::net::test {
namespace {

std::unique_ptr<Transport> decorate(std::unique_ptr<Transport> inner, bool scatter) {
  static rt::dl::FakeCuda fake;
  DeviceOptions options;
  options.scatter = scatter;
  options.gpu = 0;
  auto transport = createDeviceTransport(std::move(inner), fake.table(), options);
  EXPECT_TRUE(transport.ok()) << transport.status().message();
  return transport.ok() ? transport.take() : nullptr;
}

std::unique_ptr<Transport> tcp() {
  TcpOptions options;
  options.iface = "lo";
  auto transport = createTcpTransport(options, *Secret::create("a secret of this test"));
  EXPECT_TRUE(transport.ok()) << transport.status().message();
  return transport.ok() ? transport.take() : nullptr;
}

std::unique_ptr<Transport> deviceLoopback() {
  return decorate(createLoopbackTransport().take(), /*scatter=*/false);
}
std::unique_ptr<Transport> scatteredLoopback() {
  return decorate(createLoopbackTransport().take(), /*scatter=*/true);
}
std::unique_ptr<Transport> deviceTcp() { return decorate(tcp(), /*scatter=*/false); }
std::unique_ptr<Transport> scatteredTcp() { return decorate(tcp(), /*scatter=*/true); }

} // namespace
} // namespace coll::net::test

COLL_TRANSPORT_CONFORMANCE(device_loopback, deviceLoopback);
COLL_TRANSPORT_CONFORMANCE(scattered_loopback, scatteredLoopback);
COLL_TRANSPORT_CONFORMANCE(device_tcp, deviceTcp);
COLL_TRANSPORT_CONFORMANCE(scattered_tcp, scatteredTcp);
