// Drives libnccl-net-coll.so like NCCL: it is loaded with dlopen, the table of each version is
// used, and one thread polls both ends of each connection. COLL_TEST_PLUGIN names the library.
// --transport=verbs uses the RDMA device that COLL_NET_RDMA_DEVICES names, instead of tcp.

#include "runtime/net/nccl_plugin/net_event.h"
#include "test/net/nccl_plugin_harness.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace coll::net::nccl::test {

std::string selfPath; // of this program
std::string transport = "tcp";

namespace {

struct Event {
  int type;
  void *parent;
  int64_t id;
  CollNetEvent data;
};
std::vector<Event> events;
int openEvents = 0;

NcclResult profiler(void **event, int type, void *parent, int64_t id, void *data) {
  events.push_back({type, parent, id, *static_cast<CollNetEvent *>(data)});
  if (type == kNetEventStart) {
    *event = new int(++openEvents);
  } else if (type == kNetEventStop) {
    --openEvents;
    delete static_cast<int *>(*event);
    *event = nullptr;
  }
  return kNcclSuccess;
}

class NcclPluginTest : public testing::TestWithParam<int> {
protected:
  void SetUp() override {
    setenv("COLL_NET_IFACE", "lo", 1);
    setenv("COLL_NET_TRANSPORT", transport.c_str(), 1);
    for (const char *name : {"COLL_SECRET", "COLL_NET_DEVICE_UNPACK"})
      unsetenv(name);
    warnings.clear();
    infos.clear();
    events.clear();
    api_ = findApi(library_, GetParam());
    ASSERT_TRUE(api_) << "no symbol";
  }
  void TearDown() override {
    if (initialized_) {
      EXPECT_EQ(api_->finalize(), kNcclSuccess);
    }
  }
  void init() {
    ASSERT_EQ(api_->init(logger, profiler), kNcclSuccess);
    initialized_ = true;
    int count = 0;
    ASSERT_EQ(api_->devices(&count), kNcclSuccess);
    ASSERT_EQ(count, 1);
  }

  static std::string deviceName() {
    return transport == "tcp" ? "lo" : valueOf("COLL_NET_RDMA_DEVICES") + ":1";
  }

  rt::dl::Library library_ = openPlugin();
  std::unique_ptr<Api> api_;
  bool initialized_ = false;
};

//===-- the tests -------------------------------------------------------------------===//

TEST_P(NcclPluginTest, PropertiesOfTheDevice) {
  init();
  Properties properties;
  ASSERT_EQ(api_->properties(0, properties), kNcclSuccess);
  EXPECT_EQ(properties.name, deviceName());
  EXPECT_EQ(properties.pointers, kPtrHost);
  EXPECT_EQ(properties.maxRecvs, 1);
  EXPECT_GT(properties.maxComms, 1000);
  EXPECT_GT(properties.speedMbps, 0);
  EXPECT_EQ(properties.deviceType, kDeviceHost);
  EXPECT_EQ(properties.deviceVersion, kDeviceVersionNone);
  if (GetParam() >= 9) {
    EXPECT_EQ(properties.maxP2pBytes, kMaxNetBytes);
  }
  EXPECT_NE(api_->properties(1, properties), kNcclSuccess);
  EXPECT_NE(api_->properties(-1, properties), kNcclSuccess);
  EXPECT_EQ(warnings.size(), 2u);
}

TEST_P(NcclPluginTest, MessagesOfAllSizes) {
  init();
  Pair pair(*api_);
  uint32_t seed = 0;
  for (size_t bytes : {0, 1, 7, 8, 4095, 16 << 10, (16 << 10) + 1, 65537, 524288, 4 << 20,
                       (4 << 20) + 3, (64 << 20) + 5}) {
    std::vector<uint8_t> data = pattern(bytes, ++seed), got(bytes + 8, 0xee);
    // NCCL's receives are often larger than the message.
    void *wanted = pair.post(true, got.data(), bytes + 8, 3);
    void *sent = pair.post(false, data.data(), bytes, 3);
    int size = -1;
    EXPECT_EQ(pair.wait(wanted, &size), kNcclSuccess);
    EXPECT_EQ(static_cast<size_t>(size), bytes);
    EXPECT_EQ(pair.wait(sent, &size), kNcclSuccess);
    EXPECT_EQ(static_cast<size_t>(size), bytes);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), got.begin())) << bytes << " bytes";
    EXPECT_EQ(got[bytes], 0xee);
  }
}

