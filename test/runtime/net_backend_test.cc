// Backend net beyond the conformance suite: messages with arbitrary content, many ranks, several
// algorithms, and set-ups that cannot work.

#include "runtime/backend/net/collective.h"
#include "runtime/backend/net/cores.h"
#include "runtime/backend/net/gpu/platform.h"
#include "runtime/backend/net/message.h"
#include "runtime/backend/net/net.h"
#include "runtime/base/env.h"
#include "runtime/net/gpu/gpu.h"
#include "test/runtime/fixtures.h"
#include "test/runtime/processes.h"
#include "test/support/fakes/cuda.h"

#include <functional>
#include <gtest/gtest.h>
#include <poll.h>
#include <random>
#include <thread>

namespace coll::rt::network {
namespace {

CallHeader exampleHeader() {
  CallHeader header;
  header.signature.kind = OpKind::AllReduce;
  header.signature.count = 77;
  header.signature.root = 3;
  header.sequence = 5;
  header.text = "all_reduce sum f32 x 77";
  return header;
}

TEST(NetMessageTest, HeadersSurviveTheWire) {
  CallHeader header = exampleHeader();
  header.payload = 4;
  std::vector<uint8_t> bytes = encode(header);
  size_t length = bytes.size(), size = 0;
  bytes.resize(length + 4);
  std::optional<CallHeader> back = decodeCall(bytes.data(), bytes.size(), size);
  ASSERT_TRUE(back);
  EXPECT_EQ(size, length);
  EXPECT_EQ(difference(back->signature, header.signature), nullptr);
  EXPECT_EQ(back->text, header.text);
  EXPECT_EQ(back->sequence, 5u);
  Control control;
  control.type = Control::Type::Abort;
  control.cause = Status(kCollDevice, "smoke");
  control.key = 9;
  bytes = encode(control);
  std::optional<Control> heard = decodeControl(bytes.data(), bytes.size());
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->cause.toString(), control.cause.toString());
  EXPECT_EQ(heard->key, 9u);
}

TEST(NetCoresTest, RanksShareTheProcessorsThatTheyMayUse) {
  Seat first{"a", {0x0f}}, second{"a", {0x0c}}, elsewhere{"b", {0x0f}}, unknown{"", {0x0f}};
  std::vector<Seat> seats = {first, second, elsewhere, unknown, unknown};
  EXPECT_DOUBLE_EQ(coresOf(seats, 0), 3);
  EXPECT_DOUBLE_EQ(coresOf(seats, 1), 1);
  EXPECT_DOUBLE_EQ(coresOf(seats, 2), 4);
  EXPECT_DOUBLE_EQ(coresOf(seats, 3), 4);
  EXPECT_DOUBLE_EQ(coresOf({4, Seat{"a", {0x03}}}, 2), 0.5);
  // Each rank runs on its own processor.
  EXPECT_DOUBLE_EQ(coresOf({Seat{"a", {0x01}}, Seat{"a", {0x00, 0x01}}}, 1), 1);
  EXPECT_DOUBLE_EQ(coresOf({Seat{"a", {}}}, 0), 0);
}

TEST(NetCoresTest, SeatsSurviveTheWire) {
  Seat own = ownSeat();
  EXPECT_GT(coresOf({own}, 0), 0);
  std::optional<Seat> back = decodeSeat(encode(own));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->machine, own.machine);
  EXPECT_EQ(back->processors, own.processors);
  for (const std::string &bad : {std::string(), std::string("no end"), std::string(65, 'x') + "\n",
                                 "a\n" + std::string(1025, 'x')})
    EXPECT_FALSE(decodeSeat(bad)) << bad.size();
}

TEST(NetMessageTest, LongTextsAreCutAtACharacter) {
  CallHeader header = exampleHeader();
  header.text.clear();
  for (int i = 0; i < 1000; ++i)
    header.text += "ä";
  std::vector<uint8_t> bytes = encode(header);
  EXPECT_LE(bytes.size(), CallHeader::kMaxBytes);
  size_t size = 0;
  std::optional<CallHeader> back = decodeCall(bytes.data(), bytes.size(), size);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->text.size() % 2, 0u);
  EXPECT_EQ(back->text.substr(0, 2), "ä");
}

