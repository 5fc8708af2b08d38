// pattern.h - the elements of a tensor, which any rank can compute to make and check its shard.

#ifndef COLL_TOOLS_COLL_PERF_RESHARD_PATTERN_H
#define COLL_TOOLS_COLL_PERF_RESHARD_PATTERN_H

#include "runtime/exchange/reshard_plan.h"

#include <cstdint>

namespace coll::perf {

// The elements of a shard's buffer, in its order. Shards are row-major, as shardsOf() makes them.
class ShardPattern {
public:
  ShardPattern(const rt::exchange::ReshardSpec &spec, const rt::exchange::Shard &shard,
               uint64_t seed);

  int64_t elems() const { return elems_; } // padding included
  int64_t elemBytes() const { return size_; }
  // Writes elements [begin, end); padding is set to 0.
  void fill(int64_t begin, int64_t end, char *data) const;
  // Returns how many of these elements differ from those of fill(); padding is not checked.
  int64_t wrong(int64_t begin, int64_t end, const char *data) const;

private:
  // Calls visit(offset from begin, number in the tensor, length) for each run of elements that are
  // not padding.
  template <typename Visit>
  void forEachRun(int64_t begin, int64_t end, Visit visit) const;

  const rt::exchange::ReshardSpec &spec_;
  const rt::exchange::Shard &shard_;
  const uint64_t seed_;
  int64_t elems_ = 1, size_ = 1;
  std::vector<int64_t> extents_; // of the buffer
};

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_RESHARD_PATTERN_H
