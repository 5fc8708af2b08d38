// Checks routes from the positions of blocks alone, without the planner's code.

#include "plan/rank_places.h"

#include <map>

namespace coll::plan {

namespace {

// A box of the tensor.
struct Box {
  std::vector<Range> sides;

  int64_t volume() const {
    int64_t elems = 1;
    for (const Range &side : sides)
      elems *= side.length;
    return elems;
  }
  bool operator==(const Box &other) const {
    return std::equal(
        sides.begin(), sides.end(), other.sides.begin(), other.sides.end(),
        [](const Range &a, const Range &b) { return a.begin == b.begin && a.length == b.length; });
  }
};

bool overlap(const Box &a, const Box &b) {
  for (size_t d = 0; d < a.sides.size(); ++d)
    if (std::max(a.sides[d].begin, b.sides[d].begin) >=
        std::min(a.sides[d].begin + a.sides[d].length, b.sides[d].begin + b.sides[d].length))
      return false;
  return a.volume() > 0 && b.volume() > 0;
}

class RouteChecker {
public:
  RouteChecker(const RankPlaces &places, const std::vector<int64_t> &shape, const Move &route,
               const Layout &before)
      : places_(places), shape_(shape), route_(route), before_(before),
        n_(places.groupSize(route.axes)) {
    for (int axis : before.partial)
      if (!RankPlaces::contains(route.result.partial, axis))
        ended_.push_back(axis);
  }

  std::string check() {
    if (!route_.rounds.empty() && !route_.sums.empty())
      return "combines some elements, and moves others as they are";
    if (route_.sums.empty() != ended_.empty())
      return "does not combine contributions where the value stops being partial";
    const size_t dims = shape_.size();
    if (std::string wrong = checkRounds(route_.rounds, dims, dims); !wrong.empty())
      return wrong;
    for (const RoutedSum &sum : route_.sums) {
      std::string wrong = checkRounds(sum.in, dims, 2);
      if (wrong.empty())
        wrong = checkRounds(sum.out, 1, dims);
      if (!wrong.empty())
        return wrong;
    }
    for (size_t rank = 0; rank < places_.numRanks(); ++rank)
      if (std::string wrong = checkTarget(rank); !wrong.empty())
        return "rank " + std::to_string(rank) + " " + wrong;
    return {};
  }

private:
  std::string checkRounds(const std::vector<RouteRound> &rounds, size_t sourceDims,
                          size_t targetDims) const {
    for (const RouteRound &round : rounds) {
      std::vector<int> sends(static_cast<size_t>(n_)), receives(static_cast<size_t>(n_));
      bool isSent = false;
      for (const RoutePiece &piece : round.pieces) {
        if (piece.source < 0 || piece.source >= n_ || piece.target < 0 || piece.target >= n_ ||
            ++sends[static_cast<size_t>(piece.source)] > 1 ||
            ++receives[static_cast<size_t>(piece.target)] > 1)
          return "uses a rank twice in a round";
        if (piece.sourceStart.size() != sourceDims || piece.targetStart.size() != targetDims ||
            round.extent.size() != shape_.size())
          return "has a piece of other dimensions";
        isSent |= piece.source != piece.target;
      }
      if (isSent != round.sends)
        return "has a round that says wrongly whether it sends";
    }
    return {};
  }

  // A box of a rank's block; false where it is not inside of both the block and the tensor.
  bool boxIn(size_t rank, const Layout &layout, const std::vector<int64_t> &start,
             const std::vector<int64_t> &extent, Box &box) const {
    box.sides.clear();
    for (size_t d = 0; d < shape_.size(); ++d) {
      const Range block = places_.placeOf(rank, layout.dims[d]);
      const int64_t begin = block.begin + start[d];
      if (start[d] < 0 || extent[d] < 0 || start[d] + extent[d] > block.length ||
          begin + extent[d] > shape_[d])
        return false;
      box.sides.push_back({begin, extent[d]});
    }
    return true;
  }

