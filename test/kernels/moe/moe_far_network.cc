#include "test/kernels/moe/moe_far_network.h"

#include <cstring>

namespace coll::kernels::test {

using namespace low_latency;
using rt::MoeLowLatencyShape;

namespace {

uint64_t bytesOf(const LowLatencyMessage &header, uint32_t localExperts) {
  return header.kind == LowLatencyMessage::kDispatch
             ? rowsAt(localExperts, header.tokens, header.numTopk) +
                   uint64_t{header.rows} * header.rowBytes
             : kReturnsAt + header.rows * (header.rowBytes + kTailBytes);
}

} // namespace

FarNetwork::FarNetwork(MoeTeam &team, const MoeLowLatencyShape &shape) : team_(team) {
  for (uint32_t i = 0; i < team.size(); ++i) {
    areas_.push_back(lowLatencyFarArea(kernelShape(shape), team.size(), team.group(i).size));
    for (std::vector<char *> &memory : memory_)
      memory.push_back(static_cast<char *>(team.rig().pinned(areas_[i].bytes)));
  }
}

LowLatencyFar FarNetwork::of(uint32_t member, uint32_t buffer) const {
  return {team_.size(), team_.firstOf(member), areas_[member], memory_[buffer][member]};
}

// The member's place among the ranks of other nodes.
uint64_t FarNetwork::placeOf(uint32_t member, uint32_t other) const {
  return other < team_.firstOf(member) ? other : other - team_.group(member).size;
}
char *FarNetwork::messageTo(uint32_t member, uint32_t buffer, uint32_t other) const {
  return memory_[buffer][member] + areas_[member].out +
         placeOf(member, other) * areas_[member].messageBytes;
}
char *FarNetwork::messageFrom(uint32_t member, uint32_t buffer, uint32_t other) const {
  return memory_[buffer][member] + areas_[member].in +
         placeOf(member, other) * areas_[member].messageBytes;
}
uint64_t &FarNetwork::word(uint32_t member, uint32_t buffer, uint64_t offset,
                           uint64_t index) const {
  return reinterpret_cast<uint64_t *>(memory_[buffer][member] + offset)[index];
}

void FarNetwork::carry(const MoeLowLatencyShape &shape, uint32_t buffer, uint32_t number) {
  for (uint32_t from = 0; from < team_.size(); ++from)
    for (uint32_t to = 0; to < team_.size(); ++to)
      if (team_.isFar(from, to)) {
        ASSERT_EQ(word(from, buffer, areas_[from].rung, to), number) << from << " to " << to;
        carry(shape, buffer, number, from, to);
      }
}

void FarNetwork::carry(const MoeLowLatencyShape &shape, uint32_t buffer, uint32_t number,
                       uint32_t from, uint32_t to) {
  const uint32_t localExperts = static_cast<uint32_t>(shape.numExperts) / team_.size();
  const char *message = messageTo(from, buffer, to);
  LowLatencyMessage header;
  std::memcpy(&header, message, sizeof header);
  EXPECT_EQ(header.number, number);
  const uint64_t bytes = bytesOf(header, localExperts);
  ASSERT_LE(bytes, areas_[from].messageBytes);
  char *place = messageFrom(to, buffer, from);
  std::memset(place, 0x5a, areas_[to].messageBytes);
  std::memcpy(place, message, bytes);
  word(from, buffer, areas_[from].sent, to) = number;
  if (header.kind == LowLatencyMessage::kCombine)
    for (uint32_t row = 0; row < header.rows; ++row) {
      uint32_t says = 0;
      std::memcpy(&says,
                  place + kReturnsAt + row * (header.rowBytes + kTailBytes) + header.rowBytes,
                  sizeof says);
      const uint32_t token = says & 0xffffu, k = says >> 16;
      ASSERT_TRUE(token < shape.maxTokens && static_cast<int>(k) < shape.numTopk);
      word(to, buffer, areas_[to].returns,
           uint64_t{token} * static_cast<uint64_t>(shape.numTopk) + k) =
          uint64_t{number} << 32 | row;
    }
  word(to, buffer, areas_[to].arrived, from) = number;
}

} // namespace coll::kernels::test
