#include "test/exchange/moe_rig.h"

#include "runtime/kernels/moe_emulation.h"
#include "runtime/kernels/peer_emulation.h"
#include "test/conformance/emulated_peers.h"

namespace coll::rt::test {

namespace {

using kernels::PeerGroup;

Status launch(Result<kernels::simt::Grid> grid, void *stream) {
  if (!grid)
    return grid.status();
  return onStream(stream, [grid = grid.take()] { kernels::simt::runBeside({{grid}}, 0); });
}
template <typename Args>
Args small(Args args) {
  args.grid = {2, 32};
  return args;
}

} // namespace

MoePlatform emulatedMoe(const dl::Cuda &cuda) {
  MoePlatform platform;
  platform.cuda = &cuda;
  platform.kernels.init = [](const PeerGroup &group, void *stream) {
    return onStream(stream, [group] { kernels::emulateWorkspaceInit(group); });
  };
  platform.kernels.rehearse = [](const PeerGroup &, void *) { return Status(); };
  platform.kernels.layout = [](const kernels::MoeLayoutArgs &args, void *stream) {
    return launch(kernels::emulatedMoeLayout(args), stream);
  };
  platform.kernels.notify = [](const PeerGroup &group, const kernels::MoeNotifyArgs &args,
                               void *stream) {
    return launch(kernels::emulatedMoeNotify(group, args), stream);
  };
  platform.kernels.dispatch = [](const PeerGroup &group, const kernels::MoeDispatchArgs &args,
                                 void *stream) {
    return launch(kernels::emulatedMoeDispatch(group, small(args)), stream);
  };
  platform.kernels.combine = [](const PeerGroup &group, const kernels::MoeCombineArgs &args,
                                void *stream) {
    return launch(kernels::emulatedMoeCombine(group, small(args)), stream);
  };
  platform.kernels.rehearseRelay = [](void *) { return Status(); };
  platform.kernels.gather = [](const kernels::MoeGatherArgs &args, void *stream) {
    return launch(kernels::emulatedMoeGather(args), stream);
  };
  platform.kernels.merge = [](const kernels::MoeMergeArgs &args, void *stream) {
    return launch(kernels::emulatedMoeMerge(args), stream);
  };
  platform.kernels.rehearseLowLatency = [](const PeerGroup &, void *) { return Status(); };
  platform.kernels.lowLatencyDispatch =
      [](const PeerGroup &group, const kernels::LowLatencyDispatchArgs &given, void *stream) {
        kernels::LowLatencyDispatchArgs args = given;
        args.call = small(args.call);
        return launch(kernels::emulatedLowLatencyDispatch(group, args), stream);
      };
  platform.kernels.lowLatencyCombine =
      [](const PeerGroup &group, const kernels::LowLatencyCombineArgs &given, void *stream) {
        kernels::LowLatencyCombineArgs args = given;
        args.call = small(args.call);
        return launch(kernels::emulatedLowLatencyCombine(group, args), stream);
      };
  return platform;
}

MoeRank::MoeRank(dl::FakeCuda &fake, const MoeBufferOptions &options)
    : fake_(fake), gpu_(options.device) {
  Result<std::unique_ptr<MoeBuffer>> made = MoeBuffer::create(options);
  EXPECT_TRUE(made.ok()) << made.status().toString();
  buffer = made.take();
  fake.setCurrent(gpu_);
  EXPECT_EQ(fake.table().streamCreate(&order.compute, dl::kCudaStreamNonBlocking), 0);
}

MoeRank::~MoeRank() {
  buffer.reset();
  for (void *memory : memory_)
    fake_.free(memory);
  fake_.setCurrent(gpu_);
  (void)fake_.table().streamDestroy(order.compute);
}

void MoeRank::wait() {
  fake_.setCurrent(gpu_);
  EXPECT_EQ(fake_.table().streamSynchronize(order.compute), 0);
}

void syncAll(MoeRanks &all) {
  std::vector<MoeCard> cards;
  for (const auto &rank : all)
    cards.push_back(rank->buffer->card());
  beside(all, [&](size_t, MoeRank &rank) {
    const Status synced = rank.buffer->sync(cards);
    EXPECT_TRUE(synced.ok()) << synced.toString();
  });
}

MoeInputs inputsOf(MoeRank &rank, const MoeRankCase &from, int numRanks, const MoeConfig &config) {
  MoeInputs in = {from.routing, from.tokens, {}, nullptr, nullptr, nullptr};
  in.routing.topkIdx = rank.put(from.topkIdx);
  in.tokens.x = rank.put(from.x);
  in.tokens.topkWeights = from.tokens.topkWeights ? rank.put(from.topkWeights) : nullptr;
  if (from.tokens.scales)
    in.tokens.scales = rank.put(from.scales);
  const auto tokens = static_cast<size_t>(from.routing.numTokens);
  in.layout.tokensPerRank = rank.room<int32_t>(static_cast<size_t>(numRanks));
  in.layout.tokensPerExpert = rank.room<int32_t>(static_cast<size_t>(from.routing.numExperts));
  in.layout.isTokenInRank = rank.room<uint8_t>(tokens * static_cast<size_t>(numRanks));
  in.handle = rank.room<char>(
      static_cast<size_t>(MoeBuffer::handleBytes(from.routing.numTokens, numRanks, config)));
  in.out = rank.room<uint16_t>(tokens * static_cast<size_t>(from.tokens.hidden));
  in.outWeights = rank.room<float>(from.topkWeights.size());
  return in;
}

} // namespace coll::rt::test
