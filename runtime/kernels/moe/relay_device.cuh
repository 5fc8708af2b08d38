// relay_device.cuh - builds runs of tokens, and adds up the sums of several nodes.
//
// A warp takes a token at a time, a lane 16 bytes of its row.

#ifndef COLL_RUNTIME_KERNELS_MOE_RELAY_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_MOE_RELAY_DEVICE_CUH

#include "runtime/kernels/moe/combine_device.cuh"
#include "runtime/kernels/moe/relay.h"

namespace coll::kernels::moe {

// Calls visit(token) for a warp's share of `count` tokens.
template <typename Visit>
COLL_DEVICE void visitTokens(uint32_t count, Visit &&visit) {
  const uint32_t warps = simt::blockThreads() / simt::kWarpThreads;
  const uint32_t first = simt::blockIndex() * warps + simt::threadIndex() / simt::kWarpThreads;
  for (uint32_t i = first; i < count; i += simt::gridBlocks() * warps)
    visit(i);
}

class Gatherer {
public:
  COLL_DEVICE Gatherer(const MoeGatherArgs &args, const MoeRun &run) : args_(args), run_(run) {}

  COLL_DEVICE void run() const {
    visitTokens(args_.count, [&](uint32_t i) { take(static_cast<uint32_t>(args_.tokens[i]), i); });
  }

private:
  COLL_DEVICE void take(uint64_t token, uint64_t i) const {
    constexpr uint32_t kVec = sizeof(simt::Vec16);
    const uint32_t rowBytes = args_.record.rowBytes;
    const char *from = static_cast<const char *>(args_.x) + token * rowBytes;
    char *to = args_.to + run_.rows + i * rowBytes;
    for (uint32_t at = simt::lane() * kVec; at < rowBytes; at += simt::kWarpThreads * kVec)
      simt::storeGlobal16(to + at, simt::loadGlobal16(from + at));
    const uint32_t topk = args_.record.numTopk, lane = simt::lane();
    if (lane < topk) {
      reinterpret_cast<int64_t *>(args_.to + run_.topkIdx)[i * topk + lane] =
          args_.topkIdx[token * topk + lane];
      reinterpret_cast<float *>(args_.to + run_.topkWeights)[i * topk + lane] =
          args_.topkWeights ? args_.topkWeights[token * topk + lane] : 0;
    }
    for (uint32_t s = lane; s < args_.record.numScales; s += simt::kWarpThreads)
      reinterpret_cast<float *>(args_.to + run_.scales)[i * args_.record.numScales + s] =
          args_
              .scales[static_cast<int64_t>(token) * args_.scaleTokenStride + s * args_.scaleStride];
  }

  const MoeGatherArgs &args_;
  const MoeRun &run_;
};

class Merger {
public:
  COLL_DEVICE explicit Merger(const MoeMergeArgs &args) : args_(args) {}

  COLL_DEVICE void run() const {
    visitTokens(args_.numTokens, [&](uint32_t token) { merge(token); });
  }

private:
  COLL_DEVICE void merge(uint64_t token) const {
    constexpr uint32_t kVec = sizeof(simt::Vec16);
    const int32_t *places = args_.places + token * args_.numNodes;
    const uint64_t row = token * args_.rowBytes;
    bool isEmpty = !args_.bias[0] && !args_.bias[1];
    for (uint32_t n = 0; n < args_.numNodes; ++n)
      isEmpty = isEmpty && n != args_.node && places[n] < 0;
    for (uint32_t at = simt::lane() * kVec; at < args_.rowBytes; at += simt::kWarpThreads * kVec) {
      BfloatSums sums(isEmpty ? 0.0f : -0.0f); // -0 keeps the bits of a sum of one row
      for (const void *bias : args_.bias)
        if (bias)
          sums.add(simt::loadGlobal16(static_cast<const char *>(bias) + row + at));
      char *out = static_cast<char *>(args_.out) + row + at;
      for (uint32_t n = 0; n < args_.numNodes; ++n)
        if (n == args_.node)
          sums.add(simt::loadGlobal16(out));
        else if (places[n] >= 0)
          sums.add(simt::loadGlobal16(static_cast<const char *>(args_.rows) +
                                      static_cast<uint64_t>(places[n]) * args_.rowBytes + at));
      simt::storeGlobal16(out, sums.rounded());
    }
    const uint32_t topk = args_.numTopk, lane = simt::lane();
    if (lane >= topk)
      return;
    float sum = 0;
    for (uint32_t n = 0; n < args_.numNodes; ++n)
      if (n == args_.node)
        sum += args_.outWeights[token * topk + lane];
      else if (places[n] >= 0)
        sum += args_.weights[static_cast<uint64_t>(places[n]) * topk + lane];
    args_.outWeights[token * topk + lane] = sum;
  }

  const MoeMergeArgs &args_;
};

} // namespace coll::kernels::moe

#endif // COLL_RUNTIME_KERNELS_MOE_RELAY_DEVICE_CUH
