#include "plan/halo.h"

#include <algorithm>
#include <map>
#include <utility>

namespace coll::plan {

namespace {

// More pieces for each rank, or more ranks in irregular rounds, are not worth their messages.
constexpr int64_t kMostPieces = 16;
constexpr int64_t kMostIrregularRanks = 512;

int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0); }
int64_t ceilDiv(int64_t a, int64_t b) { return -floorDiv(-a, b); }

// Elements first … last that iterations of a rank read; none where last < first.
struct Interval {
  int64_t first = 0, last = -1;
};

Interval readBy(const HaloLoop &loop, const HaloSource &source, int64_t rank) {
  const auto &[step, first, last, spread] = source.reach;
  const int64_t begin = rank * loop.block;
  const int64_t end = std::min(begin + loop.block, loop.iterations);
  if (end <= begin)
    return {};
  return {ceilDiv(step * begin + first, spread), floorDiv(step * (end - 1) + last, spread)};
}

Interval withinDimension(const HaloSource &source, Interval read) {
  return {std::max(read.first, source.begin), std::min(read.last, source.extent - 1)};
}

// False where there are too many.
bool collectPieces(const HaloLoop &loop, const std::vector<HaloSource> &sources,
                   std::vector<HaloPiece> &pieces) {
  for (const HaloSource &source : sources) {
    for (int64_t rank = 0; rank < loop.ranks; ++rank) {
      const int64_t start = haloStart(loop, source, rank);
      auto [first, last] = withinDimension(source, readBy(loop, source, rank));
      while (first <= last) {
        const int64_t owner = first / source.block;
        const int64_t end = std::min(last + 1, (owner + 1) * source.block);
        pieces.push_back(
            {owner, rank, source.base + first - owner * source.block, first - start, end - first});
        first = end;
      }
      if (static_cast<int64_t>(pieces.size()) > kMostPieces * loop.ranks)
        return false;
    }
  }
  return true;
}

// One round for each distance between ranks. Its pieces grow to the hull of all of them: the
// surplus that a rank gets comes from the same block and belongs where it is written. If all
// buffers begin at the same place of their blocks, this also holds for what a rank without a piece
// gets.
std::vector<HaloRound> roundsByDistance(const std::vector<HaloPiece> &pieces, bool isAligned) {
  std::map<int64_t, HaloRound> rounds;
  for (const HaloPiece &piece : pieces)
    rounds[piece.source - piece.target].pieces.push_back(piece);
  std::vector<HaloRound> result;
  for (auto &[distance, round] : rounds) {
    int64_t start = INT64_MAX, end = 0;
    for (const HaloPiece &piece : round.pieces) {
      start = std::min(start, piece.sourceStart);
      end = std::max(end, piece.sourceStart + piece.length);
    }
    for (HaloPiece &piece : round.pieces) {
      piece.targetStart -= piece.sourceStart - start;
      piece.sourceStart = start;
      piece.length = end - start;
    }
    round.length = end - start;
    round.sends = distance != 0;
    round.idleStart = isAligned ? round.pieces.front().targetStart : -round.length;
    result.push_back(std::move(round));
  }
  return result;
}

// Colours the edges of a bipartite graph with as many colours as a node has edges at most
// (König): if no colour is free at both ends, two colours are swapped along an alternating path.
class EdgeColouring {
public:
  EdgeColouring(int64_t ranks, const std::vector<HaloPiece> &pieces) : pieces_(pieces) {
    std::vector<int64_t> degrees[2] = {std::vector<int64_t>(ranks), std::vector<int64_t>(ranks)};
    for (const HaloPiece &piece : pieces)
      count_ = std::max({count_, ++degrees[0][piece.source], ++degrees[1][piece.target]});
    for (auto &side : edges_)
      side.assign(ranks * count_, -1);
    colours_.assign(pieces.size(), -1);
    for (size_t edge = 0; edge < pieces.size(); ++edge)
      add(static_cast<int64_t>(edge));
  }

  int64_t count() const { return count_; }
  int64_t colourOf(size_t edge) const { return colours_[edge]; }

private:
  int64_t endOf(int64_t edge, int side) const {
    return side == 0 ? pieces_[edge].source : pieces_[edge].target;
  }
  int64_t &at(int side, int64_t rank, int64_t colour) {
    return edges_[side][rank * count_ + colour];
  }

  int64_t freeColour(int side, int64_t rank) {
    int64_t colour = 0;
    while (at(side, rank, colour) >= 0)
      ++colour;
    return colour;
  }

  void add(int64_t edge) {
    const int64_t here = freeColour(0, endOf(edge, 0)), there = freeColour(1, endOf(edge, 1));
    if (here != there)
      swapPath(endOf(edge, 1), here, there);
    set(edge, here);
  }

  void set(int64_t edge, int64_t colour) {
    colours_[edge] = colour;
    for (int side : {0, 1})
      at(side, endOf(edge, side), colour) = edge;
  }

