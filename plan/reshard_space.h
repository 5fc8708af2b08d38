// reshard_space.h - the states of the reshard planner's search, in a form that is quick to compare:
// one byte for each axis that matters, and the padded extent of each dimension.

#ifndef COLL_PLAN_RESHARD_SPACE_H
#define COLL_PLAN_RESHARD_SPACE_H

#include "plan/reshard.h"

#include <array>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace coll::plan {

// Where an axis is: kUnused, kPending (source's contributions are to be combined), kContributing
// (the target is partial), or a dimension and a position among its axes.
using Place = uint8_t;
inline constexpr Place kUnused = 0, kPending = 0xff, kContributing = 0xfe;

inline Place placeAt(size_t dim, size_t position) {
  return static_cast<Place>((dim << 4) | (position + 1));
}
inline bool isInDim(Place place) {
  return place != kUnused && place != kPending && place != kContributing;
}
// dimOf and positionOf need a place for which isInDim() holds.
inline size_t dimOf(Place place) { return place >> 4; }
inline size_t positionOf(Place place) { return (place & 15u) - 1; }

struct State {
  static constexpr size_t kMostAxes = 8, kMostDims = 14;

  std::array<Place, kMostAxes> places{};
  // Two bits for each dimension: the index of its padded extent in Dim::pads; 0 if it is not
  // split.
  uint32_t pads = 0;

  bool operator==(const State &other) const { return places == other.places && pads == other.pads; }
};

struct StateHash {
  size_t operator()(const State &state) const;
};

// Lists of axes, as the space numbers them.
struct AxisList {
  std::array<uint8_t, State::kMostAxes> axes{};
  size_t count = 0;

  void push(size_t axis) { axes[count++] = static_cast<uint8_t>(axis); }
  const uint8_t *begin() const { return axes.data(); }
  const uint8_t *end() const { return axes.data() + count; }
};

// One move out of a state. Numbers of axes and dimensions are those of the space.
struct Step {
  MoveKind kind = MoveKind::Slice;
  AxisList axes; // none for a permute: the axes that are placed differently
  int split = -1, join = -1;
  State to;
  // Bytes of one rank before the move, with the padding that the move adds to a whole dimension.
  int64_t localBytes = 0;
};

// The states of one reshard. It leaves out axes that neither layout uses or over which both are
// partial, dimensions that neither splits, and the leading major axes of a dimension that both
// layouts have in common.
class Space {
public:
  Space(const Mesh &mesh, const Reshard &reshard, bool addsDimension);

  // False where there are too many axes or dimensions to be searched.
  bool fits() const { return fits_; }
  State source() const { return source_; }
  State target() const { return target_; }

  void expand(const State &state, bool permutes, const std::function<void(const Step &)> &visit);

  // Axes of the mesh, major to minor, and as the cost model has them.
  std::vector<int> meshAxes(const AxisList &axes) const;
  uint64_t meshMask(const AxisList &axes) const;
  int dimension(int dim) const { return dim < 0 ? -1 : dims_[static_cast<size_t>(dim)].number; }
  Layout layoutOf(const State &state) const;
  // Whether no contributions are to be combined any more.
  bool isReduced(const State &state) const;
  // The axes that two states place differently, in the order of the mesh.
  AxisList moved(const State &from, const State &to) const;
  // The number of the part that a rank has, by its position in the group over `axes`, counting
  // these axes only.
  std::vector<int64_t> partsOf(const State &state, const AxisList &axes) const;
  // The positions in that group that have the same part in both states.
  int64_t countKept(const State &from, const State &to, const AxisList &axes) const;
  int64_t sizeOf(const AxisList &axes) const;
  // A lower bound of the bytes that an average rank still has to receive (reshard_bound.h).
  double missingBytes(const State &state);

private:
  struct Dim {
    int number = 0;
    std::vector<int> prefix; // of the mesh
    int64_t prefixShards = 1;
    std::vector<int64_t> pads; // padded extents; the first one is also that of a whole dimension
  };
  // A state by dimension.
  struct Lists {
    std::array<AxisList, State::kMostDims> dims;
    std::array<int64_t, State::kMostDims> block{};
    int64_t elems = 1; // of one rank, without the dimensions that are left out
  };

  struct Interval {
    int64_t begin = 0, end = 0;
  };
  using Coordinates = std::array<uint8_t, State::kMostAxes>;
  // Larger groups are not enumerated.
  static constexpr int64_t kMostCombinations = 256;

  void chooseDims(bool addsDimension);
  Dim dimOfSplits(int number, const Split &have, const Split &want) const;
  void chooseAxes();
  void enumerate();
  Interval blockOf(const Lists &lists, size_t dim, const Coordinates &coordinates) const;
  const std::vector<double> &overlapsOf(const State &state, const Lists &lists, size_t dim);
  using Weights = std::array<int64_t, State::kMostAxes>;
  Weights weightsOf(const State &state) const;
  State encode(const Layout &layout, const Layout &other) const;
  Lists decode(const State &state) const;
  size_t padOf(const State &state, size_t dim) const { return (state.pads >> (2 * dim)) & 3; }
  void append(State &state, const Lists &lists, size_t dim, const AxisList &axes, size_t pad) const;
  void dropSuffix(State &state, const Lists &lists, size_t dim, size_t count, Place place) const;
  // Calls visit(pad, extent of the whole block) for each way in which `dim` can be split by `n`.
  template <typename F>
  void eachSplit(const State &state, const Lists &lists, size_t dim, int64_t n, F visit) const;
  void expandSplits(const State &state, const Lists &lists,
                    const std::function<void(const Step &)> &visit) const;
  void expandJoins(const State &state, const Lists &lists,
                   const std::function<void(const Step &)> &visit) const;
  AxisList inTargetOrder(const AxisList &axes, unsigned chosen) const;
  void expandReductions(const State &state, const Lists &lists,
                        const std::function<void(const Step &)> &visit) const;
  void expandPermutes(const State &state, const Lists &lists,
                      const std::function<void(const Step &)> &visit) const;

  const Mesh &mesh_;
  const Reshard &reshard_;
  bool fits_ = true, anySplit_ = false;
  std::vector<int> axes_; // of the mesh
  std::vector<int64_t> sizes_;
  std::vector<Dim> dims_;
  std::vector<int> keptPartial_;
  int64_t otherElems_ = 1;
  State source_, target_;
  // All coordinates along the axes; none where they are too many.
  std::vector<Coordinates> coordinates_;
  double targetElems_ = 0; // of an average rank
  // By dimension, then by its split in a state: what a rank has there of what it has in the target,
  // by its coordinates. The dimension's splits are few, those of all dimensions together many.
  std::vector<std::unordered_map<uint64_t, std::vector<double>>> overlaps_;
};

} // namespace coll::plan

#endif // COLL_PLAN_RESHARD_SPACE_H