// Random bytes, and valid messages with some bytes changed or missing, must be refused or decoded
// without reading beyond the end (which the sanitizers check).
TEST(NetMessageTest, AnyBytesAreDecodedOrRefused) {
  std::mt19937 random(1);
  Control abort;
  abort.type = Control::Type::Abort;
  abort.cause = Status(kCollPeer, "gone");
  const std::vector<uint8_t> valid[] = {encode(exampleHeader()), encode(abort), encode(Control())};
  for (int round = 0; round < 200'000; ++round) {
    std::vector<uint8_t> bytes = valid[static_cast<size_t>(round) % 3];
    bytes.resize(random() % (bytes.size() + 1));
    bytes.shrink_to_fit();
    for (unsigned change = random() % 4; change > 0 && !bytes.empty(); --change)
      bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    size_t size = 0;
    if (std::optional<CallHeader> header = decodeCall(bytes.data(), bytes.size(), size)) {
      EXPECT_LE(size, bytes.size());
      EXPECT_EQ(header->payload, bytes.size() - size);
    }
    if (std::optional<Control> control = decodeControl(bytes.data(), bytes.size())) {
      EXPECT_TRUE(control->type == Control::Type::Left || !control->cause.ok());
    }
    EXPECT_FALSE(decodeHello(bytes.data(), bytes.size()) && bytes.size() != Hello::kBytes);
  }
}

Call sum(int64_t count, CollOrder order) {
  Call call;
  call.kind = OpKind::AllReduce;
  call.count = count;
  call.order = order;
  return call;
}

TEST(NetAlgorithmTest, OrderAndF32AccumulationAreNeverRegrouped) {
  for (int64_t n : {2, 8, 64})
    for (Algorithm choice :
         {Algorithm::Auto, Algorithm::Ring, Algorithm::Halving, Algorithm::Tree}) {
      EXPECT_EQ(chooseAlgorithm(sum(1 << 20, kCollOrderRank), n, choice), Algorithm::Direct);
      Call half = sum(1 << 20, kCollOrderAny);
      half.dtype = kCollBf16;
      half.accumulation = kCollAccumulateF32;
      EXPECT_EQ(chooseAlgorithm(half, n, choice), Algorithm::Direct);
      half.dtype = kCollF8E5M2;
      half.accumulation = kCollAccumulateAny;
      EXPECT_EQ(chooseAlgorithm(half, n, choice), Algorithm::Direct);
    }
  Call half = sum(1 << 20, kCollOrderAny);
  half.dtype = kCollF16;
  EXPECT_EQ(chooseAlgorithm(half, 64, Algorithm::Auto), Algorithm::Ring);
  EXPECT_EQ(chooseAlgorithm(sum(1 << 20, kCollOrderAny), 64, Algorithm::Auto), Algorithm::Ring);
  EXPECT_EQ(chooseAlgorithm(sum(1 << 10, kCollOrderAny), 64, Algorithm::Auto), Algorithm::Halving);
  EXPECT_EQ(chooseAlgorithm(sum(1 << 20, kCollOrderAny), 8, Algorithm::Auto), Algorithm::Direct);
}

// So many ranks that the backend does not use the direct algorithms.
TEST(NetBackendTest, TwentyRanks) {
  constexpr int kRanks = 20;
  BackendOptions options;
  options.numRanks = kRanks;
  options.transport = "loopback";
  Result<std::unique_ptr<Backend>> backend = createBackend("net", options);
  ASSERT_TRUE(backend.ok()) << backend.status().toString();
  std::vector<int> all;
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  for (int rank = 0; rank < kRanks; ++rank) {
    all.push_back(rank);
    endpoints.push_back((*backend)->endpoint(rank).take());
    endpoints.back()->enter();
  }
  auto body = [&](int rank) {
    std::unique_ptr<Communicator> group =
        endpoints[static_cast<size_t>(rank)]->communicator(all).take();
    for (int64_t count : {1, 1000, 30'000, 100'000})
      for (OpKind kind : {OpKind::AllReduce, OpKind::AllGather, OpKind::ReduceScatter,
                          OpKind::Reduce, OpKind::Broadcast}) {
        bool gathers = kind == OpKind::AllGather, scatters = kind == OpKind::ReduceScatter;
        std::vector<int32_t> src(static_cast<size_t>(scatters ? kRanks * count : count), rank + 1);
        std::vector<int32_t> dst(static_cast<size_t>(gathers ? kRanks * count : count));
        Call call;
        call.kind = kind;
        call.dtype = kCollI32;
        call.count = count;
        call.root = hasRoot(kind) ? 7 : 0;
        call.src = src.data();
        call.dst = dst.data();
        Status status = group->run(call);
        ASSERT_TRUE(status.ok()) << status.toString();
        for (size_t i = 0; i < dst.size(); ++i) {
          int64_t expected = kRanks * (kRanks + 1) / 2;
          if (gathers)
            expected = static_cast<int64_t>(i) / count + 1;
          if (kind == OpKind::Broadcast)
            expected = 8;
          if (kind == OpKind::Reduce && rank != 7)
            expected = rank + 1;
          ASSERT_EQ(dst[i], expected) << kindName(kind) << " of " << count << ", element " << i;
        }
      }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank)
    threads.emplace_back(body, rank);
  for (std::thread &thread : threads)
    thread.join();
}

