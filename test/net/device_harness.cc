#include "test/net/device_harness.h"

#include "runtime/net/bond/bond.h"
#include "runtime/net/loopback/loopback.h"
#include "runtime/net/socket.h"
#include "runtime/net/tcp/tcp.h"
#include "test/net/flaky_transport.h"

#include <cstring>
#include <thread>

namespace coll::net::test {

namespace {

template <typename Copy>
uint64_t forEachPage(const rt::PageDescriptor *pages, uint64_t count, uint64_t bounceBytes,
                     uint64_t bytes, Copy copy) {
  EXPECT_LE(count, rt::kUnpackSlotPages);
  for (uint64_t i = 0; i < count; ++i) {
    const rt::PageDescriptor &page = pages[i];
    bool fits = uint64_t(page.bounceOff) + page.len <= bounceBytes && page.bufferOff <= bytes &&
                page.len <= bytes - page.bufferOff;
    EXPECT_TRUE(fits) << "page " << i;
    if (fits)
      copy(page);
  }
  return count;
}

} // namespace

uint64_t HostKernel::unpack(void *buffer, uint64_t bytes) {
  return unpackSlot(++unpack_->head % rt::kUnpackSlots, buffer, bytes);
}

uint64_t HostKernel::unpackSlot(uint64_t slot, void *buffer, uint64_t bytes) {
  const rt::UnpackMeta &meta = *unpack_->meta;
  return forEachPage(
      meta.pages[slot], meta.count[slot], bounceBytes_, bytes, [&](const rt::PageDescriptor &page) {
        std::memcpy(static_cast<uint8_t *>(buffer) + page.bufferOff,
                    static_cast<uint8_t *>(unpack_->bounce) + page.bounceOff, page.len);
      });
}

uint64_t HostKernel::pack(const void *buffer, uint64_t bytes) {
  uint64_t slot = ++pack_->head % rt::kUnpackSlots;
  rt::PackMeta &meta = *pack_->meta;
  uint64_t count = forEachPage(
      meta.pages[slot], meta.count[slot], bounceBytes_, bytes, [&](const rt::PageDescriptor &page) {
        std::memcpy(static_cast<uint8_t *>(pack_->bounce) + page.bounceOff,
                    static_cast<const uint8_t *>(buffer) + page.bufferOff, page.len);
      });
  __atomic_store_n(&meta.packed, pack_->head + 1, __ATOMIC_RELEASE);
  return count;
}

std::unique_ptr<Transport> makeBelow(const std::string &name) {
  if (name == "loopback")
    return createLoopbackTransport().take();
  if (name == "bond")
    return createBondTransport(
               std::make_unique<FlakyTransport>(createLoopbackTransport().take(), 3), {})
        .take();
  TcpOptions options;
  options.iface = "lo";
  auto transport = createTcpTransport(options, *Secret::create("a secret of this test"));
  EXPECT_TRUE(transport.ok()) << transport.status().message();
  return transport.ok() ? transport.take() : nullptr;
}

Ends connectEnds(Transport &left, Transport &right) {
  Ends ends;
  Result<std::unique_ptr<Listener>> listener = right.listen(0);
  EXPECT_TRUE(listener.ok()) << listener.status().message();
  Result<std::unique_ptr<Connector>> connector = left.connect(0, (*listener)->handle());
  EXPECT_TRUE(connector.ok()) << connector.status().message();
  for (int64_t end = nowUs() + kPatientUs; (!ends.left || !ends.right) && nowUs() < end;) {
    Result<std::unique_ptr<Connection>> left(nullptr), right(nullptr);
    if (!ends.left)
      left = (*connector)->poll();
    if (!ends.right)
      right = (*listener)->accept();
    EXPECT_TRUE(left.ok() && right.ok()) << left.status().message() << right.status().message();
    if (!left.ok() || !right.ok())
      break;
    if (!ends.left)
      ends.left = left.take();
    if (!ends.right)
      ends.right = right.take();
    std::this_thread::yield();
  }
  EXPECT_TRUE(ends.left && ends.right);
  return ends;
}

std::vector<uint64_t> messageSizes() {
  return {0,    1,    2,      15,      16,      17,      511,       513,           4095,
          4096, 4097, 65'537, 524'287, 524'288, 524'289, 1'000'003, (4 << 20) - 1, 4 << 20};
}

std::unique_ptr<Transport> DeviceTest::below() const { return makeBelow(GetParam()); }

void DeviceTest::make(DeviceOptions options) {
  options.gpu = options.gpu < 0 ? 0 : options.gpu;
  DeviceOptions right = options;
  right.receive = ReceivePath::Unpack;
  make(options, right);
}

void DeviceTest::make(const DeviceOptions &left, const DeviceOptions &right) {
  auto one = createDeviceTransport(below(), fake_.table(), left);
  auto two = createDeviceTransport(below(), fake_.table(), right);
  ASSERT_TRUE(one.ok() && two.ok()) << one.status().message() << two.status().message();
  left_ = one.take();
  right_ = two.take();
}

Ends DeviceTest::connect() { return connectEnds(*left_, *right_); }

GpuBuffer DeviceTest::allocate(DeviceTransport &transport, uint64_t bytes, int ordinal) {
  GpuBuffer buffer{static_cast<uint8_t *>(fake_.allocate(bytes, ordinal)), bytes, nullptr};
  Result<Memory *> memory = transport.regMr(0, {buffer.data, bytes, MemoryKind::Cuda, -1, 0});
  EXPECT_TRUE(memory.ok()) << memory.status().message();
  if (memory.ok())
    buffer.memory = *memory;
  buffers_.push_back({&transport, buffer});
  return buffer;
}

Request *DeviceTest::post(Result<Request *> posted) {
  EXPECT_TRUE(posted.ok()) << posted.status().toString();
  EXPECT_TRUE(!posted.ok() || *posted) << "no room";
  return posted.ok() ? *posted : nullptr;
}

// The connections are closed now, so nothing of the fake driver may be left.
void DeviceTest::TearDown() {
  for (auto &[transport, buffer] : buffers_) {
    transport->deregMr(buffer.memory);
    fake_.free(buffer.data);
  }
  buffers_.clear();
  left_.reset();
  right_.reset();
  EXPECT_EQ(fake_.misuse(), "");
  EXPECT_EQ(fake_.liveAllocations(), 0);
}

} // namespace coll::net::test
