#include "plan/reshard_space.h"

#include <algorithm>

namespace coll::plan {

namespace {

size_t commonPrefix(const std::vector<int> &a, const std::vector<int> &b) {
  size_t count = 0;
  while (count < a.size() && count < b.size() && a[count] == b[count])
    ++count;
  return count;
}

} // namespace

size_t StateHash::operator()(const State &state) const {
  uint64_t hash = state.pads + 0x9e3779b97f4a7c15u;
  for (Place place : state.places)
    hash = (hash ^ place) * 0x100000001b3u;
  return static_cast<size_t>(hash ^ (hash >> 29));
}

Space::Space(const Mesh &mesh, const Reshard &reshard, bool addsDimension)
    : mesh_(mesh), reshard_(reshard), anySplit_(addsDimension) {
  chooseDims(addsDimension);
  chooseAxes();
  fits_ = axes_.size() <= State::kMostAxes && dims_.size() <= State::kMostDims;
  if (!fits_)
    return;
  source_ = encode(reshard.from, reshard.to);
  target_ = encode(reshard.to, reshard.from);
  // A pending axis of the source is a contributing one of the target.
  for (Place &place : target_.places)
    place = place == kPending ? kContributing : place;
  enumerate();
}

void Space::chooseDims(bool addsDimension) {
  int largest = -1; // of the dimensions that no layout splits
  for (size_t d = 0; d < reshard_.shape.size(); ++d) {
    const Split &have = reshard_.from.dims[d], &want = reshard_.to.dims[d];
    if (!(have == want)) {
      dims_.push_back(dimOfSplits(static_cast<int>(d), have, want));
    } else if (!have.axes.empty()) {
      otherElems_ = saturatingProduct(otherElems_, have.block);
    } else {
      if (largest < 0 || reshard_.shape[d] > reshard_.shape[static_cast<size_t>(largest)])
        largest = static_cast<int>(d);
      otherElems_ = saturatingProduct(otherElems_, have.block);
    }
  }
  if (!addsDimension || largest < 0)
    return;
  const int64_t extent = reshard_.shape[static_cast<size_t>(largest)];
  otherElems_ /= std::max<int64_t>(extent, 1);
  dims_.push_back({largest, {}, 1, {extent}});
}

Space::Dim Space::dimOfSplits(int number, const Split &have, const Split &want) const {
  Dim dim;
  dim.number = number;
  const int64_t havePad = have.block * mesh_.sizeOf(have.axes);
  const int64_t wantPad = want.block * mesh_.sizeOf(want.axes);
  const size_t common = havePad == wantPad ? commonPrefix(have.axes, want.axes) : 0;
  dim.prefix.assign(have.axes.begin(), have.axes.begin() + static_cast<long>(common));
  dim.prefixShards = mesh_.sizeOf(dim.prefix);
  dim.pads = {common ? havePad : reshard_.shape[static_cast<size_t>(number)]};
  for (int64_t pad : {havePad, wantPad})
    if (std::find(dim.pads.begin(), dim.pads.end(), pad) == dim.pads.end())
      dim.pads.push_back(pad);
  return dim;
}

void Space::chooseAxes() {
  const Layout &from = reshard_.from, &to = reshard_.to;
  for (const Dim &dim : dims_)
    for (const Layout *layout : {&from, &to}) {
      const std::vector<int> &axes = layout->dims[static_cast<size_t>(dim.number)].axes;
      axes_.insert(axes_.end(), axes.begin() + static_cast<long>(dim.prefix.size()), axes.end());
    }
  for (int axis : from.partial)
    (contains(to.partial, axis) ? keptPartial_ : axes_).push_back(axis);
  for (int axis : to.partial)
    if (!contains(from.partial, axis))
      axes_.push_back(axis);
  std::sort(axes_.begin(), axes_.end());
  axes_.erase(std::unique(axes_.begin(), axes_.end()), axes_.end());
  for (int axis : axes_)
    sizes_.push_back(mesh_.axes[static_cast<size_t>(axis)].size);
}

void Space::enumerate() {
  int64_t combinations = 1;
  for (int64_t size : sizes_)
    combinations = saturatingProduct(combinations, size);
  if (combinations > kMostCombinations)
    return;
  overlaps_.resize(dims_.size());
  const Lists lists = decode(target_);
  for (int64_t i = 0; i < combinations; ++i) {
    Coordinates coordinates{};
    int64_t rest = i;
    for (size_t axis = 0; axis < sizes_.size(); ++axis) {
      coordinates[axis] = static_cast<uint8_t>(rest % sizes_[axis]);
      rest /= sizes_[axis];
    }
    double elems = static_cast<double>(otherElems_);
    for (size_t d = 0; d < dims_.size(); ++d) {
      const Interval block = blockOf(lists, d, coordinates);
      elems *= static_cast<double>(block.end - block.begin);
    }
    targetElems_ += elems / static_cast<double>(combinations);
    coordinates_.push_back(coordinates);
  }
}

// Inside the prefix's part of the dimension, without the padding of one that has no prefix.
Space::Interval Space::blockOf(const Lists &lists, size_t dim,
                               const Coordinates &coordinates) const {
  int64_t index = 0;
  for (uint8_t axis : lists.dims[dim])
    index = index * sizes_[axis] + coordinates[axis];
  const int64_t end = dims_[dim].pads[0] / dims_[dim].prefixShards;
  const int64_t begin = std::min(end, index * lists.block[dim]);
  return {begin, std::min(end, begin + lists.block[dim])};
}

const std::vector<double> &Space::overlapsOf(const State &state, const Lists &lists, size_t dim) {
  uint64_t key = 4 | padOf(state, dim); // its first digit is not 0, so that it says how many follow
  for (uint8_t axis : lists.dims[dim])
    key = key << 4 | (axis + 1u);
  auto [known, isNew] = overlaps_[dim].try_emplace(key);
  if (!isNew)
    return known->second;
  const Lists target = decode(target_);
  known->second.reserve(coordinates_.size());
  for (const Coordinates &coordinates : coordinates_) {
    const Interval have = blockOf(lists, dim, coordinates);
    const Interval want = blockOf(target, dim, coordinates);
    known->second.push_back(static_cast<double>(
        std::max<int64_t>(0, std::min(have.end, want.end) - std::max(have.begin, want.begin))));
  }
  return known->second;
}

double Space::missingBytes(const State &state) {
  const auto elemBytes = static_cast<double>(reshard_.elemBytes);
  // Along an axis over which the value becomes partial, the ranks share what each of them wants.
  double contributions = 1, sharers = 1, copies = 1;
  for (size_t axis = 0; axis < axes_.size(); ++axis) {
    const Place place = state.places[axis];
    const auto size = static_cast<double>(sizes_[axis]);
    contributions *= place == kPending ? size : 1;
    if (target_.places[axis] != kContributing || place == kContributing)
      continue;
    sharers *= size;
    copies *= place == kUnused ? size : 1;
  }
  if (coordinates_.empty())
    return 0;
  if (contributions > 1) {
    double elems = static_cast<double>(otherElems_), shards = 1;
    for (size_t d = 0; d < dims_.size(); ++d) {
      elems *= static_cast<double>(dims_[d].pads[0] / dims_[d].prefixShards);
      for (size_t axis = 0; axis < axes_.size(); ++axis)
        if (isInDim(target_.places[axis]) && dimOf(target_.places[axis]) == d)
          shards *= static_cast<double>(sizes_[axis]);
    }
    const auto ranks = static_cast<double>(coordinates_.size());
    return elemBytes * elems * (contributions + ranks / shards / sharers - 2) / ranks;
  }
  const Lists lists = decode(state);
  std::array<const double *, State::kMostDims> overlaps{};
  for (size_t d = 0; d < dims_.size(); ++d)
    overlaps[d] = overlapsOf(state, lists, d).data();
  double held = 0;
  for (size_t i = 0; i < coordinates_.size(); ++i) {
    double common = static_cast<double>(otherElems_);
    for (size_t d = 0; d < dims_.size(); ++d)
      common *= overlaps[d][i];
    held += common;
  }
  held /= static_cast<double>(coordinates_.size());
  return elemBytes * std::max(0.0, targetElems_ / sharers - held / copies);
}

State Space::encode(const Layout &layout, const Layout &other) const {
  State state;
  auto indexOf = [&](int axis) {
    return static_cast<size_t>(std::lower_bound(axes_.begin(), axes_.end(), axis) - axes_.begin());
  };
  for (int axis : layout.partial)
    if (!contains(other.partial, axis))
      state.places[indexOf(axis)] = kPending;
  for (size_t d = 0; d < dims_.size(); ++d) {
    const Split &split = layout.dims[static_cast<size_t>(dims_[d].number)];
    const size_t prefix = dims_[d].prefix.size();
    for (size_t i = prefix; i < split.axes.size(); ++i)
      state.places[indexOf(split.axes[i])] = placeAt(d, i - prefix);
    if (split.axes.size() == prefix)
      continue;
    const int64_t padded = split.block * mesh_.sizeOf(split.axes);
    const auto found = std::find(dims_[d].pads.begin(), dims_[d].pads.end(), padded);
    state.pads |= static_cast<uint32_t>(found - dims_[d].pads.begin()) << (2 * d);
  }
  return state;
}

Layout Space::layoutOf(const State &state) const {
  Layout layout = reshard_.from;
  const Lists lists = decode(state);
  for (size_t d = 0; d < dims_.size(); ++d) {
    Split &split = layout.dims[static_cast<size_t>(dims_[d].number)];
    split.axes = dims_[d].prefix;
    for (uint8_t axis : lists.dims[d])
      split.axes.push_back(axes_[axis]);
    split.block = lists.block[d];
  }
  layout.partial = keptPartial_;
  for (size_t i = 0; i < axes_.size(); ++i)
    if (state.places[i] == kPending || state.places[i] == kContributing)
      layout.partial.push_back(axes_[i]);
  std::sort(layout.partial.begin(), layout.partial.end());
  return layout;
}

Space::Lists Space::decode(const State &state) const {
  Lists lists;
  for (size_t i = 0; i < axes_.size(); ++i)
    if (const Place place = state.places[i]; isInDim(place)) {
      AxisList &list = lists.dims[dimOf(place)];
      list.axes[positionOf(place)] = static_cast<uint8_t>(i);
      ++list.count;
    }
  lists.elems = otherElems_;
  for (size_t d = 0; d < dims_.size(); ++d) {
    const int64_t shards = dims_[d].prefixShards * sizeOf(lists.dims[d]);
    lists.block[d] = dims_[d].pads[padOf(state, d)] / shards;
    lists.elems = saturatingProduct(lists.elems, lists.block[d]);
  }
  return lists;
}

std::vector<int> Space::meshAxes(const AxisList &axes) const {
  std::vector<int> result;
  for (uint8_t axis : axes)
    result.push_back(axes_[axis]);
  return result;
}

uint64_t Space::meshMask(const AxisList &axes) const {
  uint64_t mask = 0;
  for (uint8_t axis : axes)
    mask |= uint64_t{1} << axes_[axis];
  return mask;
}

int64_t Space::sizeOf(const AxisList &axes) const {
  int64_t size = 1;
  for (uint8_t axis : axes)
    size *= sizes_[axis];
  return size;
}

bool Space::isReduced(const State &state) const {
  return std::find(state.places.begin(), state.places.end(), kPending) == state.places.end();
}

AxisList Space::moved(const State &from, const State &to) const {
  // The blocks between two neighbours along an axis; 0 where it is in no dimension.
  auto strideOf = [&](const State &state, size_t axis) -> int64_t {
    const Place place = state.places[axis];
    int64_t stride = isInDim(place) ? 1 : 0;
    for (size_t other = 0; isInDim(place) && other < axes_.size(); ++other)
      if (isInDim(state.places[other]) && dimOf(state.places[other]) == dimOf(place) &&
          state.places[other] > place)
        stride *= sizes_[other];
    return stride;
  };
  AxisList axes;
  for (size_t axis = 0; axis < axes_.size(); ++axis) {
    const Place a = from.places[axis], b = to.places[axis];
    const bool sameDim = isInDim(a) && isInDim(b) ? dimOf(a) == dimOf(b) : a == b;
    if (!sameDim || strideOf(from, axis) != strideOf(to, axis))
      axes.push(axis);
  }
  return axes;
}

// The number of a rank's part is the sum of its coordinates, weighted.
Space::Weights Space::weightsOf(const State &state) const {
  Weights weights{};
  const Lists lists = decode(state);
  int64_t weight = 1;
  for (size_t d = dims_.size(); d-- > 0;)
    for (size_t i = lists.dims[d].count; i-- > 0;) {
      const uint8_t axis = lists.dims[d].axes[i];
      weights[axis] = weight;
      weight *= sizes_[axis];
    }
  return weights;
}

std::vector<int64_t> Space::partsOf(const State &state, const AxisList &axes) const {
  const Weights weights = weightsOf(state);
  std::vector<int64_t> parts = {0};
  for (uint8_t axis : axes) {
    std::vector<int64_t> next;
    for (int64_t part : parts)
      for (int64_t i = 0; i < sizes_[axis]; ++i)
        next.push_back(part + i * weights[axis]);
    parts = std::move(next);
  }
  return parts;
}

int64_t Space::countKept(const State &from, const State &to, const AxisList &axes) const {
  const Weights have = weightsOf(from), want = weightsOf(to);
  std::array<int64_t, State::kMostAxes> coordinates{};
  int64_t kept = 0, difference = 0;
  while (true) {
    kept += difference == 0;
    size_t i = axes.count;
    for (; i > 0; --i) {
      const uint8_t axis = axes.axes[i - 1];
      const int64_t step = have[axis] - want[axis];
      if (++coordinates[i - 1] < sizes_[axis]) {
        difference += step;
        break;
      }
      difference -= step * (sizes_[axis] - 1);
      coordinates[i - 1] = 0;
    }
    if (i == 0)
      return kept;
  }
}

} // namespace coll::plan
