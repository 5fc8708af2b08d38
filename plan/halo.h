// halo.h - what ranks exchange where the iterations of a split loop read beyond their rank's block.
//
// A convolution, a slice or a shift along a split dimension needs some elements of neighbours. Each
// rank fills a buffer with what its iterations read, in rounds of messages:
//
//   blocks of 4, window of 3     rank 1 has 4 5 6 7, needs 3 … 8
//                                rounds: keep 4 … 7, get 3 from rank 0, get 8 from rank 2

#ifndef COLL_PLAN_HALO_H
#define COLL_PLAN_HALO_H

#include <cstdint>
#include <vector>

namespace coll::plan {

// What a loop reads along a dimension: iteration i reads every element q with
// first <= spread * q - step * i <= last.
struct Reach {
  int64_t step = 1, first = 0, last = 0, spread = 1;

  bool operator==(const Reach &other) const {
    return step == other.step && first == other.first && last == other.last &&
           spread == other.spread;
  }
};

// Rank r does the iterations [r * block, min((r + 1) * block, iterations)).
struct HaloLoop {
  int64_t ranks = 1, iterations = 0, block = 0;
};

// A dimension of which rank r has `block` elements from r * block. Elements before `begin` and from
// `extent` on do not count as part of it.
struct HaloSource {
  Reach reach;
  int64_t extent = 0, block = 0;
  int64_t begin = 0;
  int64_t base = 0; // position of the block in a rank's data
};

// The element at which the buffer of a rank begins; it may lie before the first one.
int64_t haloStart(const HaloLoop &loop, const HaloSource &source, int64_t rank);

// Elements that one rank moves to the buffer of another, or of itself.
struct HaloPiece {
  int64_t source = 0, target = 0;           // ranks
  int64_t sourceStart = 0, targetStart = 0; // in the source's data, and in the target's buffer
  int64_t length = 0;
};

// Pieces of one length that are moved together: no rank is the source or the target of two pieces.
struct HaloRound {
  int64_t length = 0;
  bool sends = false; // otherwise each rank moves elements of its own
  // The position at which ranks that are not a target write: all ranks run the same code.
  int64_t idleStart = 0;
  std::vector<HaloPiece> pieces;
};

struct HaloPlan {
  // Elements of the buffer, and of the space around it that rounds may write to.
  int64_t length = 0, before = 0, after = 0;
  std::vector<HaloRound> rounds;
  // The rounds would send as much as gathering all blocks, or there would be too many of them.
  bool gathers = false;
  // Some iteration reads outside of the dimension; beyond its end, in padding of the last block.
  bool readsOutside = false, readsPadding = false;

  int64_t sent() const; // elements that a rank sends at most
};

// The plan for buffers that begin at haloStart. Outside of the dimension the buffers hold zeros,
// except the padding of blocks. Several sources have reaches of step and spread 1 that do not
// overlap.
HaloPlan planHalo(const HaloLoop &loop, const std::vector<HaloSource> &sources);

// The least number of elements that a rank in the middle receives from others.
int64_t haloReceived(const HaloLoop &loop, const HaloSource &source);

} // namespace coll::plan

#endif // COLL_PLAN_HALO_H