TEST(NetBackendTest, SetUpsThatCannotWork) {
  BackendOptions options;
  options.numRanks = 257;
  EXPECT_EQ(createBackend("net", options).status().code(), kCollUnsupported);
  options.numRanks = 2;
  options.transport = "pigeon";
  EXPECT_EQ(createBackend("net", options).status().code(), kCollInvalidCall);
  options.transport = "loopback";
  JobOptions job;
  job.worldSize = 2;
  job.bootstrap = "127.0.0.1:0";
  job.secret = "too short";
  options.job = job;
  EXPECT_EQ(createBackend("net", options).status().code(), kCollInvalidCall);
  options.job.reset();
  Result<std::unique_ptr<Backend>> backend = createBackend("net", options);
  ASSERT_TRUE(backend.ok());
  Result<std::unique_ptr<Endpoint>> endpoint = (*backend)->endpoint(1);
  EXPECT_TRUE(endpoint.ok());
  EXPECT_EQ((*backend)->endpoint(1).status().code(), kCollInvalidCall);
  EXPECT_EQ((*backend)->endpoint(2).status().code(), kCollInvalidCall);
}

TEST(NetBackendTest, CompressionIsForOnePathAndOfAllRanks) {
  BackendOptions options;
  options.numRanks = 2;
  options.transport = "loopback";
  {
    ScopedEnv compress("COLL_NET_GPU_COMPRESS", "1"), path("COLL_NET_GPU_PATH", "copy");
    Status status = createBackend("net", options).status();
    EXPECT_EQ(status.code(), kCollInvalidCall);
    EXPECT_NE(status.message().find("needs COLL_NET_GPU_PATH=kernel"), std::string::npos);
  }
  const auto start = [](BackendOptions &job, bool compress) {
    ScopedEnv scoped("COLL_NET_GPU_COMPRESS", compress ? "1" : "0");
    Status status = createBackend("net", job).status();
    const bool isNamed = status.message().find("COLL_NET_GPU_COMPRESS is ") != std::string::npos;
    return status.ok() ? 0 : isNamed ? 1 : 2;
  };
  EXPECT_EQ(test::runProcesses(2, [&](BackendOptions &job) { return start(job, true); }),
            std::vector<int>({0, 0}));
  EXPECT_EQ(
      test::runProcesses(3, [&](BackendOptions &job) { return start(job, job.job->rank == 1); }),
      std::vector<int>({1, 1, 1}));
}

// The GPU is named by the job's options, else by the launcher, else it is the current one.
TEST(NetBackendTest, OnThePathUnpackAProcessHasTheGpuThatIsNamed) {
  EXPECT_EQ(test::runProcesses(3,
                               [](BackendOptions &job) {
                                 const int rank = job.job->rank;
                                 dl::FakeCuda cuda(2);
                                 ScopedGpuPlatform platform({&cuda.table(), {}, {}});
                                 ScopedEnv path("COLL_NET_GPU_PATH", "unpack");
                                 ScopedEnv number("COLL_RANK", rank == 1 ? "1" : nullptr);
                                 ScopedEnv all("COLL_WORLD_SIZE", "3"),
                                     local("COLL_LOCAL_RANK", "1");
                                 ScopedEnv address("COLL_BOOTSTRAP", "127.0.0.1:1");
                                 job.job->gpu = rank == 0 ? 1 : -1;
                                 Result<std::unique_ptr<Backend>> backend =
                                     createBackend("net", job);
                                 if (!backend.ok())
                                   return 10;
                                 return (net::Gpu::find(cuda.table(), 0) ? 1 : 0) +
                                        (net::Gpu::find(cuda.table(), 1) ? 2 : 0);
                               }),
            std::vector<int>({2, 2, 1}));
}

int32_t doNothing(const CollAbi *, CollContext *, void *const *, void *const *, void *) {
  return kCollOk;
}

