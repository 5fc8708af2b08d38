// nccl_plugin_harness.h - what NCCL provides to a plugin: a logger, and connections whose two ends
// are driven by one thread.

#ifndef COLL_TEST_NET_NCCL_PLUGIN_HARNESS_H
#define COLL_TEST_NET_NCCL_PLUGIN_HARNESS_H

#include "runtime/base/env.h"
#include "runtime/net/socket.h"
#include "test/net/nccl_plugin_api.h"

#include <cstdarg>
#include <cstdio>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>
#include <vector>

namespace coll::net::nccl::test {

inline constexpr int64_t kPatientUs = 60'000'000;

inline std::mutex logMutex;
inline std::vector<std::string> warnings, infos;

inline void logger(NcclLogLevel level, unsigned long, const char *, int, const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  std::lock_guard<std::mutex> lock(logMutex);
  (level == kNcclLogWarn ? warnings : infos).push_back(text);
}

// The plugin of this build; COLL_TEST_PLUGIN names another one if the build folder is not
// available.
inline std::string pluginPath() {
  return rt::foreignEnv("COLL_TEST_PLUGIN").value_or(COLL_TEST_PLUGIN);
}

inline rt::dl::Library openPlugin() {
  Result<rt::dl::Library> library = rt::dl::Library::open(pluginPath());
  EXPECT_TRUE(library.ok()) << library.status().message();
  return library.take();
}

// A variable of the environment, or "unset".
inline std::string valueOf(const char *name) { return rt::foreignEnv(name).value_or("unset"); }

template <typename Done>
bool until(Done done) {
  for (int64_t end = nowUs() + kPatientUs; nowUs() < end;) {
    if (done())
      return true;
    std::this_thread::yield();
  }
  return false;
}

// A connection from one device to another, both ends in this process.
struct Pair {
  Api &api;
  void *listener = nullptr, *sender = nullptr, *receiver = nullptr;
  uint8_t handle[kHandleBytes] = {};
  NcclDeviceHandle deviceHandle = {}; // as accept filled it

  explicit Pair(Api &api, int from = 0, int to = 0) : api(api) {
    EXPECT_EQ(api.listen(to, handle, &listener), kNcclSuccess);
    bool isRefused = !listener;
    EXPECT_TRUE(until([&] {
      if (!sender && !isRefused)
        isRefused = api.connect(from, handle, &sender) != kNcclSuccess;
      NcclDeviceHandle *pointer = &deviceHandle;
      if (!receiver && !isRefused)
        isRefused = api.accept(listener, &receiver, &pointer) != kNcclSuccess;
      return isRefused || (sender && receiver);
    }));
    EXPECT_FALSE(isRefused);
    EXPECT_EQ(api.closeListen(listener), kNcclSuccess);
  }
  ~Pair() {
    if (sender) {
      EXPECT_EQ(api.closeSend(sender), kNcclSuccess);
    }
    if (receiver) {
      EXPECT_EQ(api.closeRecv(receiver), kNcclSuccess);
    }
  }

  // Posts repeatedly until there is room, like NCCL.
  void *post(bool receives, void *data, size_t bytes, int tag = 0, void *parent = nullptr) {
    void *request = nullptr;
    EXPECT_TRUE(until([&] {
      NcclResult result = receives
                              ? api.irecv(receiver, data, bytes, tag, nullptr, parent, &request)
                              : api.isend(sender, data, bytes, tag, nullptr, parent, &request);
      EXPECT_EQ(result, kNcclSuccess);
      return request || result != kNcclSuccess;
    }));
    return request;
  }
  // Returns the outcome of a request, and its bytes in `bytes`.
  NcclResult wait(void *request, int *bytes = nullptr) {
    NcclResult result = kNcclSuccess;
    int size = -1;
    if (!request) { // refused, which post() has told
      ADD_FAILURE() << "no request";
      return kNcclInternalError;
    }
    EXPECT_TRUE(until([&] {
      int done = 0;
      result = api.test(request, &done, &size);
      return done || result != kNcclSuccess;
    })) << "a request hangs";
    if (bytes)
      *bytes = size;
    return result;
  }
};

inline std::vector<uint8_t> pattern(size_t bytes, uint32_t seed) {
  std::vector<uint8_t> data(bytes);
  uint32_t state = seed * 2654435761u + 1;
  for (uint8_t &byte : data)
    byte = static_cast<uint8_t>((state = state * 1664525u + 1013904223u) >> 24);
  return data;
}

} // namespace coll::net::nccl::test

#endif // COLL_TEST_NET_NCCL_PLUGIN_HARNESS_H
