// reshard_plan.h - routes of a reshard (plan/routes.h) in the ranks' buffers.
//
//   senders    hold regions of a global tensor, together all that any receiver wants
//   receivers  want regions of it
//
// plan/routes.h decides which rank sends which region to which rank, by one of two strategies. This
// header turns each of these regions into strided boxes in the coordinates of the two buffers. A
// plan holds no pointers: all ranks make the same plan from the same spec, once, and execute it
// often (reshard/reshard.h, reshard/gpu.h).

#ifndef COLL_RUNTIME_EXCHANGE_RESHARD_PLAN_H
#define COLL_RUNTIME_EXCHANGE_RESHARD_PLAN_H

#include "plan/region.h"
#include "plan/route_certificate.h"
#include "plan/routes.h"
#include "runtime/base/status.h"
#include "runtime/base/strided_box.h"
#include "runtime/program/shard.h"

#include <cstdint>
#include <vector>

namespace coll::rt::exchange {

inline constexpr int kMaxReshardDims = kMaxBoxLoops;

using plan::Region;
using ReshardStrategy = plan::RouteStrategy;

// The region that one rank of a side holds or wants, and its layout in that rank's buffer.
struct Shard {
  int rank = 0; // once on a side
  Region region;
  // Elements from one index to the next, by dimension; none: row-major without gaps. A
  // receiver's elements do not overlap; a sender's may (stride 0).
  std::vector<int64_t> strides;
  int64_t offset = 0; // of the region's first element in the buffer; elements
};

struct ReshardSpec {
  CollDtype dtype = kCollF32;
  std::vector<int64_t> shape; // global, 0 to kMaxReshardDims dimensions
  std::vector<Shard> senders, receivers;
};

// The shards of a tensor on a mesh (shard.h): the mesh's rank i is rank ranks[i]. Buffers are whole
// blocks; the padding at their end is neither read nor written.
std::vector<Shard> shardsOf(const TensorInfo &info, const std::vector<MeshAxis> &axes,
                            const std::vector<int> &ranks);

// The boxes that one sender gives one receiver; both are positions in the spec.
struct Transfer {
  int sender = 0, receiver = 0;
  int phase = 0;
  bool isLocal = false; // both are the same rank
  int64_t bytes = 0;
  std::vector<StridedBox> boxes; // from the sender's buffer to the receiver's, or to its scratch
};

struct ReshardPlan {
  ReshardStrategy strategy = ReshardStrategy::Routed;
  CollDtype dtype = kCollF32;
  std::vector<int> senders, receivers; // ranks
  // The least sizes of their buffers, by position.
  std::vector<int64_t> senderBytes, receiverBytes;
  std::vector<Transfer> transfers; // by phase, then sender

  // Gather: the size of each receiver's scratch, and by receiver the boxes that are copied out of
  // it at the end.
  int64_t scratchBytes = 0;
  std::vector<std::vector<StridedBox>> slices;

  // Bytes between different ranks: of this plan, and the least of any plan.
  int64_t wireBytes = 0, leastWireBytes = 0;

  // Position on a side, or -1.
  int senderOf(int rank) const;
  int receiverOf(int rank) const;
};

// kCollInvalidCall names the side, the position, the rank and what is wrong with it. It is also an
// error if a receiver wants what no sender holds, or if all together take more bytes than
// INT64_MAX.
Result<ReshardPlan> planReshard(const ReshardSpec &spec,
                                ReshardStrategy strategy = ReshardStrategy::Routed);

// `plan` is one of `spec`.
plan::RouteCertificate certify(const ReshardSpec &spec, const ReshardPlan &plan);

} // namespace coll::rt::exchange

#endif // COLL_RUNTIME_EXCHANGE_RESHARD_PLAN_H
