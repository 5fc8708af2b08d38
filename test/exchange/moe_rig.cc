#include "test/exchange/moe_rig.h"

namespace coll::rt::test {

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

void MoeRank::end() {
  fake_.setCurrent(gpu_);
  EXPECT_EQ(fake_.table().streamSynchronize(buffer->commStream()), 0);
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
