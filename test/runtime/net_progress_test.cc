// Backend net: started operations progress, and fail, without a call of their rank.

#include "runtime/backend/net/net.h"
#include "runtime/net/transport.h"
#include "test/runtime/processes.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <random>
#include <stdexcept>
#include <sys/mman.h>
#include <thread>

namespace coll::rt::network {
namespace {

using std::chrono::milliseconds;

constexpr int64_t kLarge = 4 << 20; // f32: dozens of segments, so no single look ends it
constexpr int64_t kTimeoutUs = 60'000'000;

// All ranks of a job in this process. The test's thread makes every rank's calls, so while one rank
// waits for its peer, the peer is in no call.
struct Job {
  Job(int ranks, const std::string &transport, int64_t timeoutUs = kTimeoutUs) {
    BackendOptions options;
    options.numRanks = ranks;
    options.transport = transport;
    options.timeoutUs = timeoutUs;
    Result<std::unique_ptr<Backend>> made = createBackend(options);
    if (!made.ok())
      throw std::runtime_error(made.status().toString());
    backend = made.take();
    for (int rank = 0; rank < ranks; ++rank) {
      endpoints.push_back(backend->endpoint(rank).take());
      endpoints.back()->enter();
    }
  }
  std::unique_ptr<Communicator> group(int rank, const std::vector<int> &ranks) {
    return (*this)[rank].communicator(ranks).take();
  }
  Endpoint &operator[](int rank) { return *endpoints[static_cast<size_t>(rank)]; }

