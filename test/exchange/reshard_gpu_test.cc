// The executor on GPU memory and its kernel: random reshards, byte for byte, with ranks of one
// process that address each other's memory; over a fake driver with emulated kernels, and on the
// machine's GPUs.

#include "runtime/base/env.h"
#include "runtime/exchange/reshard/gpu.h"
#include "runtime/kernels/reshard/copy_device.cuh"
#include "test/exchange/reshard_cases.h"
#include "test/support/fakes/cuda.h"

#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace coll::rt::exchange::test {
namespace {

//===-- machines ----------------------------------------------------------------------===//

constexpr size_t kArenaBytes = 256 << 20;

struct Machine {
  std::unique_ptr<dl::FakeCuda> fake; // null on a real one
  const dl::Cuda *cuda = nullptr;
  GpuReshard::Launch launch = nullptr;
  std::vector<std::shared_ptr<dl::GpuContext>> gpus;
  int cases = 0;
  CaseLimits limits;
  std::string whyNot;
};

// Runs the device code when the stream reaches it.
Status emulate(const kernels::ReshardCopy &copy, void *stream) {
  COLL_RETURN_IF_ERROR(kernels::checkReshardCopy(copy));
  auto begin = [copy]() -> dl::FakeCuda::Question {
    const uint32_t blocks = copy.blocks ? static_cast<uint32_t>(copy.blocks) : 2;
    kernels::simt::run({blocks, 2 * kernels::simt::kWarpThreads, 0},
                       [&](char *) { kernels::reshardCopyKernel(copy); });
    return [] { return true; };
  };
  return dl::FakeCuda::enqueue(static_cast<dl::CudaStream>(stream), begin) == dl::kCudaSuccess
             ? Status()
             : Status(kCollDevice, "the fake driver takes no launch");
}

void openGpus(Machine &machine, int count) {
  for (int i = 0; i < count; ++i) {
    auto gpu = dl::GpuContext::open(*machine.cuda, i);
    ASSERT_TRUE(gpu.ok()) << gpu.status().toString();
    machine.gpus.push_back(gpu.take());
  }
  for (auto &gpu : machine.gpus)
    for (auto &peer : machine.gpus) {
      int can = 0;
      if (gpu == peer)
        continue;
      dl::CudaScope scope(*machine.cuda, gpu->context());
      (void)machine.cuda->deviceCanAccessPeer(&can, gpu->ordinal(), peer->ordinal());
      if (!can) {
        machine.whyNot = "GPUs that do not reach each other's memory";
        return;
      }
      const dl::CudaResult result = machine.cuda->contextEnablePeerAccess(peer->context(), 0);
      ASSERT_TRUE(result == dl::kCudaSuccess || result == dl::kCudaPeerAccessAlready);
    }
}

Machine makeHost() {
  Machine machine;
  machine.fake = std::make_unique<dl::FakeCuda>(3);
  machine.cuda = &machine.fake->table();
  machine.launch = emulate;
  machine.cases = 1000;
  openGpus(machine, 3);
  return machine;
}

Machine makeCuda() {
  Machine machine;
  Result<const dl::Cuda *> cuda = dl::cuda();
  int count = 0;
  if (!cuda || (*cuda)->deviceGetCount(&count) != dl::kCudaSuccess || count == 0) {
    machine.whyNot = cuda ? "no GPU on this machine" : cuda.status().message();
    return machine;
  }
  machine.cuda = *cuda;
  machine.launch = kernels::launchReshardCopy;
  // Set if a tool checks every access of the kernels.
  machine.cases = foreignEnv("COLL_TEST_SLOW") ? 100 : 2500;
  machine.limits.elems = 100'000;
  openGpus(machine, std::min(count, 4));
  if (machine.whyNot.empty()) {
    dl::CudaScope scope(*machine.cuda, machine.gpus[0]->context());
    if (Status loaded = kernels::loadReshardCopy(); !loaded.ok())
      machine.whyNot = loaded.message();
  }
  return machine;
}

struct MachineCase {
  const char *name;
  Machine (*make)();
};

class ReshardGpuTest : public testing::TestWithParam<MachineCase> {
protected:
  void SetUp() override {
    machine_ = GetParam().make();
    if (!machine_.whyNot.empty())
      GTEST_SKIP() << machine_.whyNot;
    for (auto &gpu : machine_.gpus) {
      dl::CudaScope scope(*machine_.cuda, gpu->context());
      streams_.push_back(nullptr);
      ASSERT_EQ(machine_.cuda->streamCreate(&streams_.back(), dl::kCudaStreamNonBlocking), 0);
    }
    auto staging = dl::GpuMemory::create(machine_.gpus[0], dl::GpuMemory::Kind::Pinned, 4 << 20);
    ASSERT_TRUE(staging.ok()) << staging.status().toString();
    staging_ = staging.take();
    used_.assign(machine_.gpus.size(), 0);
    for (size_t i = 0; i < machine_.gpus.size() && !machine_.fake; ++i) {
      auto arena = dl::GpuMemory::create(machine_.gpus[i], dl::GpuMemory::Kind::Device,
                                         static_cast<int64_t>(kArenaBytes));
      ASSERT_TRUE(arena.ok()) << arena.status().toString();
      arenas_.push_back(arena.take());
    }
  }
  void TearDown() override {
    staging_ = {};
    held_.clear();
    arenas_.clear();
    for (size_t i = 0; i < streams_.size(); ++i) {
      dl::CudaScope scope(*machine_.cuda, machine_.gpus[i]->context());
      (void)machine_.cuda->streamDestroy(streams_[i]);
    }
    if (machine_.fake) {
      machine_.gpus.clear();
      EXPECT_EQ(machine_.fake->misuse(), "");
      EXPECT_EQ(machine_.fake->liveAllocations(), 0);
    }
  }

