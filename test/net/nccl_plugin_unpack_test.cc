// UNPACK mode over a fake GPU: host memory simulates the GPU's memory, and this test the kernel, by
// the rules of runtime/base/unpack_layout.h. COLL_TEST_CUDA names the fake driver. Uses tcp unless
// COLL_NET_TRANSPORT says otherwise.

#include "runtime/base/unpack_layout.h"
#include "runtime/net/nccl_plugin/configure.h"
#include "test/net/nccl_plugin_harness.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <unistd.h>

namespace coll::net::nccl::test {
namespace {

struct FakeGpu {
  rt::dl::Library library = rt::dl::Library::open(COLL_TEST_CUDA).take();
  void *allocate(uint64_t bytes) {
    return library.symbol<void *(uint64_t)>("collFakeAllocate")(bytes);
  }
  void free(void *data) { library.symbol<void(void *)>("collFakeFree")(data); }
  void loadLazily(bool lazily) { library.symbol<void(bool)>("collFakeLoadLazily")(lazily); }
  void setCurrent() { library.symbol<void()>("collFakeSetCurrent")(); }
  std::string misuse() { return library.symbol<const char *()>("collFakeMisuse")(); }
};

// NCCL's kernel: copies the next slot's pages from the bounce buffer to the message's buffer.
struct Kernel {
  NcclDeviceHandle device;
  bool outOfPlace = false; // some page so far was not where the one before it ends

  uint64_t unpackNext(uint8_t *to) {
    auto &handle = *static_cast<rt::UnpackHandle *>(device.handle);
    uint64_t slot = ++handle.head % rt::kUnpackSlots, bytes = 0, next = 0;
    for (uint64_t page = 0; page < handle.meta->count[slot]; ++page) {
      const rt::PageDescriptor &descriptor = handle.meta->pages[slot][page];
      std::memcpy(to + descriptor.bufferOff,
                  static_cast<const uint8_t *>(handle.bounce) + descriptor.bounceOff,
                  descriptor.len);
      outOfPlace |= descriptor.bufferOff != next;
      next = descriptor.bufferOff + descriptor.len;
      bytes += descriptor.len;
    }
    return bytes;
  }
};

std::string transport() { return rt::envString(rt::EnvVar::NetTransport); }

// The file that COLL_ROUTES names, as long as the object lives.
struct Table {
  const std::string path = testing::TempDir() + "plugin_paths_" + std::to_string(getpid());
  // `rules` are for the transport of the test, without its name.
  explicit Table(std::initializer_list<const char *> rules) {
    std::string paths;
    for (const char *rule : rules)
      paths += std::string(paths.empty() ? "" : ", ") + R"({"kind": ")" + transport() + R"(", )" +
               rule + "}";
    std::ofstream(path) << R"({"format": "coll routes", "version": 1, "routes": [], "paths": [)"
                        << paths << "]}";
    setenv("COLL_ROUTES", path.c_str(), 1);
  }
  ~Table() {
    unsetenv("COLL_ROUTES");
    unlink(path.c_str());
  }
};

class NcclPluginUnpackTest : public testing::TestWithParam<int> {
protected:
  void SetUp() override {
    clearNccl();
    setenv("COLL_CUDA", COLL_TEST_CUDA, 1);
    setenv("COLL_NET_IFACE", "lo", 1);
    setenv("COLL_NET_DEVICE_UNPACK", "1", 1);
    warnings.clear();
    infos.clear();
    gpu_.setCurrent();
    api_ = findApi(library_, GetParam());
    ASSERT_TRUE(api_);
  }
  void TearDown() override {
    EXPECT_EQ(gpu_.misuse(), "");
    clearNccl();
  }
  static void clearNccl() {
    for (const NcclVariable &variable : unpackVariables())
      unsetenv(variable.name);
  }
  void expectConfigured();
  // Exchanges messages of all sizes over a new connection; the host copies receives of fewer bytes
  // than `threshold`. Returns whether pages were out of place.
  bool exchange(size_t threshold = 0);
  void move(Pair &pair, Kernel &kernel, size_t bytes, size_t room, size_t threshold);