  std::unique_ptr<Backend> backend;
  std::vector<std::unique_ptr<Endpoint>> endpoints;
};

Call sumOf(std::vector<float> &data) {
  Call call;
  call.kind = OpKind::AllReduce;
  call.count = static_cast<int64_t>(data.size());
  call.src = call.dst = data.data();
  call.site = {3, 0, "train.py:7:1", "loss"};
  return call;
}

bool contains(const Status &status, const std::string &text) {
  return status.message().find(text) != std::string::npos;
}

// Names the operation, its place and the rank.
void expectNamed(const Status &status, CollCode code, const std::string &rank) {
  EXPECT_EQ(status.code(), code) << status.toString();
  EXPECT_TRUE(contains(status, "all_reduce sum f32 x ")) << status.message();
  EXPECT_TRUE(contains(status, "op 3 \"loss\" at train.py:7:1")) << status.message();
  EXPECT_TRUE(contains(status, "on rank " + rank)) << status.message();
}

class NetProgress : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, NetProgress, testing::Values("loopback", "tcp"),
                         [](const auto &info) { return info.param; });

TEST_P(NetProgress, AWaitNeedsNoCallOfThePeer) {
  Job job(2, GetParam());
  std::unique_ptr<Communicator> first = job.group(0, {0, 1}), second = job.group(1, {0, 1});
  for (int64_t count : {int64_t{1}, int64_t{30'000}, kLarge})
    for (int round = 0; round < 5; ++round) {
      std::vector<float> a(static_cast<size_t>(count), 1), b(static_cast<size_t>(count), 2);
      Result<Request *> begun = second->start(sumOf(b));
      ASSERT_TRUE(begun.ok());
      Status status = first->run(sumOf(a));
      ASSERT_TRUE(status.ok()) << status.toString();
      ASSERT_TRUE(job[1].wait(*begun).ok());
      EXPECT_EQ(a.back(), 3);
      EXPECT_EQ(b.back(), 3);
    }
}

// More operations than can be in flight at once: the later ones must also start without a call.
TEST_P(NetProgress, ManyEndWhileOneIsWaitedFor) {
  Job job(2, GetParam());
  std::unique_ptr<Communicator> groups[] = {job.group(0, {0, 1}), job.group(1, {0, 1})};
  std::vector<float> data[2][40];
  Request *requests[2][40];
  for (int rank : {0, 1})
    for (size_t k = 0; k < 40; ++k) {
      data[rank][k].assign(k % 4 ? 10 : 40'000, static_cast<float>(rank + 1));
      requests[rank][k] = groups[rank]->start(sumOf(data[rank][k])).take();
    }
  for (int rank : {0, 1})
    for (size_t k = 40; k-- > 0;) {
      ASSERT_TRUE(job[rank].wait(requests[rank][k]).ok());
      EXPECT_EQ(data[rank][k].back(), 3);
    }
}

TEST_P(NetProgress, TransfersMoveOnToo) {
  Job job(2, GetParam());
  std::unique_ptr<Communicator> first = job.group(0, {0, 1}), second = job.group(1, {0, 1});
  for (size_t count : {size_t{1}, static_cast<size_t>(kLarge)}) {
    std::vector<float> from(count, 5), to(count);
    Call send = sumOf(from), recv = sumOf(to);
    send.kind = OpKind::Send;
    send.peer = 1;
    recv.kind = OpKind::Recv;
    Result<Request *> begun = first->start(send);
    ASSERT_TRUE(begun.ok());
    ASSERT_TRUE(second->run(recv).ok());
    ASSERT_TRUE(job[0].wait(*begun).ok());
    EXPECT_EQ(to.back(), 5);
  }
}

// Both ranks compute, and then find the operation complete. If the machine is too busy, they
// compute for longer.
TEST_P(NetProgress, DoneWhenBothHaveComputed) {
  Job job(2, GetParam());
  bool wasDone[2] = {};
  auto body = [&](int rank, milliseconds pause) {
    std::unique_ptr<Communicator> group = job.group(rank, {0, 1});
    std::vector<float> data(static_cast<size_t>(kLarge), static_cast<float>(rank + 1));
    Result<Request *> request = group->start(sumOf(data));
    ASSERT_TRUE(request.ok());
    std::this_thread::sleep_for(pause);
    wasDone[rank] = job[rank].test(*request); // one look
    ASSERT_TRUE(job[rank].wait(*request).ok());
    EXPECT_EQ(data.back(), 3);
  };
  for (milliseconds pause(200); !(wasDone[0] && wasDone[1]) && pause < milliseconds(10'000);
       pause *= 2) {
    std::thread other(body, 1, pause);
    body(0, pause);
    other.join();
  }
  EXPECT_TRUE(wasDone[0] && wasDone[1]);
}

// Each rank starts, tests, computes and waits in a random order.
TEST_P(NetProgress, AnyMixOfCalls) {
  Job job(3, GetParam());
  auto body = [&](int rank) {
    std::unique_ptr<Communicator> group = job.group(rank, {0, 1, 2});
    std::mt19937 shared(5), own(static_cast<unsigned>(rank));
    for (int round = 0; round < 40; ++round) {
      std::vector<std::vector<float>> data(shared() % 6);
      std::vector<Request *> requests;
      for (std::vector<float> &buffer : data) {
        buffer.assign(shared() % 3 ? 100 : 50'000, static_cast<float>(rank));
        requests.push_back(group->start(sumOf(buffer)).take());
        if (own() % 3 == 0)
          std::this_thread::sleep_for(std::chrono::microseconds(own() % 300));
        if (own() % 3 == 0)
          (void)job[rank].test(requests.front());
      }
      std::shuffle(requests.begin(), requests.end(), own);
      for (Request *request : requests)
        ASSERT_TRUE(job[rank].wait(request).ok());
      for (const std::vector<float> &buffer : data)
        EXPECT_EQ(buffer.back(), 3);
      ASSERT_TRUE(job[rank].health().ok());
    }
  };
  std::vector<std::thread> others;
  for (int rank : {1, 2})
    others.emplace_back(body, rank);
  body(0);
  for (std::thread &other : others)
    other.join();
}

size_t numThreads() {
  std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST_P(NetProgress, CommunicatorsShareOneThread) {
  constexpr int kRanks = 6; // with 57 groups of two or more
  Job job(kRanks, GetParam());
  const size_t before = numThreads();
  struct Started {
    int rank;
    std::unique_ptr<Communicator> group;
    std::unique_ptr<std::vector<float>> data;
    Request *request;
  };
  std::vector<Started> all;
  for (unsigned mask = 3; mask < 1u << kRanks; ++mask) {
    std::vector<int> ranks;
    for (int rank = 0; rank < kRanks; ++rank)
      if (mask >> rank & 1)
        ranks.push_back(rank);
    for (int rank : ranks) {
      if (ranks.size() < 2)
        continue;
      auto data = std::make_unique<std::vector<float>>(5'000, 1);
      std::unique_ptr<Communicator> group = job.group(rank, ranks);
      Request *request = group->start(sumOf(*data)).take();
      all.push_back({rank, std::move(group), std::move(data), request});
    }
  }
  EXPECT_EQ(numThreads(), before);
  for (Started &one : all) {
    ASSERT_TRUE(job[one.rank].wait(one.request).ok());
    EXPECT_EQ(one.data->back(), one.group->ranks().size());
  }
}

//===-- failures while a rank computes ------------------------------------------===//

TEST_P(NetProgress, AnAbortEndsWhatNobodyLooksAt) {
  Job job(2, GetParam());
  std::unique_ptr<Communicator> group = job.group(0, {0, 1});
  std::vector<float> data(4);
  Result<Request *> request = group->start(sumOf(data));
  ASSERT_TRUE(request.ok());
  job[1].abort({kCollDevice, "smoke"});
  std::this_thread::sleep_for(milliseconds(50));
  Status status = job[0].wait(*request);
  expectNamed(status, kCollAborted, "0");
  EXPECT_TRUE(contains(status, "smoke")) << status.message();
  EXPECT_TRUE(contains(job[0].health(), "smoke"));
}

// Ranks that compute find a mismatch and report it: all members get the cause itself.
TEST_P(NetProgress, AMismatchReachesAllWhoCompute) {
  Job job(3, GetParam());
  std::vector<float> data[3] = {std::vector<float>(8), std::vector<float>(9),
                                std::vector<float>(8)};
  std::unique_ptr<Communicator> groups[3];
  Request *requests[3];
  for (int rank : {0, 1, 2}) {
    groups[rank] = job.group(rank, {0, 1, 2});
    requests[rank] = groups[rank]->start(sumOf(data[rank])).take();
  }
  for (int rank : {0, 1, 2}) {
    Status status = job[rank].wait(requests[rank]);
    EXPECT_EQ(status.code(), kCollMismatch) << status.toString();
    EXPECT_TRUE(contains(status, "counts differ")) << status.message();
  }
}

// Rank 1's deadline passes while rank 0 computes and has an operation with rank 2 in flight.
TEST(NetProgressDeadline, OneElsewhereEndsWhatNobodyLooksAt) {
  Job job(3, "loopback", /*timeoutUs=*/300'000);
  std::vector<float> data(4), other(4);
  Result<Request *> request = job.group(0, {0, 2})->start(sumOf(data));
  ASSERT_TRUE(request.ok());
  expectNamed(job.group(1, {0, 1})->run(sumOf(other)), kCollTimeout, "1");
  Status status = job[0].wait(*request);
  expectNamed(status, kCollAborted, "0");
  EXPECT_TRUE(contains(status, "no completion within 300 ms; waiting for rank 0"))
      << status.message();
}

// The time of a computation does not count as waiting.
TEST(NetProgressDeadline, BeginsWithTheWait) {
  Job job(2, "loopback", /*timeoutUs=*/1'500'000);
  std::unique_ptr<Communicator> first = job.group(0, {0, 1}), second = job.group(1, {0, 1});
  std::vector<float> a(4, 1), b(4, 2);
  Result<Request *> request = first->start(sumOf(a));
  ASSERT_TRUE(request.ok());
  std::this_thread::sleep_for(milliseconds(2000));
  ASSERT_TRUE(job[0].health().ok());
  ASSERT_TRUE(second->run(sumOf(b)).ok());
  ASSERT_TRUE(job[0].wait(*request).ok());
  request = first->start(sumOf(a));
  ASSERT_TRUE(request.ok());
  Status status = job[0].wait(*request);
  expectNamed(status, kCollTimeout, "0");
  EXPECT_TRUE(contains(status, "waiting for rank 1")) << status.message();
}

TEST_P(NetProgress, ARankThatLeavesIsMissedByThoseWhoCompute) {
  Job job(3, GetParam());
  std::vector<float> data(4), other(4);
  Result<Request *> request = job.group(0, {0, 2})->start(sumOf(data));
  ASSERT_TRUE(request.ok());
  job[2].leave();
  // Rank 1 gets the failure only if rank 0, which is in no call, notices it.
  Status heard = job.group(1, {0, 1})->run(sumOf(other));
  expectNamed(heard, kCollAborted, "1");
  Status status = job[0].wait(*request);
  expectNamed(status, kCollPeer, "0");
  EXPECT_TRUE(contains(status, "rank 2 has ended without the matching call")) << status.message();
}

// Operations in flight end with the endpoint, whichever thread works on them.
TEST_P(NetProgress, AnEndpointMayDieWithOperationsInFlight) {
  for (int round = 0; round < 4; ++round) {
    std::vector<float> a(100'000), b(100'000); // outlive the job
    Job job(2, GetParam());
    ASSERT_TRUE(job.group(0, {0, 1})->start(sumOf(a)).ok());
    ASSERT_TRUE(job.group(1, {0, 1})->start(sumOf(b)).ok());
    if (round % 2)
      job[0].leave();
  }
}

// Rank 1 is stopped, so it does not receive what rank 0 has sent; rank 0 does not wait long for
// that when it ends.
TEST(NetProgressProcesses, AStoppedPeerHoldsNoFailedRank) {
  auto *stopped = static_cast<std::atomic<pid_t> *>(
      mmap(nullptr, sizeof(pid_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(stopped, MAP_FAILED);
  auto body = [&](BackendOptions &options) {
    const int rank = options.job->rank;
    std::unique_ptr<Backend> backend = createBackend(options).take();
    std::unique_ptr<Endpoint> endpoint = backend->endpoint(rank).take();
    endpoint->enter();
    if (rank == 1) {
      stopped->store(getpid());
      raise(SIGSTOP);
      return 10;
    }
    while (stopped->load() == 0)
      std::this_thread::yield();
    kill(stopped->load(), SIGSTOP); // it has stopped by now, or stops here
    endpoint->abort({kCollTimeout, "rank 1 does not answer"});
    const auto begin = std::chrono::steady_clock::now();
    endpoint.reset();
    backend.reset();
    const auto took = std::chrono::steady_clock::now() - begin;
    kill(stopped->load(), SIGKILL);
    return took < std::chrono::microseconds(net::kLingerUs) ? 0 : 11;
  };
  EXPECT_EQ(test::runProcesses(2, body), std::vector<int>({0, -SIGKILL}));
  munmap(stopped, sizeof(pid_t));
}

// Rank 1 is killed. Rank 0, which computes, tells rank 2, which does not wait for rank 1.
TEST(NetProgressProcesses, AKilledPeerIsNoticedWhileARankComputes) {
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  auto body = [&](BackendOptions &options) {
    const int rank = options.job->rank;
    Result<std::unique_ptr<Backend>> backend = createBackend(options);
    if (!backend.ok())
      return 10;
    std::unique_ptr<Endpoint> endpoint = (*backend)->endpoint(rank).take();
    endpoint->enter();
    std::unique_ptr<Communicator> all = endpoint->communicator({0, 1, 2}).take();
    std::vector<float> data(100'000);
    if (!all->run(sumOf(data)).ok())
      return 11;
    if (rank == 1)
      raise(SIGKILL);
    if (rank == 2) {
      Status status = endpoint->communicator({0, 2}).take()->run(sumOf(data));
      const bool isTold = status.code() == kCollAborted && contains(status, "rank 1 is gone");
      return write(told[1], "x", 1) == 1 && isTold ? 0 : 12;
    }
    Result<Request *> request = endpoint->communicator({0, 1}).take()->start(sumOf(data));
    char byte = 0;
    if (!request.ok() || read(told[0], &byte, 1) != 1)
      return 13;
    Status status = endpoint->wait(*request);
    return status.code() == kCollPeer && contains(status, "rank 1 is gone") &&
                   contains(status, "train.py:7:1") && contains(status, "on rank 0")
               ? 0
               : 14;
  };
  EXPECT_EQ(test::runProcesses(3, body), std::vector<int>({0, -SIGKILL, 0}));
  close(told[0]);
  close(told[1]);
}

} // namespace
} // namespace coll::rt::network