  size_t gpuOf(int rank) const { return static_cast<size_t>(rank) % machine_.gpus.size(); }
  char *allocate(size_t gpu, const Bytes &content);
  void releaseAll();
  Bytes read(size_t gpu, const char *data, size_t bytes);
  template <typename Body>
  void copy(size_t gpu, Body body) {
    dl::CudaScope scope(*machine_.cuda, machine_.gpus[gpu]->context());
    EXPECT_EQ(body(staging_.host()), dl::kCudaSuccess);
    EXPECT_EQ(machine_.cuda->streamSynchronize(streams_[gpu]), dl::kCudaSuccess);
  }
  void synchronize();
  // Whether work is put on a GPU's stream, or into a graph that is then launched on it.
  enum class Order { Eager, Graph };
  Status order(size_t gpu, Order how, const std::function<Status(dl::CudaStream)> &work);
  void runCase(const ReshardSpec &spec, ReshardStrategy strategy, ReshardDirection direction,
               const GpuReshardOptions &options, size_t misalign, Order how = Order::Eager);

  Machine machine_;
  std::vector<dl::CudaStream> streams_;
  dl::GpuMemory staging_; // pinned
  std::vector<dl::GpuMemory> held_, arenas_;
  std::vector<size_t> used_; // of each arena
};

// Allocates exactly this size over the fake driver; on GPUs, where allocation is slow, from an
// arena.
char *ReshardGpuTest::allocate(size_t gpu, const Bytes &content) {
  char *data = nullptr;
  if (machine_.fake) {
    auto memory = dl::GpuMemory::create(machine_.gpus[gpu], dl::GpuMemory::Kind::Device,
                                        static_cast<int64_t>(content.size() + 1));
    EXPECT_TRUE(memory.ok()) << memory.status().toString();
    held_.push_back(memory.take());
    data = held_.back().device();
  } else {
    data = arenas_[gpu].device() + used_[gpu];
    used_[gpu] += (content.size() + 255) / 256 * 256;
    EXPECT_LE(used_[gpu], kArenaBytes);
  }
  copy(gpu, [&](char *staging) {
    std::copy(content.begin(), content.end(), staging);
    return machine_.cuda->memcpyHtoDAsync(reinterpret_cast<dl::CudaAddress>(data), staging,
                                          content.size(), streams_[gpu]);
  });
  return data;
}

void ReshardGpuTest::releaseAll() {
  held_.clear();
  used_.assign(machine_.gpus.size(), 0);
}

Bytes ReshardGpuTest::read(size_t gpu, const char *data, size_t bytes) {
  Bytes content(bytes);
  copy(gpu, [&](char *staging) {
    return machine_.cuda->memcpyDtoHAsync(staging, reinterpret_cast<dl::CudaAddress>(data), bytes,
                                          streams_[gpu]);
  });
  std::copy_n(staging_.host(), bytes, content.begin());
  return content;
}

void ReshardGpuTest::synchronize() {
  for (size_t i = 0; i < streams_.size(); ++i) {
    dl::CudaScope scope(*machine_.cuda, machine_.gpus[i]->context());
    ASSERT_EQ(machine_.cuda->streamSynchronize(streams_[i]), 0);
  }
}

Status ReshardGpuTest::order(size_t gpu, Order how,
                             const std::function<Status(dl::CudaStream)> &work) {
  const dl::Cuda &cuda = *machine_.cuda;
  const dl::CudaStream stream = streams_[gpu];
  if (how == Order::Eager)
    return work(stream);
  dl::CudaScope scope(cuda, machine_.gpus[gpu]->context());
  dl::CudaGraph graph = nullptr;
  dl::CudaGraphExec exec = nullptr;
  EXPECT_EQ(cuda.streamBeginCapture(stream, dl::kCudaCaptureThreadLocal), 0);
  const Status status = work(stream);
  EXPECT_EQ(cuda.streamEndCapture(stream, &graph), 0);
  EXPECT_EQ(cuda.graphInstantiate(&exec, graph, 0), 0);
  for (int replay = 0; replay < 2; ++replay)
    EXPECT_EQ(cuda.graphLaunch(exec, stream), 0);
  EXPECT_EQ(cuda.streamSynchronize(stream), 0);
  EXPECT_EQ(cuda.graphExecDestroy(exec), 0);
  EXPECT_EQ(cuda.graphDestroy(graph), 0);
  return status;
}

// Every buffer begins `misalign` bytes after an aligned address.
void ReshardGpuTest::runCase(const ReshardSpec &spec, ReshardStrategy strategy,
                             ReshardDirection direction, const GpuReshardOptions &options,
                             size_t misalign, Order how) {
  Result<ReshardPlan> planned = planReshard(spec, strategy);
  ASSERT_TRUE(planned.ok()) << planned.status().toString();
  const ReshardPlan &plan = *planned;
  const bool pushes = direction == ReshardDirection::Push;
  releaseAll();
  struct Buffers {
    OwnBuffer own[3]; // source, target, scratch
  };
  std::map<int, Buffers> memory;
  std::set<int> ranks(plan.senders.begin(), plan.senders.end());
  ranks.insert(plan.receivers.begin(), plan.receivers.end());
  auto make = [&](int rank, OwnBuffer &own, Bytes content) {
    const auto bytes = static_cast<int64_t>(content.size());
    content.insert(content.begin(), misalign, kUntouched);
    own = {allocate(gpuOf(rank), content) + misalign, bytes, nullptr};
  };
  for (int rank : ranks) {
    Buffers &mine = memory[rank];
    const int i = plan.senderOf(rank), j = plan.receiverOf(rank);
    if (i >= 0)
      make(rank, mine.own[0],
           sourceOf(spec, static_cast<size_t>(i), plan.senderBytes[static_cast<size_t>(i)]));
    if (j >= 0) {
      make(rank, mine.own[1],
           Bytes(static_cast<size_t>(plan.receiverBytes[static_cast<size_t>(j)]), kUntouched));
      make(rank, mine.own[2], Bytes(static_cast<size_t>(plan.scratchBytes), kUntouched));
    }
  }
  std::vector<std::pair<int, std::unique_ptr<GpuReshard>>> members;
  for (int rank : ranks) {
    Buffers &mine = memory[rank];
    ReshardBuffers buffers{mine.own[0], mine.own[1], mine.own[2], direction, {}};
    const size_t place = !pushes ? 0 : strategy == ReshardStrategy::Gather ? 2 : 1;
    for (int peer : pushes ? plan.receivers : plan.senders) {
      const OwnBuffer &theirs = memory[peer].own[place];
      buffers.peers.push_back({theirs.data, theirs.bytes, nullptr, {}, 1});
    }
    auto made = GpuReshard::create(plan, rank, buffers, machine_.gpus[gpuOf(rank)], options,
                                   machine_.launch);
    ASSERT_TRUE(made.ok()) << made.status().toString();
    members.emplace_back(rank, made.take());
  }
  for (auto step : {&GpuReshard::run, &GpuReshard::slice}) {
    for (auto &[rank, member] : members) {
      const Status status =
          order(gpuOf(rank), how, [&, member = member.get()](dl::CudaStream stream) {
            return (*member.*step)(stream);
          });
      ASSERT_TRUE(status.ok()) << status.toString();
    }
    synchronize();
  }
  for (size_t j = 0; j < plan.receivers.size(); ++j) {
    const int rank = plan.receivers[j];
    Bytes expected = expectedOf(spec, j, plan.receiverBytes[j]);
    expected.insert(expected.begin(), misalign, kUntouched);
    ASSERT_EQ(read(gpuOf(rank), memory[rank].own[1].data - misalign, expected.size()), expected)
        << "receiver " << j;
  }
}

TEST_P(ReshardGpuTest, RandomReshardsAreExact) {
  for (uint64_t seed = 50'000; seed < 50'000 + static_cast<uint64_t>(machine_.cases); ++seed) {
    Random random(seed);
    CaseLimits limits = machine_.limits;
    limits.alignedRows = true;
    const ReshardSpec spec = randomSpec(random, limits);
    const auto strategy = below(random, 4) == 0 ? ReshardStrategy::Gather : ReshardStrategy::Routed;
    const auto direction = below(random, 2) == 0 ? ReshardDirection::Push : ReshardDirection::Pull;
    GpuReshardOptions options;
    options.streams = below(random, 3) == 0 ? 1 + static_cast<int>(below(random, 4)) : 1;
    options.blocks = below(random, 3) == 0 ? 4 + static_cast<int>(below(random, 4)) : 0;
    options.engine = static_cast<ReshardEngine>(below(random, 3));
    const auto misalign = static_cast<size_t>(below(random, 2) * below(random, 17));
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + nameOf(strategy) + ", " +
                 nameOf(direction) + ", " + nameOf(options.engine) + ", " +
                 std::to_string(options.streams) + " streams, + " + std::to_string(misalign) +
                 ": " + describe(spec));
    runCase(spec, strategy, direction, options, misalign);
    if (HasFailure())
      return;
  }
}

