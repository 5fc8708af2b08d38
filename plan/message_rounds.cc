#include "plan/message_rounds.h"

#include <algorithm>
#include <map>
#include <utility>

namespace coll::plan {

namespace {

// Colours the edges between senders and receivers, which are pieces of one shape; a colour is a
// round.
class Colouring {
public:
  Colouring(size_t ranks, size_t pieces) : sending_(ranks), receiving_(ranks), ends_(pieces) {}

  void add(size_t piece, int64_t source, int64_t target) {
    const size_t a = freeIn(sending_[static_cast<size_t>(source)]);
    const size_t b = freeIn(receiving_[static_cast<size_t>(target)]);
    if (a != b)
      swapAlong(target, a, b); // the source has `a` free, and the target then, too
    put(piece, {source, target}, a);
  }

  // A piece that stays where it is goes where the rank has nothing else to do.
  void addLocal(size_t piece, int64_t rank) {
    size_t colour = 0;
    while (at(sending_[static_cast<size_t>(rank)], colour) != kNone ||
           at(receiving_[static_cast<size_t>(rank)], colour) != kNone)
      ++colour;
    put(piece, {rank, rank}, colour);
  }

  // The pieces of each colour, by target.
  std::vector<std::vector<size_t>> rounds() const {
    std::vector<std::vector<size_t>> result;
    for (const Pieces &pieces : receiving_)
      for (size_t colour = 0; colour < pieces.size(); ++colour) {
        if (pieces[colour] == kNone)
          continue;
        result.resize(std::max(result.size(), colour + 1));
        result[colour].push_back(pieces[colour]);
      }
    return result;
  }

private:
  using Pieces = std::vector<size_t>; // of one rank, by colour
  using Ends = std::pair<int64_t, int64_t>;
  static constexpr size_t kNone = SIZE_MAX;

  static size_t at(const Pieces &pieces, size_t colour) {
    return colour < pieces.size() ? pieces[colour] : kNone;
  }
  static size_t freeIn(const Pieces &pieces) {
    return static_cast<size_t>(std::find(pieces.begin(), pieces.end(), kNone) - pieces.begin());
  }
  static void set(Pieces &pieces, size_t colour, size_t piece) {
    if (pieces.size() <= colour)
      pieces.resize(colour + 1, kNone);
    pieces[colour] = piece;
  }
  void put(size_t piece, Ends ends, size_t colour) {
    ends_[piece] = ends;
    set(sending_[static_cast<size_t>(ends.first)], colour, piece);
    set(receiving_[static_cast<size_t>(ends.second)], colour, piece);
  }

  // Exchanges two colours along the path that begins at a receiver with its piece of colour `a`. It
  // does not reach a sender that has `a` free.
  void swapAlong(int64_t receiver, size_t a, size_t b) {
    std::vector<size_t> path;
    int64_t rank = receiver;
    for (bool atReceiver = true;; atReceiver = !atReceiver) {
      const Pieces &pieces = (atReceiver ? receiving_ : sending_)[static_cast<size_t>(rank)];
      const size_t piece = at(pieces, path.size() % 2 == 0 ? a : b);
      if (piece == kNone)
        break;
      path.push_back(piece);
      rank = atReceiver ? ends_[piece].first : ends_[piece].second;
    }
    for (size_t i = 0; i < path.size(); ++i) {
      const auto [source, target] = ends_[path[i]];
      set(sending_[static_cast<size_t>(source)], i % 2 == 0 ? a : b, kNone);
      set(receiving_[static_cast<size_t>(target)], i % 2 == 0 ? a : b, kNone);
    }
    for (size_t i = 0; i < path.size(); ++i)
      put(path[i], ends_[path[i]], i % 2 == 0 ? b : a);
  }

  std::vector<Pieces> sending_, receiving_;
  std::vector<Ends> ends_; // source and target of each piece
};

} // namespace

std::vector<RouteRound> roundsOf(int64_t ranks, const std::vector<SizedPiece> &pieces) {
  std::map<std::vector<int64_t>, std::vector<RoutePiece>> byShape;
  for (const SizedPiece &sized : pieces)
    byShape[sized.extent].push_back(sized.piece);
  std::vector<RouteRound> rounds;
  for (const auto &[extent, same] : byShape) {
    Colouring colouring(static_cast<size_t>(ranks), same.size());
    for (size_t i = 0; i < same.size(); ++i)
      if (same[i].source != same[i].target)
        colouring.add(i, same[i].source, same[i].target);
    for (size_t i = 0; i < same.size(); ++i)
      if (same[i].source == same[i].target)
        colouring.addLocal(i, same[i].source);
    for (const std::vector<size_t> &numbers : colouring.rounds()) {
      RouteRound &round = rounds.emplace_back();
      round.extent = extent;
      for (size_t number : numbers) {
        round.sends |= same[number].source != same[number].target;
        round.pieces.push_back(same[number]);
      }
    }
  }
  return rounds;
}

} // namespace coll::plan