  // `other` is free at the target `rank`. Afterwards `colour` is free there, too.
  void swapPath(int64_t rank, int64_t colour, int64_t other) {
    std::vector<int64_t> path;
    int side = 1;
    for (int64_t wanted = colour; at(side, rank, wanted) >= 0;) {
      path.push_back(at(side, rank, wanted));
      side = 1 - side;
      rank = endOf(path.back(), side);
      wanted = wanted == colour ? other : colour;
    }
    for (int64_t edge : path)
      for (int end : {0, 1})
        at(end, endOf(edge, end), colours_[edge]) = -1;
    for (int64_t edge : path)
      set(edge, colours_[edge] == colour ? other : colour);
  }

  const std::vector<HaloPiece> &pieces_;
  int64_t count_ = 0;
  std::vector<int64_t> edges_[2]; // rank and colour -> edge
  std::vector<int64_t> colours_;
};

// As few rounds as possible, of pieces that are not changed.
std::vector<HaloRound> roundsByColour(int64_t ranks, const std::vector<HaloPiece> &pieces) {
  std::map<std::pair<bool, int64_t>, std::vector<HaloPiece>> classes;
  for (const HaloPiece &piece : pieces)
    classes[{piece.source != piece.target, piece.length}].push_back(piece);
  std::vector<HaloRound> result;
  for (auto &[kind, members] : classes) {
    EdgeColouring colouring(ranks, members);
    std::vector<HaloRound> rounds(colouring.count(), {kind.second, kind.first, -kind.second, {}});
    for (size_t edge = 0; edge < members.size(); ++edge)
      rounds[colouring.colourOf(edge)].pieces.push_back(members[edge]);
    std::move(rounds.begin(), rounds.end(), std::back_inserter(result));
  }
  return result;
}

void addSpace(int64_t ranks, HaloPlan &plan) {
  for (HaloRound &round : plan.rounds) {
    if (static_cast<int64_t>(round.pieces.size()) == ranks)
      round.idleStart = round.pieces.front().targetStart;
    plan.before = std::max(plan.before, -round.idleStart);
    for (const HaloPiece &piece : round.pieces) {
      plan.before = std::max(plan.before, -piece.targetStart);
      plan.after = std::max(plan.after, piece.targetStart + round.length - plan.length);
    }
  }
}

void inspectReads(const HaloLoop &loop, const HaloSource &source, HaloPlan &plan) {
  for (int64_t rank = 0; rank < loop.ranks; ++rank) {
    const Interval read = readBy(loop, source, rank);
    if (read.last < read.first)
      continue;
    plan.readsOutside |= read.first < 0 || read.last >= source.extent;
    plan.readsPadding |= read.last >= source.extent && read.first < loop.ranks * source.block &&
                         source.extent < loop.ranks * source.block;
  }
}

} // namespace

int64_t HaloPlan::sent() const {
  int64_t elements = 0;
  for (const HaloRound &round : rounds)
    elements += round.sends ? round.length : 0;
  return elements;
}

int64_t haloStart(const HaloLoop &loop, const HaloSource &source, int64_t rank) {
  return floorDiv(source.reach.step * loop.block * rank + source.reach.first, source.reach.spread);
}

HaloPlan planHalo(const HaloLoop &loop, const std::vector<HaloSource> &sources) {
  HaloPlan plan;
  int64_t held = 0;
  for (const HaloSource &source : sources) {
    held = std::max(held, source.base + source.block);
    inspectReads(loop, source, plan);
    for (int64_t rank = 0; rank < loop.ranks; ++rank) {
      const int64_t last = source.reach.step * (loop.block * (rank + 1) - 1) + source.reach.last;
      plan.length = std::max(plan.length, floorDiv(last, source.reach.spread) -
                                              haloStart(loop, source, rank) + 1);
    }
  }
  const bool isSmall = loop.ranks <= kMostIrregularRanks, isOne = sources.size() == 1;
  std::vector<HaloPiece> pieces;
  plan.gathers = !collectPieces(loop, sources, pieces) || !(isSmall || isOne);
  if (plan.gathers)
    return plan;
  if (isOne)
    plan.rounds = roundsByDistance(pieces, sources[0].reach.step * loop.block ==
                                               sources[0].reach.spread * sources[0].block);
  if (isSmall) {
    HaloPlan other;
    other.rounds = roundsByColour(loop.ranks, pieces);
    if (!isOne || other.sent() < plan.sent())
      plan.rounds = std::move(other.rounds);
  }
  plan.gathers = plan.sent() > 0 && plan.sent() >= (loop.ranks - 1) * held;
  addSpace(loop.ranks, plan);
  return plan;
}

int64_t haloReceived(const HaloLoop &loop, const HaloSource &source) {
  const int64_t rank = loop.ranks / 2;
  const auto [first, last] = withinDimension(source, readBy(loop, source, rank));
  const int64_t begin = std::max(first, rank * source.block);
  const int64_t end = std::min(last, (rank + 1) * source.block - 1);
  return std::max<int64_t>(last - first + 1, 0) - std::max<int64_t>(end - begin + 1, 0);
}

} // namespace coll::plan