// From rows to columns between the same ranks: the engines take the rows, the kernel the rest.
ReshardSpec rowsToColumns() {
  ReshardSpec spec;
  spec.shape = {12, 4 * 9000};
  for (int i = 0; i < 4; ++i) {
    spec.senders.push_back({i, {{3 * i, 0}, {3, 4 * 9000}}, {}, 0});
    spec.receivers.push_back({i, {{0, 9000 * i}, {12, 9000}}, {}, 0});
  }
  return spec;
}

TEST_P(ReshardGpuTest, EnginesAndKernelShareTheWork) {
  const ReshardSpec spec = rowsToColumns();
  for (int streams : {1, 3})
    for (auto direction : {ReshardDirection::Push, ReshardDirection::Pull})
      for (auto strategy : {ReshardStrategy::Routed, ReshardStrategy::Gather})
        runCase(spec, strategy, direction, {streams, 0, ReshardEngine::Auto}, 4);
}

// The executor's own streams fork from the caller's, and join it, inside the graph.
TEST_P(ReshardGpuTest, RunsInGraphs) {
  const ReshardSpec spec = rowsToColumns();
  for (int streams : {1, 4})
    for (auto engine : {ReshardEngine::Auto, ReshardEngine::Kernel, ReshardEngine::Copies})
      for (auto strategy : {ReshardStrategy::Routed, ReshardStrategy::Gather})
        runCase(spec, strategy, ReshardDirection::Push, {streams, 0, engine}, 4, Order::Graph);
}