TEST_P(NcclPluginTest, ManyMessagesUnderWayKeepTheirOrder) {
  init();
  Pair pair(*api_);
  constexpr int kAhead = 8, kMessages = 400;
  std::vector<std::vector<uint8_t>> data, got;
  for (int i = 0; i < kMessages; ++i) {
    data.push_back(pattern(static_cast<size_t>((i * 7919) % 50'000), static_cast<uint32_t>(i)));
    got.emplace_back(50'000);
  }
  std::vector<void *> sends(kMessages), receives(kMessages);
  for (int i = 0; i < kMessages + kAhead; ++i) {
    if (i < kMessages) {
      auto at = static_cast<size_t>(i);
      receives[at] = pair.post(true, got[at].data(), got[at].size());
      sends[at] = pair.post(false, data[at].data(), data[at].size());
    }
    if (i < kAhead)
      continue;
    auto at = static_cast<size_t>(i - kAhead);
    int size = -1;
    ASSERT_EQ(pair.wait(receives[at], &size), kNcclSuccess);
    ASSERT_EQ(pair.wait(sends[at]), kNcclSuccess);
    ASSERT_EQ(static_cast<size_t>(size), data[at].size());
    ASSERT_TRUE(std::equal(data[at].begin(), data[at].end(), got[at].begin())) << i;
  }
}

TEST_P(NcclPluginTest, TagsMatch) {
  init();
  Pair pair(*api_);
  uint64_t one = 1, two = 2, gotOne = 0, gotTwo = 0;
  void *receiveTwo = pair.post(true, &gotTwo, 8, 2), *receiveOne = pair.post(true, &gotOne, 8, 1);
  void *sendOne = pair.post(false, &one, 8, 1), *sendTwo = pair.post(false, &two, 8, 2);
  for (void *request : {receiveOne, receiveTwo, sendOne, sendTwo})
    EXPECT_EQ(pair.wait(request), kNcclSuccess);
  EXPECT_EQ(gotOne, 1u);
  EXPECT_EQ(gotTwo, 2u);
}

TEST_P(NcclPluginTest, FullQueuesPushBack) {
  init();
  Pair pair(*api_);
  std::vector<uint8_t> data(100'000, 1), got(100'000);
  std::vector<void *> sends;
  for (void *request = nullptr; sends.size() < 1000; sends.push_back(request)) {
    ASSERT_EQ(api_->isend(pair.sender, data.data(), data.size(), 0, nullptr, nullptr, &request),
              kNcclSuccess);
    if (!request)
      break;
  }
  EXPECT_GE(sends.size(), 32u); // NCCL's own limit
  EXPECT_LT(sends.size(), 1000u);
  for (void *send : sends) {
    EXPECT_EQ(pair.wait(pair.post(true, got.data(), got.size())), kNcclSuccess);
    EXPECT_EQ(pair.wait(send), kNcclSuccess);
  }
}

TEST_P(NcclPluginTest, ManyConnections) {
  init();
  std::vector<std::unique_ptr<Pair>> pairs;
  for (int i = 0; i < 48; ++i)
    pairs.push_back(std::make_unique<Pair>(*api_));
  std::vector<uint64_t> sent(pairs.size()), got(pairs.size());
  std::vector<void *> requests;
  for (size_t i = 0; i < pairs.size(); ++i) {
    sent[i] = i * 77;
    requests.push_back(pairs[i]->post(true, &got[i], 8));
    requests.push_back(pairs[i]->post(false, &sent[i], 8));
  }
  for (size_t i = 0; i < requests.size(); ++i)
    EXPECT_EQ(pairs[i / 2]->wait(requests[i]), kNcclSuccess);
  EXPECT_EQ(sent, got);
}

TEST_P(NcclPluginTest, MemoryAndFlush) {
  init();
  Pair pair(*api_);
  std::vector<uint8_t> data = pattern(300'000, 9), got(300'000);
  void *sendMemory = nullptr, *receiveMemory = nullptr, *request = nullptr;
  EXPECT_EQ(api_->regMr(pair.sender, data.data(), data.size(), kPtrHost, &sendMemory),
            kNcclSuccess);
  EXPECT_EQ(api_->regMr(pair.receiver, got.data(), got.size(), kPtrHost, &receiveMemory),
            kNcclSuccess);
  void *wanted = nullptr, *sent = nullptr;
  EXPECT_EQ(api_->irecv(pair.receiver, got.data(), got.size(), 0, receiveMemory, nullptr, &wanted),
            kNcclSuccess);
  EXPECT_EQ(api_->isend(pair.sender, data.data(), data.size(), 0, sendMemory, nullptr, &sent),
            kNcclSuccess);
  EXPECT_EQ(pair.wait(wanted), kNcclSuccess);
  EXPECT_EQ(pair.wait(sent), kNcclSuccess);
  EXPECT_EQ(data, got);
  request = &request;
  EXPECT_EQ(api_->iflush(pair.receiver, got.data(), 1, receiveMemory, &request), kNcclSuccess);
  EXPECT_EQ(request, nullptr) << "host memory needs no flush";
  EXPECT_EQ(api_->consumed(pair.receiver, nullptr), kNcclSuccess);
  EXPECT_EQ(api_->deregMr(pair.sender, sendMemory), kNcclSuccess);
  EXPECT_EQ(api_->deregMr(pair.receiver, receiveMemory), kNcclSuccess);
  // Neither GPU memory nor grouped receives are supported.
  EXPECT_NE(api_->regMr(pair.sender, data.data(), 8, kPtrCuda, &sendMemory), kNcclSuccess);
  EXPECT_NE(api_->irecvTwo(pair.receiver, &request), kNcclSuccess);
}

TEST_P(NcclPluginTest, TooLongAMessageIsAnError) {
  init();
  Pair pair(*api_);
  std::vector<uint8_t> data(1'000'000), got(500'000);
  void *wanted = pair.post(true, got.data(), got.size());
  void *sent = pair.post(false, data.data(), data.size());
  EXPECT_EQ(pair.wait(wanted), kNcclInvalidUsage);
  EXPECT_EQ(pair.wait(sent), kNcclInvalidUsage);
  // A repeated test returns the same answer.
  int done = 0;
  EXPECT_EQ(api_->test(wanted, &done, nullptr), kNcclInvalidUsage);
}

TEST_P(NcclPluginTest, GarbageHandlesAreRefused) {
  init();
  uint8_t garbage[kHandleBytes];
  std::memset(garbage, 0xa5, sizeof(garbage));
  void *comm = &garbage;
  EXPECT_EQ(api_->connect(0, garbage, &comm), kNcclInvalidArgument);
  EXPECT_EQ(comm, nullptr);
  // First a valid handle whose listener is gone, then one with another secret.
  uint8_t handle[kHandleBytes];
  void *listener = nullptr;
  ASSERT_EQ(api_->listen(0, handle, &listener), kNcclSuccess);
  uint8_t forged[kHandleBytes];
  std::memcpy(forged, handle, sizeof(handle));
  forged[45] ^= 0x10;
  NcclResult result = kNcclSuccess;
  EXPECT_TRUE(until([&] {
    result = api_->connect(0, forged, &comm);
    return result != kNcclSuccess || comm;
  }));
  EXPECT_EQ(result, kNcclRemoteError);
  ASSERT_EQ(api_->closeListen(listener), kNcclSuccess);
  EXPECT_TRUE(until([&] {
    result = api_->connect(0, handle, &comm);
    return result != kNcclSuccess || comm;
  }));
  EXPECT_EQ(result, kNcclRemoteError);
  EXPECT_EQ(comm, nullptr);
  EXPECT_NE(api_->listen(7, handle, &listener), kNcclSuccess);
}

TEST_P(NcclPluginTest, AcceptWithoutAPeerIsNoError) {
  init();
  uint8_t handle[kHandleBytes];
  void *listener = nullptr, *comm = &handle;
  ASSERT_EQ(api_->listen(0, handle, &listener), kNcclSuccess);
  NcclDeviceHandle *none = nullptr;
  EXPECT_EQ(api_->accept(listener, &comm, &none), kNcclSuccess);
  EXPECT_EQ(comm, nullptr);
  EXPECT_EQ(api_->closeListen(listener), kNcclSuccess);
}

TEST_P(NcclPluginTest, ClosingWithRequestsUnderWayFailsThePeers) {
  init();
  Pair pair(*api_);
  std::vector<uint8_t> data(1 << 20);
  void *sent = pair.post(false, data.data(), data.size());
  EXPECT_EQ(api_->closeRecv(pair.receiver), kNcclSuccess);
  pair.receiver = nullptr;
  EXPECT_EQ(pair.wait(sent), kNcclRemoteError);
  void *request = nullptr;
  EXPECT_EQ(api_->isend(pair.sender, data.data(), 8, 0, nullptr, nullptr, &request),
            kNcclRemoteError);
}

// The peer is another process, which is killed without a message.
TEST_P(NcclPluginTest, PeerDeathIsAnErrorNotAHang) {
  init();
  uint8_t handle[kHandleBytes];
  void *listener = nullptr, *receiver = nullptr;
  ASSERT_EQ(api_->listen(0, handle, &listener), kNcclSuccess);
  std::string text;
  for (uint8_t byte : handle) {
    char hex[3];
    std::snprintf(hex, sizeof(hex), "%02x", byte);
    text += hex;
  }
  std::string child = "--child=" + std::to_string(GetParam()) + ":" + text;
  char *arguments[] = {selfPath.data(), child.data(), nullptr};
  pid_t pid = 0;
  ASSERT_EQ(posix_spawn(&pid, selfPath.c_str(), nullptr, nullptr, arguments, environ), 0);
  ASSERT_TRUE(until([&] {
    NcclDeviceHandle *none = nullptr;
    EXPECT_EQ(api_->accept(listener, &receiver, &none), kNcclSuccess);
    return receiver != nullptr;
  }));
  uint64_t first = 0, second = 0;
  void *one = nullptr, *two = nullptr;
  ASSERT_EQ(api_->irecv(receiver, &first, 8, 0, nullptr, nullptr, &one), kNcclSuccess);
  ASSERT_EQ(api_->irecv(receiver, &second, 8, 0, nullptr, nullptr, &two), kNcclSuccess);
  int done = 0;
  EXPECT_TRUE(until([&] { return api_->test(one, &done, nullptr) != kNcclSuccess || done; }));
  EXPECT_EQ(first, 42u);
  ::kill(pid, SIGKILL);
  NcclResult result = kNcclSuccess;
  EXPECT_TRUE(until([&] {
    result = api_->test(two, &done, nullptr);
    return result != kNcclSuccess;
  }));
  EXPECT_TRUE(result == kNcclRemoteError || result == kNcclSystemError) << result;
  EXPECT_EQ(api_->closeRecv(receiver), kNcclSuccess);
  EXPECT_EQ(api_->closeListen(listener), kNcclSuccess);
  ::waitpid(pid, nullptr, 0);
}

TEST_P(NcclPluginTest, ProfilerSeesEachSocketsPart) {
  init();
  if (!api_->hasProfiler())
    GTEST_SKIP() << "no profiler callback before v10";
  if (transport != "tcp")
    GTEST_SKIP() << "only tcp has sockets";
  int parentOfSend = 0, parentOfReceive = 0;
  constexpr size_t kBytes = 1 << 20;
  std::vector<uint8_t> data = pattern(kBytes, 5), got(kBytes);
  {
    Pair pair(*api_);
    void *wanted = pair.post(true, got.data(), kBytes, 0, &parentOfReceive);
    void *sent = pair.post(false, data.data(), kBytes, 0, &parentOfSend);
    EXPECT_EQ(pair.wait(wanted), kNcclSuccess);
    EXPECT_EQ(pair.wait(sent), kNcclSuccess);
    // Without a parent there is no profiler.
    uint64_t from = 0, to = 0;
    wanted = pair.post(true, &to, 8);
    sent = pair.post(false, &from, 8);
    EXPECT_EQ(pair.wait(wanted), kNcclSuccess);
    EXPECT_EQ(pair.wait(sent), kNcclSuccess);
  }
  EXPECT_EQ(openEvents, 0) << "each start has its stop";
  std::map<void *, uint64_t> bytes;
  std::map<void *, std::set<uint32_t>> streams;
  for (const Event &event : events) {
    EXPECT_EQ(event.id, COLL_NET_EVENT_ID);
    EXPECT_EQ(event.data.bytesOfStruct, sizeof(CollNetEvent));
    EXPECT_STREQ(event.data.transport, "tcp");
    EXPECT_STREQ(event.data.device, "lo");
    EXPECT_EQ(event.data.direction == COLL_NET_RECV, event.parent == &parentOfReceive);
    if (event.type != kNetEventStop)
      continue;
    EXPECT_GT(event.data.startNs, 0);
    EXPECT_GE(event.data.endNs, event.data.startNs);
    EXPECT_EQ(event.data.failed, 0u);
    bytes[event.parent] += event.data.bytes;
    streams[event.parent].insert(event.data.stream);
  }
  EXPECT_EQ(bytes[&parentOfSend], kBytes);
  EXPECT_EQ(bytes[&parentOfReceive], kBytes);
  EXPECT_EQ(streams[&parentOfSend].size(), 8u) << "the plugin makes eight sockets";
  EXPECT_EQ(streams[&parentOfSend], streams[&parentOfReceive]);
}

// The network of v8 to v10 lives until the process ends, so these tests come first: gtest runs them
// before the parameterised suite.
class NcclPluginSettingsTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("COLL_NET_IFACE", "lo", 1);
    warnings.clear();
  }
  void TearDown() override {
    for (const char *name :
         {"COLL_SECRET", "COLL_NET_TRANSPORT", "COLL_NET_DEVICE_UNPACK", "NCCL_SOCKET_IFNAME"})
      unsetenv(name);
  }
  // One line must be logged that contains `what`.
  void refuses(NcclResult code, const std::string &what) {
    warnings.clear();
    EXPECT_EQ(api_->init(logger, nullptr), code);
    EXPECT_EQ(api_->finalize(), kNcclSuccess) << "as NCCL does after a failure";
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find(what), std::string::npos) << warnings[0];
  }
  rt::dl::Library library_ = openPlugin();
  std::unique_ptr<Api> api_ = findApi(library_, 11);
};

TEST_F(NcclPluginSettingsTest, AShortSecretIsRefused) {
  setenv("COLL_SECRET", "short", 1);
  refuses(kNcclInvalidArgument, "COLL_SECRET");
}

TEST_F(NcclPluginSettingsTest, TheJobsSecretIsUsed) {
  setenv("COLL_SECRET", "a long enough secret", 1);
  ASSERT_EQ(api_->init(logger, nullptr), kNcclSuccess);
  {
    Pair pair(*api_);
  }
  EXPECT_EQ(api_->finalize(), kNcclSuccess);
}

TEST_F(NcclPluginSettingsTest, WrongTransportsAndInterfacesAreRefused) {
  setenv("COLL_NET_TRANSPORT", "pigeon", 1);
  refuses(kNcclInvalidArgument, "COLL_NET_TRANSPORT=pigeon");
  unsetenv("COLL_NET_TRANSPORT");
  setenv("COLL_NET_IFACE", "nosuch0", 1);
  refuses(kNcclSystemError, "nosuch0");
}

TEST_F(NcclPluginSettingsTest, NcclsChoiceOfInterfacesIsHonoured) {
  unsetenv("COLL_NET_IFACE");
  setenv("NCCL_SOCKET_IFNAME", "=lo", 1);
  ASSERT_EQ(api_->init(logger, nullptr), kNcclSuccess);
  Properties properties;
  EXPECT_EQ(api_->properties(0, properties), kNcclSuccess);
  EXPECT_EQ(properties.name, "lo");
  EXPECT_EQ(api_->finalize(), kNcclSuccess);
}

TEST_F(NcclPluginSettingsTest, NcclIsAskedForChannelsUnlessTheUserHasChosen) {
  const char *const names[] = {"NCCL_MIN_P2P_NCHANNELS", "NCCL_NCHANNELS_PER_NET_PEER",
                               "NCCL_P2P_NET_CHUNKSIZE"};
  auto clear = [&] {
    for (const char *name : names)
      unsetenv(name);
    unsetenv("NCCL_MAX_NCHANNELS");
    unsetenv("COLL_NET_NCCL_CHANNELS");
  };
  auto outcome = [&] {
    EXPECT_EQ(api_->init(logger, nullptr), kNcclSuccess);
    EXPECT_EQ(api_->finalize(), kNcclSuccess);
    return valueOf("NCCL_MIN_P2P_NCHANNELS");
  };
  clear();
  EXPECT_NE(outcome(), "unset");
  EXPECT_EQ(valueOf("NCCL_P2P_NET_CHUNKSIZE"), "524288");
  EXPECT_EQ(valueOf("NCCL_MIN_NCHANNELS"), "unset"); // collectives keep NCCL's own
  clear();
  setenv("NCCL_NCHANNELS_PER_NET_PEER", "4", 1); // which NCCL may have read already
  EXPECT_EQ(outcome(), "4");
  EXPECT_EQ(valueOf("NCCL_NCHANNELS_PER_NET_PEER"), "4");
  EXPECT_EQ(valueOf("NCCL_P2P_NET_CHUNKSIZE"), "524288");
  clear();
  setenv("NCCL_NCHANNELS_PER_NET_PEER", "many", 1);
  EXPECT_EQ(outcome(), "unset");
  clear();
  setenv("NCCL_MAX_NCHANNELS", "2", 1);
  EXPECT_EQ(outcome(), "unset");
  clear();
  setenv("COLL_NET_NCCL_CHANNELS", "0", 1);
  EXPECT_EQ(outcome(), "unset");
  clear();
}

TEST_F(NcclPluginSettingsTest, TwoCommunicatorsShareTheNetwork) {
  std::unique_ptr<Api> other = findApi(library_, 12);
  ASSERT_EQ(api_->init(logger, nullptr), kNcclSuccess);
  ASSERT_EQ(other->init(logger, nullptr), kNcclSuccess);
  {
    Pair pair(*api_);
    EXPECT_EQ(other->finalize(), kNcclSuccess);
    uint64_t sent = 5, got = 0;
    void *wanted = pair.post(true, &got, 8), *request = pair.post(false, &sent, 8);
    EXPECT_EQ(pair.wait(wanted), kNcclSuccess);
    EXPECT_EQ(pair.wait(request), kNcclSuccess);
    EXPECT_EQ(got, 5u);
    // NCCL closes comms before it finalizes; the other order must work, too.
    EXPECT_EQ(api_->finalize(), kNcclSuccess);
  }
  int count = 0;
  EXPECT_NE(api_->devices(&count), kNcclSuccess) << "nothing is left";
}

TEST_F(NcclPluginSettingsTest, UnpackModeNeedsAGpu) {
  setenv("COLL_CUDA", "none", 1);
  setenv("COLL_NET_DEVICE_UNPACK", "1", 1);
  refuses(kNcclInvalidUsage, "UNPACK");
  unsetenv("COLL_CUDA");
}

INSTANTIATE_TEST_SUITE_P(Versions, NcclPluginTest, testing::Values(8, 9, 10, 11, 12),
                         [](const testing::TestParamInfo<int> &info) {
                           return "v" + std::to_string(info.param);
                         });

TEST(NcclPluginLibraryTest, UnloadsAndLoadsAgain) {
  for (int round = 0; round < 3; ++round) {
    rt::dl::Library library = openPlugin();
    std::unique_ptr<Api> api = findApi(library, 12);
    ASSERT_EQ(api->init(logger, nullptr), kNcclSuccess);
    {
      Pair pair(*api);
    }
    ASSERT_EQ(api->finalize(), kNcclSuccess);
    EXPECT_TRUE(library.close());
  }
}

TEST(NcclPluginLibraryTest, ExportsItsTablesAndNothingElse) {
  FILE *symbols = ::popen(("nm -D --defined-only '" + pluginPath() + "'").c_str(), "r");
  ASSERT_TRUE(symbols);
  std::set<std::string> names;
  char address[64], kind[8], name[256];
  while (std::fscanf(symbols, "%63s %7s %255s", address, kind, name) == 3)
    names.insert(name);
  if (::pclose(symbols) != 0)
    GTEST_SKIP() << "no nm here";
  EXPECT_EQ(names,
            (std::set<std::string>{"ncclNetPlugin_v8", "ncclNetPlugin_v9", "ncclNetPlugin_v10",
                                   "ncclNetPlugin_v11", "ncclNetPlugin_v12"}));
}

} // namespace

// The other process of PeerDeathIsAnErrorNotAHang: sends one word, then waits to be killed.
int runChild(const std::string &text) {
  size_t colon = text.find(':');
  uint8_t handle[kHandleBytes];
  for (size_t i = 0; i < kHandleBytes; ++i)
    handle[i] = static_cast<uint8_t>(std::stoi(text.substr(colon + 1 + 2 * i, 2), nullptr, 16));
  rt::dl::Library library = openPlugin();
  std::unique_ptr<Api> api = findApi(library, std::stoi(text.substr(0, colon)));
  void *comm = nullptr, *request = nullptr;
  if (api->init(logger, nullptr) != kNcclSuccess)
    return 1;
  until([&] { return api->connect(0, handle, &comm) != kNcclSuccess || comm; });
  uint64_t word = 42;
  if (!comm || api->isend(comm, &word, 8, 0, nullptr, nullptr, &request) != kNcclSuccess)
    return 1;
  std::this_thread::sleep_for(std::chrono::seconds(60));
  return 1;
}

} // namespace coll::net::nccl::test

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  coll::net::nccl::test::selfPath = argv[0];
  constexpr const char kTransport[] = "--transport=";
  if (argc > 1 && std::strncmp(argv[1], kTransport, sizeof(kTransport) - 1) == 0)
    coll::net::nccl::test::transport = argv[1] + sizeof(kTransport) - 1;
  if (argc > 1 && std::strncmp(argv[1], "--child=", 8) == 0)
    return coll::net::nccl::test::runChild(argv[1] + 8);
  return RUN_ALL_TESTS();
}
