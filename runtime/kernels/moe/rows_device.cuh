// rows_device.cuh - code that dispatch and combine share: tokens of a warp, their places, pieces of
// rows, and the end of a call.
//
// A warp works alone, on every n-th token, 32 at a time: lane i looks up the i-th token's row at
// each member; then the warp moves those tokens piece by piece through a ring of stages in its part
// of the shared memory.

#ifndef COLL_RUNTIME_KERNELS_MOE_ROWS_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_MOE_ROWS_DEVICE_CUH

#include "runtime/kernels/moe/plan.h"
#include "runtime/kernels/moe/scratch.h"
#include "runtime/kernels/peer/ring_device.cuh"

namespace coll::kernels::moe {

static_assert(sizeof(peer::RingScratch) <= sizeof(RingsPlace) && kWarp == simt::kWarpThreads);

// The places of this member's tokens at the other members.
struct Routes {
  const int32_t *rankPrefix;
  const int32_t *sendHead;
  uint32_t numTokens;
  uint32_t capacity;
};

// A position in a list of tokens, each of which has `pieces` pieces.
struct Cursor {
  uint32_t left; // those of the 32 tokens that are left, from the current one on
  uint32_t piece;

  COLL_DEVICE bool isDone() const { return left == 0; }
  COLL_DEVICE uint32_t token() const { return simt::lowestBit(left); }
  COLL_DEVICE void advance(uint32_t pieces) {
    if (++piece < pieces)
      return;
    piece = 0;
    left &= left - 1;
  }
};

class WarpRows {
public:
  COLL_DEVICE WarpRows(const PeerGroup &group, const Routes &routes, char *shared,
                       uint32_t stageBytes)
      : group_(group), routes_(routes), warp_(simt::threadIndex() / simt::kWarpThreads) {
    const uint32_t warps = simt::blockThreads() / simt::kWarpThreads;
    auto *scratch = reinterpret_cast<WarpScratch *>(shared + sizeof(RingsPlace));
    scratch_ = scratch + warp_;
    stages_ = reinterpret_cast<char *>(scratch + warps) + uint64_t{warp_} * stageBytes;
    first_ = simt::blockIndex() * warps + warp_;
    step_ = simt::gridBlocks() * warps;
  }

  COLL_DEVICE WarpScratch &scratch() const { return *scratch_; }
  COLL_DEVICE char *stages() const { return stages_; }

  // Tokens of batch b are tokenOf(b, 0) to tokenOf(b, 31), as far as they exist.
  COLL_DEVICE uint64_t tokenOf(uint32_t batch, uint32_t i) const {
    return first_ + (uint64_t{batch} * simt::kWarpThreads + i) * step_;
  }
  COLL_DEVICE bool hasBatch(uint32_t batch) const { return tokenOf(batch, 0) < routes_.numTokens; }

  // Fills the table of rows. Bit i of `exist`: there is an i-th token; of `go`: it has a row.
  COLL_DEVICE void lookUp(uint32_t batch, uint32_t &exist, uint32_t &go) const {
    simt::syncWarp(); // the table was read
    const uint64_t token = tokenOf(batch, simt::lane());
    const bool exists = token < routes_.numTokens;
    bool goes = false;
    for (uint32_t r = 0; r < group_.size; ++r) {
      const uint32_t row = exists ? rowAt(token, r) : kNoRow;
      scratch_->rows[simt::lane()][r] = row;
      goes |= row != kNoRow;
    }
    exist = simt::ballot(exists);
    go = simt::ballot(goes);
    simt::syncWarp();
  }

  COLL_DEVICE void openBarriers(uint32_t stages) const {
    if (simt::lane() == 0)
      for (uint32_t s = 0; s < stages; ++s)
        simt::barrierInit(&scratch_->full[s]);
    simt::barrierPublish();
    simt::syncWarp();
  }
  COLL_DEVICE void closeBarriers(uint32_t stages) const {
    simt::syncWarp();
    if (simt::lane() == 0)
      for (uint32_t s = 0; s < stages; ++s)
        simt::barrierInvalidate(&scratch_->full[s]);
  }

private:
  COLL_DEVICE uint32_t rowAt(uint64_t token, uint32_t member) const {
    const int32_t head = routes_.sendHead[token * group_.size + member];
    if (head < 0)
      return kNoRow;
    const uint32_t before =
        group_.rank == 0
            ? 0
            : static_cast<uint32_t>(routes_.rankPrefix[(group_.rank - 1) * group_.size + member]);
    const uint64_t row = uint64_t{before} + static_cast<uint32_t>(head);
    // An invalid handle must not lead to an address outside the buffer.
    return row < routes_.capacity ? static_cast<uint32_t>(row) : kNoRow;
  }

  const PeerGroup &group_;
  const Routes routes_;
  const uint32_t warp_;
  WarpScratch *scratch_;
  char *stages_;
  uint64_t first_, step_;
};

// A block's access to the peers' memory: it begins when they have entered the call, and no member
// leaves before all blocks with this number are done on all members. `move` runs in between, unless
// there was an error.
template <typename Move>
COLL_DEVICE void visitPeers(const PeerGroup &group, uint32_t what, const Routes &routes,
                            char *shared, Move &&move) {
  // Release: a member that sees this one enter may read data that it stored before.
  simt::fenceSystem();
  const peer::Call call(group, what);
  const peer::Rings rings(group, call, shared, simt::blockIndex());
  const uint32_t peers = ((1u << group.size) - 1) & ~(1u << group.rank);
  constexpr uint32_t kLane = 0;
  const uint32_t member = simt::threadIndex();
  bool isOver = !call.enter();
  if (member<group.size &&static_cast<uint32_t>(
          routes.rankPrefix[(group.size - 1) * group.size + member])>
          routes.capacity) {
    peer::fail(group, KernelError::MoeCapacity, member);
    isOver = true;
  }
  if (!simt::syncBlockAny(isOver) && rings.awaitEntry(peers)) {
    // Acquire: data of the peers' earlier kernels is read by ordinary loads and by the bulk engine.
    simt::fenceSystem();
    simt::fenceAsync();
    move();
    // Publishes an empty slot: this block's stores have arrived, and its reads are done.
    if (rings.awaitRoom(kLane, peers)) {
      rings.publish(kLane, peers);
      if (rings.awaitData(kLane, peers))
        rings.release(kLane, peers);
    }
  }
  call.leave();
}

} // namespace coll::kernels::moe

#endif // COLL_RUNTIME_KERNELS_MOE_ROWS_DEVICE_CUH
