// rank_index.h - maps the ranks of a communicator to places in a vector.

#ifndef COLL_TOOLS_COLL_TRACE_RANK_INDEX_H
#define COLL_TOOLS_COLL_TRACE_RANK_INDEX_H

#include "tools/coll-trace/run.h"

#include <algorithm>

namespace coll::trace {

class RankIndex {
public:
  RankIndex() = default;
  explicit RankIndex(const std::vector<Part> &parts) {
    int64_t least = INT32_MAX, most = INT32_MIN;
    for (const Part &part : parts) {
      least = std::min<int64_t>(least, part.rank);
      most = std::max<int64_t>(most, part.rank);
    }
    // Ranks should be below the communicator's size, but a file may contain any numbers.
    if (most - least > static_cast<int64_t>(4 * parts.size())) {
      for (const Part &part : parts)
        ranks_.push_back(part.rank);
      std::sort(ranks_.begin(), ranks_.end());
      ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
      return;
    }
    std::vector<bool> isThere(static_cast<size_t>(std::max<int64_t>(0, most - least + 1)));
    for (const Part &part : parts)
      isThere[static_cast<size_t>(part.rank - least)] = true;
    for (size_t i = 0; i < isThere.size(); ++i)
      if (isThere[i])
        ranks_.push_back(static_cast<int32_t>(least + static_cast<int64_t>(i)));
  }
  size_t size() const { return ranks_.size(); }
  int32_t rank(size_t place) const { return ranks_[place]; }
  // The place of a rank, which must exist.
  size_t of(int32_t rank) const {
    // Nearly always ranks are numbered without gaps.
    const int64_t guess = int64_t(rank) - ranks_.front();
    if (guess >= 0 && guess < static_cast<int64_t>(ranks_.size()) &&
        ranks_[static_cast<size_t>(guess)] == rank)
      return static_cast<size_t>(guess);
    return static_cast<size_t>(std::lower_bound(ranks_.begin(), ranks_.end(), rank) -
                               ranks_.begin());
  }

private:
  std::vector<int32_t> ranks_; // sorted
};

} // namespace coll::trace

#endif // COLL_TOOLS_COLL_TRACE_RANK_INDEX_H
