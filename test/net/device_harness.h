// device_harness.h - two device transports over a fake GPU, and a kernel simulated by the host.

#ifndef COLL_TEST_NET_DEVICE_HARNESS_H
#define COLL_TEST_NET_DEVICE_HARNESS_H

#include "runtime/base/unpack_layout.h"
#include "runtime/net/gpu/transport.h"
#include "test/support/fakes/cuda.h"

#include "test/conformance/transport/harness.h"

namespace coll::net::test {

// Does what a kernel does with a device handle, in the same order. Fails the test if a descriptor
// is out of range.
class HostKernel {
public:
  explicit HostKernel(Connection &connection, uint64_t bounceBytes = uint64_t(1) << 32)
      : unpack_(of<rt::UnpackHandle>(connection.deviceHandle())),
        pack_(of<rt::PackHandle>(connection.packHandle())), bounceBytes_(bounceBytes) {}

  // Copies the next message's pages into `buffer` of `bytes` bytes. Returns the number of pages.
  uint64_t unpack(void *buffer, uint64_t bytes);
  // Copies the pages of one slot.
  uint64_t unpackSlot(uint64_t slot, void *buffer, uint64_t bytes);
  // Copies data from `buffer` to the next message's pages, and reports that they are filled.
  uint64_t pack(const void *buffer, uint64_t bytes);

private:
  template <typename Layout>
  static Layout *of(const DeviceHandle *handle) {
    return handle ? static_cast<Layout *>(handle->handle) : nullptr;
  }

  rt::UnpackHandle *unpack_;
  rt::PackHandle *pack_;
  uint64_t bounceBytes_;
};

struct GpuBuffer {
  uint8_t *data = nullptr;
  uint64_t bytes = 0;
  Memory *memory = nullptr;

  Segment segment(uint64_t offset, uint64_t length) const {
    return {data + offset, length, memory};
  }
  Segment segment() const { return segment(0, bytes); }
};

// Over "loopback", "tcp" or "bond" (several devices at once, over loopback). `left` connects,
// `right` is the accepting side.
class DeviceTest : public testing::TestWithParam<const char *> {
protected:
  void TearDown() override;
  // Creates the transport below, according to the test's parameter.
  std::unique_ptr<Transport> below() const;
  // Creates both sides with the same options, except that the right one unpacks.
  void make(DeviceOptions options = {});
  void make(const DeviceOptions &left, const DeviceOptions &right);
  Ends connect();
  // GPU memory that is registered with `transport`, freed at the end of the test.
  GpuBuffer allocate(DeviceTransport &transport, uint64_t bytes, int ordinal = 0);
  Request *post(Result<Request *> posted);

  rt::dl::FakeCuda fake_{2};
  std::unique_ptr<DeviceTransport> left_, right_;

private:
  std::vector<std::pair<DeviceTransport *, GpuBuffer>> buffers_;
};

// The sizes that matter: zero, odd ones, page and block boundaries, the largest.
std::vector<uint64_t> messageSizes();

std::unique_ptr<Transport> makeBelow(const std::string &name);
// Waits for both ends of a connection between two transports.
Ends connectEnds(Transport &left, Transport &right);

} // namespace coll::net::test

#endif // COLL_TEST_NET_DEVICE_HARNESS_H