//===-- the kernel by itself ----------------------------------------------------------===//

// Long rows, many rows and loops, so that boxes have several units; all widths.
kernels::ReshardPiece randomPiece(Random &random, char *src, char *dst, int64_t &srcUsed,
                                  int64_t &dstUsed) {
  kernels::ReshardPiece piece{src, dst, {}, below(random, 3) == 0};
  StridedBox &box = piece.box;
  const int64_t width = int64_t{1} << below(random, 5);
  auto gap = [&] { return below(random, 2) == 0 ? 0 : width * below(random, 4); };
  box.rowBytes = width * (1 + below(random, below(random, 3) == 0 ? 5000 : 40));
  box.numLoops = static_cast<int>(below(random, 4));
  int64_t srcBytes = box.rowBytes, dstBytes = box.rowBytes;
  int64_t room = 60'000 / box.rowBytes;
  for (int i = box.numLoops; i-- > 0;) {
    const auto d = static_cast<size_t>(i);
    box.count[d] = 1 + below(random, room);
    room /= box.count[d];
    box.srcStride[d] = srcBytes + gap();
    box.dstStride[d] = dstBytes + gap();
    srcBytes += (box.count[d] - 1) * box.srcStride[d];
    dstBytes += (box.count[d] - 1) * box.dstStride[d];
  }
  auto place = [&](int64_t &used, int64_t bytes) {
    const int64_t at = (used + 15) / 16 * 16 + (below(random, 2) == 0 ? 0 : below(random, 16));
    used = at + bytes;
    return at;
  };
  box.srcOffset = place(srcUsed, srcBytes);
  box.dstOffset = place(dstUsed, dstBytes);
  return piece;
}