// What a process waits for is called "results", as it stands in none of the program's lines.
TEST(NetBackendTest, ResultsThatDoNotComeAreNamed) {
  int ends[2]; // rank 0 has waited
  ASSERT_EQ(pipe(ends), 0);
  const auto gather = [&ends](BackendOptions &job) {
    Result<Program> program = Program::create(test::descriptorText(2), doNothing, nullptr);
    ExecutorOptions options;
    options.backend = "net";
    options.job = job.job;
    options.timeoutUs = 2'000'000;
    Result<std::unique_ptr<Executor>> executor = Executor::create({*program}, options);
    if (!executor)
      return 10;
    if (job.job->rank == 1) {
      pollfd told = {ends[0], POLLIN, 0};
      return poll(&told, 1, 60'000) == 1 ? 0 : 2;
    }
    const Status status = (*executor)->gather("text").status();
    if (write(ends[1], "x", 1) != 1)
      return 3;
    return status.code() == kCollTimeout && test::contains(status, "\"results\"") ? 0 : 1;
  };
  EXPECT_EQ(test::runProcesses(2, gather), std::vector<int>({0, 0}));
  close(ends[0]);
  close(ends[1]);
}

// Runs the body on two ranks at once.
void onTwoRanks(const std::function<void(Endpoint &, Communicator &, int)> &body) {
  BackendOptions options;
  options.numRanks = 2;
  options.transport = "loopback";
  Result<std::unique_ptr<Backend>> backend = createBackend(options);
  ASSERT_TRUE(backend.ok()) << backend.status().toString();
  std::unique_ptr<Endpoint> endpoints[2];
  for (int rank : {0, 1}) {
    endpoints[rank] = (*backend)->endpoint(rank).take();
    endpoints[rank]->enter();
  }
  auto run = [&](int rank) {
    std::unique_ptr<Communicator> group = endpoints[rank]->communicator({0, 1}).take();
    body(*endpoints[rank], *group, rank);
    endpoints[rank]->leave();
  };
  std::thread other(run, 1);
  run(0);
  other.join();
}

// The GPU is still writing the source when the call is made.
TEST(NetStreamTest, ACallWaitsForItsStream) {
  dl::FakeCuda cuda(2);
  ScopedGpuPlatform platform({&cuda.table(), [] { return Status(); },
                              [](const ChannelLaunch &, dl::CudaStream) {
                                return Status::internal("small calls need no kernel");
                              }});
  onTwoRanks([&](Endpoint &endpoint, Communicator &group, int rank) {
    cuda.setCurrent(rank);
    auto *from = static_cast<float *>(cuda.allocate(4, rank));
    auto *data = static_cast<float *>(cuda.allocate(4, rank));
    *from = static_cast<float>(rank + 1);
    dl::CudaStream stream = nullptr;
    ASSERT_EQ(cuda.table().streamCreate(&stream, 0), 0);
    ASSERT_EQ(cuda.table().memcpyAsync(reinterpret_cast<dl::CudaAddress>(data),
                                       reinterpret_cast<dl::CudaAddress>(from), 4, stream),
              0);
    Call call;
    call.kind = OpKind::AllReduce;
    call.count = 1;
    call.src = call.dst = data;
    call.stream = stream;
    Status status = group.run(call);
    EXPECT_TRUE(status.ok()) << status.toString();
    EXPECT_TRUE(endpoint.synchronize(stream).ok());
    EXPECT_EQ(*data, 3);
    EXPECT_EQ(endpoint.gpuOf(data), rank);
    EXPECT_EQ(endpoint.gpuOf(&call), -1);
    (void)cuda.table().streamDestroy(stream);
  });
}

TEST(NetEndpointTest, TestAndHealthDoNotBlock) {
  onTwoRanks([](Endpoint &endpoint, Communicator &group, int rank) {
    Result<Request *> request = group.start(Call()); // a barrier
    ASSERT_TRUE(request.ok());
    while (!endpoint.test(*request))
      std::this_thread::yield();
    EXPECT_TRUE(endpoint.wait(*request).ok());
    EXPECT_TRUE(endpoint.health().ok());
    ASSERT_TRUE(group.run(Call()).ok());
    if (rank == 0) {
      endpoint.abort({kCollDevice, "no more"});
    } else {
      while (endpoint.health().ok())
        std::this_thread::yield();
    }
    EXPECT_EQ(endpoint.health().message(), "no more");
  });
}

} // namespace
} // namespace coll::rt::network
