//===- device_grid.cc -------------------------------------------------------------===//

#include "passes/import/device_grid.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace mlir::coll::stablehlo {

namespace {

/// The steps that visit `positions` in their order: each further step repeats the block that the
/// steps so far visit, at one distance.
///
///   0 4 1 5 2 6 3 7    two steps of 4, then four of 1: {4, 1}, {2, 4}
std::optional<Pieces> findSteps(ArrayRef<int64_t> positions) {
  const size_t count = positions.size();
  std::vector<bool> seen(count);
  for (int64_t position : positions) {
    if (position < 0 || position >= static_cast<int64_t>(count) || seen[position])
      return std::nullopt;
    seen[position] = true;
  }
  Pieces pieces; // minor to major
  for (size_t block = 1; block < count;) {
    const int64_t stride = positions[block] - positions[0];
    auto repeats = [&](size_t times) {
      return llvm::all_of(llvm::seq<size_t>(0, block), [&](size_t i) {
        return positions[times * block + i] == positions[i] + static_cast<int64_t>(times) * stride;
      });
    };
    size_t times = 1;
    while ((times + 1) * block <= count && repeats(times))
      ++times;
    if (times == 1 || stride < 1 || count % (block * times) != 0)
      return std::nullopt;
    pieces.push_back({static_cast<int64_t>(times), stride});
    block *= times;
  }
  if (positions[0] != 0)
    return std::nullopt;
  return Pieces(llvm::reverse(pieces));
}

std::optional<Pieces> stepsOfGrid(ArrayRef<int64_t> grid, ArrayRef<int64_t> order) {
  Pieces known(grid.size()), steps;
  int64_t stride = 1;
  for (int64_t dim = grid.size() - 1; dim >= 0; --dim) {
    known[dim] = {grid[dim], stride};
    stride *= grid[dim];
  }
  std::vector<bool> seen(grid.size());
  if (order.size() != grid.size())
    return std::nullopt;
  for (int64_t dim : order) {
    if (dim >= static_cast<int64_t>(grid.size()) || seen[dim])
      return std::nullopt;
    seen[dim] = true;
    if (known[dim].size > 1)
      steps.push_back(known[dim]);
  }
  return steps;
}

/// The devices in the order in which `steps` visit them.
std::vector<int64_t> visit(ArrayRef<Piece> steps) {
  std::vector<int64_t> devices = {0};
  for (Piece step : steps) {
    std::vector<int64_t> next;
    for (int64_t device : devices)
      for (int64_t i = 0; i < step.size; ++i)
        next.push_back(device + i * step.stride);
    devices = std::move(next);
  }
  return devices;
}

/// Takes `size` steps from the front of `open`; nullopt if they end inside of one.
std::optional<Pieces> takeSteps(Pieces &open, int64_t size) {
  Pieces taken;
  while (size > 1) {
    if (open.empty())
      return std::nullopt;
    Piece &front = open.front();
    if (size % front.size == 0) {
      size /= front.size;
      taken.push_back(front);
      open.erase(open.begin());
    } else if (front.size % size == 0) {
      front.size /= size;
      taken.push_back({size, front.stride * front.size});
      size = 1;
    } else {
      return std::nullopt;
    }
  }
  return taken;
}

} // namespace

std::optional<Pieces> cutOut(ArrayRef<Piece> pieces, int64_t before, int64_t size) {
  Pieces open(pieces);
  return takeSteps(open, before) ? takeSteps(open, size) : std::nullopt;
}

void DeviceGrid::addList(ArrayRef<int64_t> devices) {
  if (!position_.empty() || findSteps(devices))
    return;
  std::vector<int64_t> position(devices.size(), -1);
  for (auto [index, device] : llvm::enumerate(devices)) {
    if (device >= static_cast<int64_t>(devices.size()) || position[device] >= 0)
      return;
    position[device] = index;
  }
  position_ = std::move(position);
}

std::optional<SmallVector<Pieces>> DeviceGrid::cut(ArrayRef<int64_t> tiles, ArrayRef<int64_t> grid,
                                                   ArrayRef<int64_t> order,
                                                   ArrayRef<int64_t> devices) const {
  std::optional<Pieces> open = devices.empty() ? stepsOfGrid(grid, order) : findSteps(devices);
  if (!position_.empty()) {
    std::vector<int64_t> positions = devices.empty() && open ? visit(*open) : devices.vec();
    if (positions.size() != position_.size())
      return std::nullopt;
    for (int64_t &position : positions) {
      if (position >= static_cast<int64_t>(position_.size()))
        return std::nullopt;
      position = position_[position];
    }
    open = findSteps(positions);
  }
  SmallVector<Pieces> pieces;
  for (int64_t tile : tiles) {
    std::optional<Pieces> taken = open ? takeSteps(*open, tile) : std::nullopt;
    if (!taken)
      return std::nullopt;
    pieces.push_back(*taken);
  }
  return open && open->empty() ? std::optional(pieces) : std::nullopt;
}

void DeviceGrid::add(ArrayRef<Piece> pieces, StringRef name) {
  for (Piece piece : pieces) {
    cuts_.insert(piece.stride);
    cuts_.insert(piece.stride * piece.size);
  }
  if (!name.empty())
    named_.push_back({name.str(), Pieces(pieces)});
}

/// The axis that lies between both strides, or the part of an axis that does; a number where that
/// name is taken.
std::string DeviceGrid::nameOf(int64_t above, int64_t stride) const {
  auto isFree = [&](const std::string &name) {
    return llvm::none_of(axes_, [&](const Axis &axis) { return axis.name == name; });
  };
  std::vector<std::string> wholes, parts;
  for (const Named &named : named_) {
    int64_t before = 1;
    for (Piece piece : named.pieces) {
      const int64_t end = piece.stride * piece.size;
      if (named.pieces.size() == 1 && piece.stride == stride && above == end)
        wholes.push_back(named.name);
      else if (piece.stride <= stride && above <= end)
        parts.push_back(named.name + ":(" + std::to_string(before * (end / above)) + ")" +
                        std::to_string(above / stride));
      before *= piece.size;
    }
  }
  for (const auto *names : {&wholes, &parts})
    for (const std::string &name : *names)
      if (isFree(name))
        return name;
  size_t number = axes_.size();
  while (!isFree("d" + std::to_string(number)))
    ++number;
  return "d" + std::to_string(number);
}

bool DeviceGrid::finish(int64_t numDevices) {
  cuts_.insert(1);
  int64_t above = numDevices;
  for (int64_t stride : llvm::reverse(cuts_)) {
    if (stride == above)
      continue;
    if (above % stride != 0)
      return false;
    axes_.push_back({nameOf(above, stride), above / stride, stride});
    above = stride;
  }
  return true;
}

SmallVector<std::string> DeviceGrid::axesOf(ArrayRef<Piece> pieces) const {
  SmallVector<std::string> names;
  for (Piece piece : pieces)
    for (const Axis &axis : axes_)
      if (axis.stride >= piece.stride && axis.stride < piece.stride * piece.size)
        names.push_back(axis.name);
  return names;
}

} // namespace mlir::coll::stablehlo