TEST_P(ReshardGpuTest, KernelCopiesWhatTheReferenceDoes) {
  constexpr size_t kBytes = 1 << 20;
  const int cases = machine_.fake ? 40 : 300;
  for (uint64_t seed = 0; seed < static_cast<uint64_t>(cases); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Bytes source(kBytes);
    for (char &byte : source)
      byte = static_cast<char>(random());
    releaseAll();
    char *from = allocate(0, source), *to = allocate(0, Bytes(kBytes, kUntouched));
    Bytes expected(kBytes, kUntouched);
    std::vector<kernels::ReshardPiece> pieces;
    int64_t srcUsed = 0, dstUsed = 0;
    while (std::max(srcUsed, dstUsed) < (machine_.fake ? 150'000 : 700'000)) {
      pieces.push_back(randomPiece(random, from, to, srcUsed, dstUsed));
      copyBox(pieces.back().box, source.data(), expected.data());
    }
    ASSERT_LT(std::max(srcUsed, dstUsed), static_cast<int64_t>(kBytes));
    auto table = kernels::compileReshard(pieces);
    ASSERT_TRUE(table.ok());
    Bytes entries(table->entries.size() * sizeof(kernels::ReshardEntry));
    std::memcpy(entries.data(), table->entries.data(), entries.size());
    const char *held = allocate(0, entries);
    kernels::ReshardCopy copy;
    copy.entries = reinterpret_cast<const kernels::ReshardEntry *>(held);
    copy.counts = table->counts;
    copy.parts = 1 + static_cast<uint32_t>(below(random, 3));
    copy.blocks = static_cast<int>(below(random, 6));
    dl::CudaScope scope(*machine_.cuda, machine_.gpus[0]->context());
    for (copy.part = 0; copy.part < copy.parts; ++copy.part)
      ASSERT_TRUE(machine_.launch(copy, streams_[0]).ok());
    synchronize();
    ASSERT_EQ(read(0, to, kBytes), expected);
    if (machine_.fake) {
      std::memset(to, kUntouched, kBytes);
      kernels::reshardReference(*table);
      ASSERT_EQ(read(0, to, kBytes), expected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(host, ReshardGpuTest, testing::Values(MachineCase{"host", makeHost}),
                         [](const auto &info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(cuda, ReshardGpuTest, testing::Values(MachineCase{"cuda", makeCuda}),
                         [](const auto &info) { return std::string(info.param.name); });

//===-- tables and options ------------------------------------------------------------===//

TEST(ReshardTableTest, WideAccessesWhereEverythingIsAligned) {
  alignas(16) static char memory[4096];
  StridedBox box;
  box.rowBytes = 64;
  box.numLoops = 1;
  box.count[0] = 3;
  box.srcStride[0] = 128;
  box.dstStride[0] = 64;
  auto widthOf = [&](int64_t srcOffset, const StridedBox &boxed) {
    StridedBox shifted = boxed;
    shifted.srcOffset = srcOffset;
    auto table = kernels::compileReshard({{memory, memory + 2048, shifted, false}});
    return table->entries.at(0).width;
  };
  EXPECT_EQ(widthOf(0, box), 16u);
  EXPECT_EQ(widthOf(8, box), 8u);
  EXPECT_EQ(widthOf(2, box), 2u);
  box.srcStride[0] = 132;
  EXPECT_EQ(widthOf(0, box), 4u);
  box.rowBytes = 63;
  EXPECT_EQ(widthOf(0, box), 1u);
}

// Boxes whose numbers do not fit in 32 bits are divided; the pointers are not followed.
TEST(ReshardTableTest, HugeBoxesAreCut) {
  auto *far = reinterpret_cast<char *>(uintptr_t{1} << 40);
  StridedBox row;
  row.rowBytes = (int64_t{5} << 30) + 16;
  auto table = kernels::compileReshard({{far, far, row, false}});
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->entries.size(), 6u);
  uint64_t items = 0;
  for (const kernels::ReshardEntry &entry : table->entries)
    items += entry.items;
  EXPECT_EQ(items * 16, static_cast<uint64_t>(row.rowBytes));

  StridedBox many;
  many.rowBytes = 1;
  many.numLoops = 2;
  many.count = {70'000, 70'000};
  many.srcStride = {70'000, 1};
  many.dstStride = {140'000, 2};
  table = kernels::compileReshard({{far, far, many, false}});
  ASSERT_TRUE(table.ok());
  items = 0;
  for (const kernels::ReshardEntry &entry : table->entries) {
    items += entry.items;
    EXPECT_LE(entry.items / entry.perRow, uint64_t{1} << 31);
  }
  EXPECT_EQ(items, uint64_t{70'000} * 70'000);
}

TEST(ReshardTableTest, BadPiecesAreNamed) {
  char byte = 0;
  StridedBox box;
  box.rowBytes = 1;
  auto table = kernels::compileReshard({{&byte, &byte, box, false}, {nullptr, &byte, box, false}});
  EXPECT_EQ(table.status().message(), "piece 1: a null buffer");
  box.numLoops = 9;
  EXPECT_EQ(kernels::compileReshard({{&byte, &byte, box, false}}).status().message(),
            "piece 0: 9 loops");
  kernels::ReshardCopy copy;
  copy.parts = 0;
  EXPECT_FALSE(kernels::checkReshardCopy(copy).ok());
  copy = {};
  copy.blocks = -1;
  EXPECT_FALSE(kernels::checkReshardCopy(copy).ok());
}

TEST(ReshardGpuOptionsTest, BadOptionsAndFailingCallsAreErrors) {
  Machine machine = makeHost();
  ReshardSpec spec;
  spec.shape = {8};
  spec.senders = {{0, {{0}, {8}}, {}, 0}};
  spec.receivers = {{1, {{0}, {8}}, {}, 0}};
  const ReshardPlan plan = planReshard(spec).take();
  Bytes source(32), target(32);
  ReshardBuffers buffers;
  buffers.source = {source.data(), 32, nullptr};
  buffers.peers = {{target.data(), 32, nullptr, {}, 1}};
  auto create = [&](const GpuReshardOptions &options) {
    return GpuReshard::create(plan, 0, buffers, machine.gpus[0], options, machine.launch).status();
  };
  EXPECT_EQ(create({17, 0, {}}).message(), "rank 0: 17 streams: 1 to 16 are possible");
  EXPECT_EQ(create({4, 3, {}}).message(), "rank 0: 3 blocks for 4 streams");
  for (const char *call : {"memAlloc", "streamCreate", "eventCreate", "memcpyHtoDAsync"}) {
    machine.fake->failNext(call, dl::kCudaOutOfMemory);
    EXPECT_EQ(create({4, 0, ReshardEngine::Kernel}).code(), kCollDevice) << call;
  }
  buffers.peers[0].bytes = 31;
  EXPECT_EQ(create({}).message(),
            "rank 0: the buffer of receiver 0 (rank 1) has 31 bytes; the plan needs 32");
  buffers.peers.clear();
  EXPECT_EQ(create({}).code(), kCollInvalidCall);
  machine.gpus.clear();
  EXPECT_EQ(machine.fake->liveAllocations(), 0);
}

} // namespace
} // namespace coll::rt::exchange::test
