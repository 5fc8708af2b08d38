// rank_places.h - where each rank's block lies: what the checker of certificates counts with, and
// shares with no planner.

#ifndef COLL_PLAN_RANK_PLACES_H
#define COLL_PLAN_RANK_PLACES_H

#include "plan/move.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace coll::plan {

// Where one rank's block lies along one dimension.
struct Range {
  int64_t begin = 0, length = 0;
};

class RankPlaces {
public:
  explicit RankPlaces(const Mesh &mesh) : mesh_(mesh) {
    int64_t ranks = 1;
    for (const Mesh::Axis &axis : mesh.axes)
      ranks *= axis.size;
    coordinates_.resize(static_cast<size_t>(ranks));
    for (size_t rank = 0; rank < coordinates_.size(); ++rank) {
      std::vector<int64_t> &mine = coordinates_[rank];
      mine.resize(mesh.axes.size());
      auto rest = static_cast<int64_t>(rank);
      for (size_t axis = mine.size(); axis-- > 0;) {
        mine[axis] = rest % mesh.axes[axis].size;
        rest /= mesh.axes[axis].size;
      }
    }
  }

  size_t numRanks() const { return coordinates_.size(); }

  int64_t groupSize(const std::vector<int> &axes) const {
    return std::accumulate(axes.begin(), axes.end(), int64_t{1}, [&](int64_t size, int axis) {
      return size * mesh_.axes[static_cast<size_t>(axis)].size;
    });
  }

  int64_t positionOf(size_t rank, const std::vector<int> &axes) const {
    int64_t position = 0;
    for (int axis : axes)
      position = position * mesh_.axes[static_cast<size_t>(axis)].size +
                 coordinates_[rank][static_cast<size_t>(axis)];
    return position;
  }

  Range placeOf(size_t rank, const Split &split) const {
    return {positionOf(rank, split.axes) * split.block, split.block};
  }

  // The rank at `position` of the group that `rank` is in.
  size_t peerOf(size_t rank, const std::vector<int> &axes, int64_t position) const {
    std::vector<int64_t> where = coordinates_[rank];
    for (size_t i = axes.size(); i-- > 0;) {
      const int64_t size = mesh_.axes[static_cast<size_t>(axes[i])].size;
      where[static_cast<size_t>(axes[i])] = position % size;
      position /= size;
    }
    int64_t peer = 0;
    for (size_t axis = 0; axis < where.size(); ++axis)
      peer = peer * mesh_.axes[axis].size + where[axis];
    return static_cast<size_t>(peer);
  }

  static bool contains(const std::vector<int> &axes, int axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  }

protected:
  const Mesh &mesh_;
  std::vector<std::vector<int64_t>> coordinates_; // by rank and axis
};

// What is wrong with a route from `before`; empty if nothing is.
std::string checkRoute(const RankPlaces &places, const std::vector<int64_t> &shape,
                       const Move &route, const Layout &before);
// The elements that the ranks of a group send.
int64_t sentByRoute(const Move &route);

} // namespace coll::plan

#endif // COLL_PLAN_RANK_PLACES_H