  // Each element of the rank's block arrives once.
  std::string checkTarget(size_t rank) const {
    std::vector<Box> got;
    int64_t elems = 0;
    auto receive = [&](const RouteRound &round, const RoutePiece &piece,
                       const Box &sent) -> std::string {
      Box box;
      if (!boxIn(rank, route_.result, piece.targetStart, round.extent, box) || !(box == sent))
        return "receives elements at another place than they have";
      if (std::any_of(got.begin(), got.end(),
                      [&](const Box &other) { return overlap(box, other); }))
        return "receives elements twice";
      elems += box.volume();
      got.push_back(std::move(box));
      return {};
    };
    const int64_t mine = places_.positionOf(rank, route_.axes);
    for (const RouteRound &round : route_.rounds)
      for (const RoutePiece &piece : round.pieces) {
        Box sent;
        if (piece.target != mine)
          continue;
        if (!boxIn(places_.peerOf(rank, route_.axes, piece.source), before_, piece.sourceStart,
                   round.extent, sent))
          return "receives what its source does not hold";
        if (std::string wrong = receive(round, piece, sent); !wrong.empty())
          return wrong;
      }
    for (const RoutedSum &sum : route_.sums)
      for (const RouteRound &round : sum.out)
        for (const RoutePiece &piece : round.pieces) {
          Box sent;
          if (piece.target != mine)
            continue;
          std::string wrong = combined(places_.peerOf(rank, route_.axes, piece.source), sum,
                                       piece.sourceStart[0], sent);
          if (wrong.empty())
            wrong = receive(round, piece, sent);
          if (!wrong.empty())
            return wrong;
        }
    int64_t wanted = 1;
    for (size_t d = 0; d < shape_.size(); ++d) {
      const Range block = places_.placeOf(rank, route_.result.dims[d]);
      wanted *= std::clamp<int64_t>(shape_[d] - block.begin, 0, block.length);
    }
    return elems == wanted ? "" : "does not receive all elements of its block";
  }

  // The box that a rank combines as one of its cells: from each contribution once.
  std::string combined(size_t rank, const RoutedSum &sum, int64_t cell, Box &box) const {
    const int64_t mine = places_.positionOf(rank, route_.axes);
    std::vector<int> contributions(static_cast<size_t>(places_.groupSize(ended_)));
    bool isFirst = true;
    if (cell < 0 || cell >= sum.cells)
      return "receives a cell that no rank combines";
    for (const RouteRound &round : sum.in)
      for (const RoutePiece &piece : round.pieces) {
        if (piece.target != mine || piece.targetStart[1] != cell)
          continue;
        const size_t source = places_.peerOf(rank, route_.axes, piece.source);
        const int64_t number = places_.positionOf(source, ended_);
        Box held;
        if (piece.targetStart[0] != number || round.extent != sum.extent ||
            !boxIn(source, before_, piece.sourceStart, round.extent, held) ||
            !(isFirst || held == box) || ++contributions[static_cast<size_t>(number)] > 1)
          return "receives a result of the wrong contributions";
        box = std::move(held);
        isFirst = false;
      }
    const bool isComplete = std::all_of(contributions.begin(), contributions.end(),
                                        [](int count) { return count == 1; });
    return isComplete ? "" : "receives a result in which a contribution is missing";
  }

  const RankPlaces &places_;
  const std::vector<int64_t> &shape_;
  const Move &route_;
  const Layout &before_;
  int64_t n_;
  std::vector<int> ended_;
};

} // namespace

std::string checkRoute(const RankPlaces &places, const std::vector<int64_t> &shape,
                       const Move &route, const Layout &before) {
  return RouteChecker(places, shape, route, before).check();
}

int64_t sentByRoute(const Move &route) {
  int64_t sent = 0;
  auto count = [&](const std::vector<RouteRound> &rounds) {
    for (const RouteRound &round : rounds) {
      int64_t elems = 1;
      for (int64_t extent : round.extent)
        elems *= extent;
      for (const RoutePiece &piece : round.pieces)
        sent += piece.source == piece.target ? 0 : elems;
    }
  };
  count(route.rounds);
  for (const RoutedSum &sum : route.sums) {
    count(sum.in);
    count(sum.out);
  }
  return sent;
}

} // namespace coll::plan