  static constexpr size_t kRoom = 1 << 20;
  FakeGpu gpu_;
  rt::dl::Library library_ = openPlugin();
  std::unique_ptr<Api> api_;
  uint8_t *gpuMemory_ = nullptr;
  void *memory_ = nullptr; // registered
  uint32_t seed_ = 0;
};

void NcclPluginUnpackTest::expectConfigured() {
  EXPECT_EQ(valueOf("NCCL_PROTO"), "Simple");
  EXPECT_EQ(valueOf("NCCL_ALGO"), "Ring");
  EXPECT_EQ(valueOf("NCCL_PAT_ENABLE"), "0");
  EXPECT_EQ(valueOf("NCCL_LOCAL_REGISTER"), "0");
  EXPECT_EQ(valueOf("NCCL_GRAPH_REGISTER"), "0");
  EXPECT_EQ(valueOf("NCCL_NET_GDR_LEVEL"), "SYS");
  EXPECT_EQ(valueOf("NCCL_NET_GDR_READ"), "0");
  EXPECT_EQ(valueOf("NCCL_BUFFSIZE"), "unset");
  Properties properties;
  ASSERT_EQ(api_->properties(0, properties), kNcclSuccess);
  EXPECT_EQ(properties.pointers, kPtrHost | kPtrCuda);
  EXPECT_EQ(properties.deviceType, kDeviceUnpack);
  EXPECT_EQ(properties.deviceVersion, kDeviceVersionUnpack);
  EXPECT_EQ(properties.maxRecvs, 1);
}

void NcclPluginUnpackTest::move(Pair &pair, Kernel &kernel, size_t bytes, size_t room,
                                size_t threshold) {
  std::vector<uint8_t> data = pattern(bytes, ++seed_), unpacked(kRoom);
  void *wanted = nullptr;
  ASSERT_EQ(api_->irecv(pair.receiver, gpuMemory_, room, 0, memory_, nullptr, &wanted),
            kNcclSuccess);
  ASSERT_NE(wanted, nullptr);
  void *sent = pair.post(false, data.data(), bytes);
  int size = -1;
  ASSERT_EQ(pair.wait(wanted, &size), kNcclSuccess);
  ASSERT_EQ(pair.wait(sent), kNcclSuccess);
  EXPECT_EQ(static_cast<size_t>(size), bytes);
  const bool byHost = room < threshold;
  EXPECT_EQ(kernel.unpackNext(unpacked.data()), byHost ? 0 : bytes);
  const uint8_t *got = byHost ? gpuMemory_ : unpacked.data();
  EXPECT_TRUE(std::equal(data.begin(), data.end(), got)) << bytes << " bytes";
  EXPECT_EQ(api_->consumed(pair.receiver, wanted), kNcclSuccess);
}

bool NcclPluginUnpackTest::exchange(size_t threshold) {
  gpuMemory_ = static_cast<uint8_t *>(gpu_.allocate(kRoom));
  Kernel kernel;
  {
    Pair pair(*api_);
    kernel.device = pair.deviceHandle;
    EXPECT_EQ(kernel.device.type, kDeviceUnpack);
    EXPECT_EQ(kernel.device.version, kDeviceVersionUnpack);
    EXPECT_EQ(kernel.device.needsProxyProgress, 1);
    EXPECT_EQ(kernel.device.bytes, sizeof(rt::UnpackHandle));
    EXPECT_EQ(static_cast<rt::UnpackHandle *>(kernel.device.handle)->head, rt::kUnpackHeadStart);
    EXPECT_EQ(api_->regMr(pair.receiver, gpuMemory_, kRoom, kPtrCuda, &memory_), kNcclSuccess);
    for (int round = 0; round < 3; ++round)
      for (size_t bytes : {1, 0, 4096, 4097, 65536, 100'003, 524'288, 1 << 20})
        move(pair, kernel, bytes, round ? kRoom : bytes, threshold);
    // NCCL's kernel would unpack into host memory, so the receive must be refused.
    uint8_t got[8];
    void *request = nullptr;
    EXPECT_NE(api_->irecv(pair.receiver, got, 8, 0, nullptr, nullptr, &request), kNcclSuccess);
    EXPECT_EQ(api_->deregMr(pair.receiver, memory_), kNcclSuccess);
  }
  gpu_.free(gpuMemory_);
  return kernel.outOfPlace;
}

TEST_P(NcclPluginUnpackTest, ConfiguresNccl) {
  ASSERT_EQ(api_->init(logger, nullptr), kNcclSuccess);
  expectConfigured();
  EXPECT_EQ(api_->finalize(), kNcclSuccess);
}

TEST_P(NcclPluginUnpackTest, RefusesWhatUnpackCannotDo) {
  struct {
    const char *name, *value;
    bool good;
  } const cases[] = {
      {"NCCL_PROTO", "LL128", false},       {"NCCL_PROTO", "simple", true},
      {"NCCL_ALGO", "Tree", false},         {"NCCL_ALGO", "ring", true},
      {"NCCL_PAT_ENABLE", "1", false},      {"NCCL_LOCAL_REGISTER", "1", false},
      {"NCCL_GRAPH_REGISTER", "1", false},  {"NCCL_NET_GDR_LEVEL", "PIX", false},
      {"NCCL_NET_GDR_LEVEL", "sys", true},  {"NCCL_NET_GDR_READ", "1", false},
      {"NCCL_BUFFSIZE", "33554432", false}, {"NCCL_BUFFSIZE", "8388608", true},
  };
  for (const auto &one : cases) {
    clearNccl();
    setenv(one.name, one.value, 1);
    warnings.clear();
    NcclResult result = api_->init(logger, nullptr);
    EXPECT_EQ(result == kNcclSuccess, one.good) << one.name << "=" << one.value;
    if (!one.good) {
      ASSERT_EQ(warnings.size(), 1u);
      EXPECT_NE(warnings[0].find(one.name), std::string::npos) << warnings[0];
      EXPECT_EQ(valueOf(one.name == std::string("NCCL_PROTO") ? "NCCL_ALGO" : "NCCL_PROTO"),
                "unset")
          << "nothing is set where something is refused";
    } else {
      EXPECT_EQ(valueOf(one.name), one.value) << "the user's value stays";
    }
    EXPECT_EQ(api_->finalize(), kNcclSuccess);
  }
}

TEST_P(NcclPluginUnpackTest, ATableChoosesWhereTheUserHasNot) {
  const Table table({R"("path": "unpack", "why": "measured")"});
  for (const char *own : {"", "0"}) {
    clearNccl();
    setenv("COLL_NET_DEVICE_UNPACK", own, 1);
    infos.clear();
    EXPECT_EQ(api_->init(logger, nullptr), kNcclSuccess);
    Properties properties;
    EXPECT_EQ(api_->properties(0, properties), kNcclSuccess);
    EXPECT_EQ(properties.deviceType, *own ? kDeviceHost : kDeviceUnpack);
    EXPECT_EQ(valueOf("NCCL_PROTO"), *own ? "unset" : "Simple");
    ASSERT_FALSE(infos.empty());
    EXPECT_EQ(infos[0].find("UNPACK, by the table of COLL_ROUTES: measured") == std::string::npos,
              *own != 0)
        << infos[0];
    EXPECT_EQ(api_->finalize(), kNcclSuccess);
  }
}

TEST_P(NcclPluginUnpackTest, TheKernelFindsEveryMessage) {
  ASSERT_EQ(api_->init(logger, nullptr), kNcclSuccess);
  EXPECT_FALSE(exchange());
  EXPECT_EQ(api_->finalize(), kNcclSuccess);
  bool proved = false;
  for (const std::string &line : infos)
    proved |= line.find("pages unpacked: ") != std::string::npos &&
              line.find("pages unpacked: 0") == std::string::npos;
  EXPECT_TRUE(proved) << "the log says that the path ran";
}

TEST_P(NcclPluginUnpackTest, WhatLandsScatteredIsTheKernelsByItself) {
  unsetenv("COLL_NET_DEVICE_UNPACK");
  setenv("COLL_NET_SCATTER", "1", 1);
  ASSERT_EQ(api_->init(logger, nullptr), kNcclSuccess);
  expectConfigured();
  EXPECT_TRUE(exchange());
  EXPECT_EQ(api_->finalize(), kNcclSuccess);
  unsetenv("COLL_NET_SCATTER");
}

TEST_P(NcclPluginUnpackTest, TheHostCopiesShortMessagesOnlyWhereKernelsAreLoadedEagerly) {
  for (bool byTable : {false, true})
    for (bool lazily : {false, true}) {
      clearNccl();
      std::optional<Table> table;
      if (byTable)
        table.emplace({R"("max_bytes": 65535, "path": "host")", R"("path": "unpack")"});
      setenv("COLL_NET_DEVICE_UNPACK", byTable ? "" : "1", 1);
      setenv("COLL_NET_DEVICE_UNPACK_THRESHOLD", byTable ? "" : "65536", 1);
      gpu_.loadLazily(lazily);
      warnings.clear();
      ASSERT_EQ(api_->init(logger, nullptr), kNcclSuccess);
      ASSERT_EQ(warnings.size(), lazily ? 1u : 0u);
      if (lazily) {
        const char *what = byTable ? "the host's part in the table of COLL_ROUTES is ignored"
                                   : "COLL_NET_DEVICE_UNPACK_THRESHOLD is ignored";
        EXPECT_NE(warnings[0].find(what), std::string::npos) << warnings[0];
        EXPECT_NE(warnings[0].find("CUDA_MODULE_LOADING=EAGER"), std::string::npos) << warnings[0];
      }
      EXPECT_FALSE(exchange(lazily ? 0 : 65536));
      EXPECT_EQ(api_->finalize(), kNcclSuccess);
    }
  gpu_.loadLazily(false);
  unsetenv("COLL_NET_DEVICE_UNPACK_THRESHOLD");
}

// "lo,eth0", as far as there are such.
std::string allInterfaces() {
  std::set<std::string> names;
  std::string list;
  for (const Interface &interface : findInterfaces("0.0.0.0/0").take())
    if (names.insert(interface.name).second)
      list += (list.empty() ? "" : ",") + interface.name;
  return list;
}

TEST_P(NcclPluginUnpackTest, AConnectionOverSeveralDevicesUnpacksAsWell) {
  if (transport() != "tcp")
    GTEST_SKIP() << "test/vm joins other devices";
  const std::string interfaces = allInterfaces();
  if (interfaces.find(',') == interfaces.npos)
    GTEST_SKIP() << "there is one interface only";
  setenv("COLL_NET_IFACE", interfaces.c_str(), 1);
  setenv("COLL_NET_RAILS", "2", 1);
  for (const char *mode : {"1", "0"}) {
    setenv("COLL_NET_DEVICE_UNPACK", mode, 1);
    ASSERT_EQ(api_->init(logger, nullptr), kNcclSuccess);
    Properties properties;
    ASSERT_EQ(api_->properties(0, properties), kNcclSuccess);
    EXPECT_NE(properties.name.find('+'), std::string::npos) << properties.name;
    if (*mode == '1') {
      EXPECT_FALSE(exchange());
    } else {
      Pair pair(*api_);
      std::vector<uint8_t> data = pattern(1 << 20, 1), got(1 << 20);
      void *wanted = pair.post(true, got.data(), got.size());
      void *sent = pair.post(false, data.data(), data.size());
      EXPECT_EQ(pair.wait(wanted), kNcclSuccess);
      EXPECT_EQ(pair.wait(sent), kNcclSuccess);
      EXPECT_EQ(got, data);
    }
    EXPECT_EQ(api_->finalize(), kNcclSuccess);
  }
  unsetenv("COLL_NET_RAILS");
}

// With the same variables on all ranks NCCL works; with different ones it would hang.
TEST_P(NcclPluginUnpackTest, RanksOfDifferentModesDoNotConnect) {
  for (bool theyUnpack : {true, false}) {
    setenv("COLL_NET_DEVICE_UNPACK", theyUnpack ? "1" : "0", 1);
    ASSERT_EQ(api_->init(logger, nullptr), kNcclSuccess);
    void *listener = nullptr, *sender = nullptr;
    uint8_t handle[kHandleBytes] = {};
    ASSERT_EQ(api_->listen(0, handle, &listener), kNcclSuccess);
    EXPECT_EQ(api_->finalize(), kNcclSuccess); // the listener goes on, as another process's would
    setenv("COLL_NET_DEVICE_UNPACK", theyUnpack ? "0" : "1", 1);
    ASSERT_EQ(api_->init(logger, nullptr), kNcclSuccess);
    warnings.clear();
    EXPECT_EQ(api_->connect(0, handle, &sender), kNcclInvalidUsage);
    EXPECT_EQ(sender, nullptr);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_EQ(
        warnings[0],
        "NET/coll: connect: the listener's process is in mode " +
            std::string(theyUnpack ? "UNPACK, this one in HOST" : "HOST, this one in UNPACK") +
            ": COLL_NET_DEVICE_UNPACK must be the same on all ranks and, if it is auto, "
            "COLL_NET_SCATTER and COLL_ROUTES as well");
    EXPECT_EQ(api_->closeListen(listener), kNcclSuccess);
    EXPECT_EQ(api_->finalize(), kNcclSuccess);
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, NcclPluginUnpackTest, testing::Values(11, 12),
                         [](const testing::TestParamInfo<int> &info) {
                           return "v" + std::to_string(info.param);
                         });

// v8 to v10 have no finalize, and their network lives as long as the process, so each test gets its
// own process.
using NcclPluginUnpackDeathTest = NcclPluginUnpackTest;

TEST_P(NcclPluginUnpackDeathTest, TheKernelFindsEveryMessage) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const char *scatter : {"0", "1"}) {
    setenv("COLL_NET_SCATTER", scatter, 1);
    EXPECT_EXIT(
        {
          EXPECT_EQ(api_->init(logger, nullptr), kNcclSuccess);
          expectConfigured();
          EXPECT_EQ(exchange(), *scatter == '1');
          EXPECT_EQ(gpu_.misuse(), "");
          std::exit(HasFailure() ? 1 : 0);
        },
        testing::ExitedWithCode(0), "");
  }
  unsetenv("COLL_NET_SCATTER");
}

INSTANTIATE_TEST_SUITE_P(Versions, NcclPluginUnpackDeathTest, testing::Values(8, 9, 10),
                         [](const testing::TestParamInfo<int> &info) {
                           return "v" + std::to_string(info.param);
                         });

} // namespace
} // namespace coll::net::nccl::test
