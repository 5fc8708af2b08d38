// Owners that have no descriptors left.

#include "runtime/exchange/remote_tensor.h"
#include "runtime/exchange/tensor_owner.h"
#include "test/exchange/owner_process.h"

#include <chrono>
#include <ctime>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <thread>

namespace coll::rt::exchange::test {
namespace {

RemoteTensorsOptions optionsFor(net::Transport *transport) {
  RemoteTensorsOptions options;
  options.transport = transport;
  options.timeoutUs = 20'000'000;
  return options;
}

//===-- descriptors ---------------------------------------------------------------------===//

// Microseconds of processors that this process takes meanwhile.
int64_t workIn(std::chrono::milliseconds time) {
  const auto now = [] {
    timespec used = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * 1'000'000 + used.tv_nsec / 1000;
  };
  const int64_t before = now();
  std::this_thread::sleep_for(time);
  return now() - before;
}

// In a process of its own: 0, or what went wrong.
int serveWithout(bool hasFewerThanOpen, int out, int in) {
  testing::internal::CaptureStderr();
  auto owner = TensorOwner::create({"child", nullptr, 0, nullptr}).take();
  auto *data = static_cast<char *>(owner->allocate(64).take());
  data[3] = 7;
  const auto handle = owner->publish({kCollI8, {64}, {}, data, nullptr}, {true, false});
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  const int next = dup(in);
  close(next);
  const rlimit few = {hasFewerThanOpen ? 1 : static_cast<rlim_t>(next), before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &few);
  say(out, handle);
  waitForEnd(in); // somebody is at the socket
  const bool isCalm = workIn(std::chrono::milliseconds(300)) < 100'000;
  setrlimit(RLIMIT_NOFILE, &before);
  waitForEnd(in); // and was served
  setrlimit(RLIMIT_NOFILE, &few);
  owner.reset();
  setrlimit(RLIMIT_NOFILE, &before);
  const std::string said = testing::internal::GetCapturedStderr();
  const size_t at = said.find("has to wait");
  const bool isSaidOnce = at != said.npos && said.find("has to wait", at + 1) == said.npos;
  return isCalm ? isSaidOnce ? 0 : 4 : 3;
}

TEST(RemoteTensorProcessTest, AnOwnerWithoutDescriptorsLetsClientsWait) {
  for (const bool hasFewerThanOpen : {false, true}) {
    OwnerProcess process([&](int out, int in) { _exit(serveWithout(hasFewerThanOpen, out, in)); });
    Status status;
    char local[64] = {};
    std::thread reader([&] {
      RemoteTensors remote(optionsFor(nullptr));
      auto opened = remote.open(process.handle);
      status = opened ? (*opened)->readInto({kCollI8, {64}, {}, local, nullptr}) : opened.status();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(write(process.out.get(), "x", 1), 1);
    reader.join();
    EXPECT_TRUE(status.ok()) << status.toString();
    EXPECT_EQ(local[3], 7);
    EXPECT_EQ(process.end(0), 0);
  }
}

} // namespace
} // namespace coll::rt::exchange::test
