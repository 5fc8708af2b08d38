// The layouts of the verbs transport's messages, and a peer that has proved the secret and then
// sends arbitrary messages.

#include "runtime/net/verbs/message.h"

#include "runtime/net/handshake.h"
#include "runtime/net/verbs/queue_pair.h"
#include "runtime/net/verbs/verbs.h"
#include "test/net/options.h"
#include "test/support/fakes/ibverbs.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <random>
#include <sys/socket.h>

namespace coll::net::test {
namespace {

using namespace verbs;

TEST(VerbsMessageTest, LayoutsRoundTrip) {
  Message message;
  message.type = MessageType::Access;
  message.credits = 7;
  message.id = 1;
  message.tag = 2;
  message.bytes = 3;
  message.key = ~uint64_t(4);
  message.offset = 5;
  uint8_t bytes[kSlotBytes] = {};
  encode(message, bytes);
  std::optional<Message> back = decodeMessage(bytes, Message::kBytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->credits, 7);
  EXPECT_EQ(back->key, ~uint64_t(4));
  EXPECT_FALSE(decodeMessage(bytes, Message::kBytes - 1));
  EXPECT_FALSE(decodeMessage(bytes, Message::kBytes + 1));

  SetupInfo info;
  info.mtu = 5;
  info.queues = 2;
  info.slots = 64;
  info.queue[2] = {17, 18};
  encode(info, bytes);
  std::optional<SetupInfo> setup = decodeSetup(bytes);
  ASSERT_TRUE(setup);
  EXPECT_EQ(setup->queue[2].number, 17u);
  info.queues = kMaxDataQueues + 1;
  encode(info, bytes);
  EXPECT_FALSE(decodeSetup(bytes));

  HandleContent content;
  content.address = Address::parse("[fe80::1%lo]:17").take();
  content.listener = 99;
  content.secret.emplace().fill(3);
  std::optional<HandleContent> handle = decodeHandle(encodeHandle(content));
  ASSERT_TRUE(handle);
  EXPECT_EQ(handle->listener, 99u);
  EXPECT_EQ(handle->address.port(), 17);
  EXPECT_EQ(handle->secret, content.secret);
}

TEST(VerbsMessageTest, RandomBytesAreNoMessages) {
  std::minstd_rand random(1);
  std::vector<uint8_t> bytes(SetupInfo::kBytes);
  for (int i = 0; i < 20'000; ++i) {
    for (uint8_t &byte : bytes)
      byte = static_cast<uint8_t>(random());
    EXPECT_FALSE(decodeMessage(bytes.data(), bytes.size()));
    EXPECT_FALSE(decodeSetup(bytes.data()));
    Handle handle;
    std::copy_n(bytes.begin(), handle.bytes.size(), handle.bytes.begin());
    EXPECT_FALSE(decodeHandle(handle));
  }
}

// Sets up a connection like an honest peer; afterwards the test may send anything.
class RawPeer {
public:
  explicit RawPeer(const rt::dl::Ibverbs &api) : api_(api) {
    int count = 0;
    ibv_device **list = api.getDeviceList(&count);
    device_ = Device::open(api, list[0], 0).take();
    api.freeDeviceList(list);
    channel_ = api.createCompChannel(device_->context());
    cq_ = api.createCq(device_->context(), 4096, nullptr, channel_, 0);
    for (int i = 0; i < 2; ++i)
      pairs_.push_back(QueuePair::create(*device_, 1, cq_, 0, {64, 64, 1, 0}).take());
    buffer_.resize(2 * kSlotBytes);
    mr_ = api.regMr(device_->pd(), buffer_.data(), buffer_.size(),
                    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    for (int i = 0; i < 64; ++i)
      postReceive();
  }
  ~RawPeer() {
    pairs_.clear();
    api_.destroyCq(cq_);
    api_.destroyCompChannel(channel_);
    api_.deregMr(mr_);
  }

  void connect(const Handle &handle) {
    HandleContent content = *decodeHandle(handle);
    wire::StreamContext context;
    context.listener = content.listener;
    Handshake shake = Handshake::client(startConnect(content.address).take(), testSecret(),
                                        wire::Purpose::Verbs, wire::encode(context));
    for (Handshake::State state = Handshake::State::Writing; state != Handshake::State::Done;) {
      pollfd wait = {shake.fd(),
                     static_cast<short>(state == Handshake::State::Writing ? POLLOUT : POLLIN), 0};
      ::poll(&wait, 1, 1000);
      state = shake.advance();
      ASSERT_NE(state, Handshake::State::Failed) << shake.failure().message();
    }
    fd_ = shake.takeFd();
    Port port = *device_->queryPort(1, -1);
    SetupInfo info;
    std::copy(port.gid.raw, port.gid.raw + 16, info.gid.begin());
    info.linkLayer = port.attributes.link_layer;
    info.mtu = 5;
    info.maxReads = info.queues = 1;
    info.slots = 64;
    for (size_t i = 0; i < 2; ++i)
      info.queue[i] = {pairs_[i]->number(), pairs_[i]->firstPacket()};
    uint8_t bytes[SetupInfo::kBytes];
    encode(info, bytes);
    ASSERT_EQ(::send(fd_.get(), bytes, sizeof(bytes), 0), static_cast<ssize_t>(sizeof(bytes)));
    size_t got = 0;
    while (got < sizeof(bytes)) {
      pollfd wait = {fd_.get(), POLLIN, 0};
      ::poll(&wait, 1, 1000);
      ssize_t count = ::recv(fd_.get(), bytes + got, sizeof(bytes) - got, 0);
      ASSERT_GT(count, 0);
      got += static_cast<size_t>(count);
    }
    SetupInfo peer = *decodeSetup(bytes);
    for (int i = 0; i < 2; ++i)
      ASSERT_TRUE(pairs_[static_cast<size_t>(i)]->connect(port, 1, peer, i, {}, 1, 1).ok());
    uint8_t ready = kReadyByte;
    ASSERT_EQ(::send(fd_.get(), &ready, 1, 0), 1);
  }

  // Returns false once the other side has ended the connection.
  bool send(const Message &message, uint64_t bytes, bool isImmediate = false) {
    encode(message, buffer_.data());
    ibv_sge place = {reinterpret_cast<uintptr_t>(buffer_.data()), static_cast<uint32_t>(bytes),
                     mr_->lkey};
    ibv_send_wr wr = {};
    wr.sg_list = &place;
    wr.num_sge = isImmediate ? 0 : 1;
    wr.opcode = isImmediate ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_SEND;
    wr.imm_data = static_cast<uint32_t>(message.id);
    // An immediate without data needs no memory, but the fake asks for some.
    wr.wr.rdma.remote_addr = place.addr;
    wr.wr.rdma.rkey = mr_->rkey;
    (void)pairs_[isImmediate]->postSend(wr).ok();
    // Receives what the other side sends, so that it does not run out of receives.
    ibv_wc done = {};
    bool isAlive = true;
    while (api_.pollCq(cq_, 1, &done) == 1) {
      isAlive &= done.status == IBV_WC_SUCCESS;
      if (isAlive && done.opcode == IBV_WC_RECV)
        postReceive();
    }
    return isAlive;
  }

private:
  void postReceive() {
    ibv_sge place = {reinterpret_cast<uintptr_t>(buffer_.data() + kSlotBytes), kSlotBytes,
                     mr_->lkey};
    ibv_recv_wr recv = {};
    recv.sg_list = &place;
    recv.num_sge = 1;
    EXPECT_TRUE(pairs_[0]->postRecv(recv).ok());
  }

  const rt::dl::Ibverbs &api_;
  std::unique_ptr<Device> device_;
  ibv_comp_channel *channel_ = nullptr;
  ibv_cq *cq_ = nullptr;
  std::vector<std::unique_ptr<QueuePair>> pairs_;
  std::vector<uint8_t> buffer_;
  ibv_mr *mr_ = nullptr;
  Fd fd_;
};

// Random messages: mostly what an honest peer could send, some of them nearly valid.
Message anything(std::minstd_rand &random) {
  auto oneIn = [&](uint32_t chances) { return random() % chances == 0; };
  auto small = [&] { return static_cast<uint64_t>(random() % 4); };
  const MessageType harmless[] = {MessageType::Eager, MessageType::Rts, MessageType::Access};
  Message message;
  message.type = oneIn(20) ? static_cast<MessageType>(random() % 8) : harmless[random() % 3];
  message.code = static_cast<MessageCode>(oneIn(20) ? random() % 4 : 0);
  message.credits = static_cast<uint16_t>(oneIn(50) ? random() : 0);
  message.count = static_cast<uint16_t>(oneIn(50) ? random() : small());
  message.id = oneIn(4) ? random() : oneIn(2) ? small() << 32 | small() : small();
  message.tag = small();
  message.bytes = oneIn(50) ? ~uint64_t(random()) : oneIn(2) ? random() % 300'000 : small();
  if (message.type == MessageType::Eager && !oneIn(50))
    message.bytes %= 3000;
  message.key = random();
  message.offset = oneIn(2) ? small() : random();
  return message;
}

TEST(VerbsMessageTest, APeerThatSaysAnythingHarmsItsOwnConnectionOnly) {
  FakeIbverbs fake;
  VerbsOptions options;
  options.iface = "lo";
  std::unique_ptr<Transport> transport = createVerbsTransport(options, testSecret()).take();
  std::unique_ptr<Listener> listener = transport->listen(0).take();
  std::minstd_rand random(7);
  int64_t messages = 0;
  for (int64_t peers = 0; peers < fuzzFrames / 100; ++peers) {
    RawPeer peer(*fake.table());
    ASSERT_NO_FATAL_FAILURE(peer.connect(listener->handle()));
    std::vector<uint8_t> small(100), large(200'000); // outlive the connection
    std::unique_ptr<Connection> connection;
    while (!connection)
      connection = listener->accept().take();
    Segment first{small.data(), small.size(), nullptr}, second{large.data(), large.size(), nullptr};
    std::vector<Request *> requests;
    for (uint64_t tag = 0; tag < 4; ++tag) {
      requests.push_back(connection->irecv(&first, 1, tag).take());
      requests.push_back(connection->irecv(&second, 1, tag).take());
      requests.push_back(connection->isend(&second, 1, tag).take());
    }
    for (int i = 0; i < 500; ++i, ++messages) {
      Message message = anything(random);
      uint64_t bytes = Message::kBytes;
      if (message.type == MessageType::Eager && message.bytes <= kEagerBytes)
        bytes += message.bytes;
      if (message.type == MessageType::Cts && message.count <= kMaxSegments)
        bytes += message.count * RemoteSegment::kBytes;
      if (!peer.send(message, random() % 50 ? bytes : random() % kSlotBytes, random() % 100 == 0))
        break;
    }
    // Whatever was sent, the requests must end, or wait like those with an idle peer.
    for (Request *request : requests)
      (void)connection->test(request).ok();
  }
  EXPECT_GT(messages, 10 * fuzzFrames / 100);
}

} // namespace
} // namespace coll::net::test
