//===- stablehlo_sharding_text.cc -------------------------------------------------===//

#include "passes/import/stablehlo_sharding_text.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::coll::stablehlo {

namespace {

/// Reads a text from the front; every `take` skips blanks and returns whether the token was there.
class Reader {
public:
  explicit Reader(StringRef text) : rest_(text) {}

  bool take(StringRef token) {
    rest_ = rest_.ltrim();
    return rest_.consume_front(token);
  }
  bool startsWith(StringRef token) {
    rest_ = rest_.ltrim();
    return rest_.starts_with(token);
  }
  bool isAtEnd() { return rest_.trim().empty(); }

  bool takeNumber(int64_t least, int64_t &value) {
    rest_ = rest_.ltrim();
    return !rest_.consumeInteger(10, value) && value >= least && value <= kMaxDevices;
  }
  /// Any number; -1 for one that is negative or above kMaxDevices.
  bool takeAnyNumber(int64_t &value) {
    rest_ = rest_.ltrim();
    StringRef digits = rest_.take_while([](char c) { return llvm::isDigit(c) || c == '-'; });
    rest_ = rest_.drop_front(digits.size());
    if (digits.getAsInteger(10, value) || value < 0 || value > kMaxDevices)
      value = -1;
    return !digits.empty();
  }
  bool takeString(std::string &value) {
    if (!take("\""))
      return false;
    size_t end = rest_.find('"');
    if (end == StringRef::npos)
      return false;
    value = rest_.take_front(end).str();
    rest_ = rest_.drop_front(end + 1);
    return true;
  }
  /// A symbol's name, quoted or not.
  bool takeName(std::string &value) {
    if (!take("@"))
      return false;
    if (rest_.starts_with("\""))
      return takeString(value);
    StringRef name =
        rest_.take_while([](char c) { return llvm::isAlnum(c) || StringRef("_.$-").contains(c); });
    value = name.str();
    rest_ = rest_.drop_front(name.size());
    return !value.empty();
  }
  /// `1,2,3` up to `end`, which is consumed.
  bool takeList(StringRef end, int64_t least, SmallVectorImpl<int64_t> &values) {
    do {
      if (!takeNumber(least, values.emplace_back()))
        return false;
    } while (take(","));
    return take(end);
  }
  /// A text in braces, which may nest.
  bool takeBraces(StringRef &text) {
    rest_ = rest_.ltrim();
    int64_t depth = 0;
    for (auto [position, c] : llvm::enumerate(rest_)) {
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (depth > 0)
        continue;
      if (c != '}')
        return false;
      text = rest_.take_front(position + 1);
      rest_ = rest_.drop_front(position + 1);
      return true;
    }
    return false;
  }

private:
  StringRef rest_;
};

int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    if (llvm::MulOverflow(result, size, result) || result > kMaxDevices)
      return kMaxDevices + 1;
  return result;
}

/// The error in the axes of a mesh; empty if there is none.
std::string problemOfAxes(const MeshText &mesh) {
  const std::string most = std::to_string(kMaxDevices);
  llvm::StringSet<> names;
  for (const MeshText::Axis &axis : mesh.axes) {
    if (axis.size < 1)
      return "gives axis '" + axis.name + "' a size that is not between 1 and " + most;
    if (!names.insert(axis.name).second)
      return "has two axes '" + axis.name + "'; give each axis a name of its own";
  }
  return mesh.numDevices() > kMaxDevices ? "has more than " + most + " devices; use smaller axes"
                                         : "";
}

/// The error in the list of devices of a mesh whose axes are valid; empty if there is none.
std::string problemOfDevices(const MeshText &mesh) {
  const int64_t count = mesh.numDevices();
  if (static_cast<int64_t>(mesh.devices.size()) != count)
    return "has device_ids of length " + std::to_string(mesh.devices.size()) +
           ", but the sizes of its axes multiply to " + std::to_string(count) +
           "; list each device once, or leave device_ids out";
  // A mesh of one device may be on any device.
  const int64_t last = count > 1 ? count - 1 : kMaxDevices;
  llvm::DenseSet<int64_t> seen;
  for (int64_t device : mesh.devices) {
    if (device < 0 || device > last)
      return "has a number in device_ids that is not between 0 and " + std::to_string(last) +
             "; list each device once";
    if (!seen.insert(device).second)
      return "has device " + std::to_string(device) + " twice in device_ids; list each device once";
  }
  return "";
}

/// `["x"=2, "y"=4], device_ids=[…]>`; whether it has this form.
bool takeMesh(Reader &reader, MeshText &mesh) {
  if (!reader.take("["))
    return false;
  while (!reader.take("]")) {
    MeshText::Axis &axis = mesh.axes.emplace_back();
    if (!reader.takeString(axis.name) || !reader.take("=") || !reader.takeAnyNumber(axis.size))
      return false;
    reader.take(",");
  }
  mesh.problem = problemOfAxes(mesh);
  if (reader.take(",")) {
    if (!reader.take("device_ids=["))
      return false;
    while (!reader.take("]")) {
      if (!reader.takeAnyNumber(mesh.devices.emplace_back()))
        return false;
      reader.take(",");
    }
    if (mesh.problem.empty())
      mesh.problem = problemOfDevices(mesh);
  }
  return reader.take(">");
}

/// `"x"`, `"x":(1)2`
bool takeAxis(Reader &reader, AxisText &axis) {
  if (!reader.takeString(axis.name))
    return false;
  return !reader.take(":") || (reader.take("(") && reader.takeNumber(1, axis.before) &&
                               reader.take(")") && reader.takeNumber(2, axis.size));
}

/// `"x", "y":(1)2, ?}`
bool takeAxes(Reader &reader, SmallVectorImpl<AxisText> &axes, bool *isOpen = nullptr) {
  while (!reader.take("}")) {
    if (isOpen && reader.take("?"))
      *isOpen = true;
    else if (!takeAxis(reader, axes.emplace_back()))
      return false;
    reader.take(",");
  }
  return true;
}

bool takeDims(Reader &reader, SmallVectorImpl<DimText> &dims) {
  if (!reader.take("["))
    return false;
  while (!reader.take("]")) {
    DimText &dim = dims.emplace_back();
    // The priority of a dimension in Shardy's propagation. It is skipped: conflicts are decided by
    // cost here.
    int64_t priority = 0;
    if (!reader.take("{") || !takeAxes(reader, dim.axes, &dim.isOpen) ||
        (reader.take("p") && !reader.takeNumber(0, priority)))
      return false;
    reader.take(",");
  }
  return true;
}

/// Behind `<`.
std::optional<ShardyText> takeShardy(Reader &reader) {
  ShardyText text;
  if (reader.take("mesh")) {
    if (!reader.take("<") || !takeMesh(reader, text.inlineMesh.emplace()))
      return std::nullopt;
  } else if (!reader.takeName(text.mesh)) {
    return std::nullopt;
  }
  if (!reader.take(",") || !takeDims(reader, text.dims))
    return std::nullopt;
  while (reader.take(",")) {
    bool isReplicated = reader.take("replicated");
    if ((!isReplicated && !reader.take("unreduced")) || !reader.take("=") || !reader.take("{") ||
        !takeAxes(reader, isReplicated ? text.replicated : text.unreduced))
      return std::nullopt;
  }
  return reader.take(">") ? std::optional(text) : std::nullopt;
}

/// The part after the tiles of `{devices=[…]`: the order of the devices.
bool takeDevices(Reader &reader, TilingText &text) {
  if (!reader.take("<="))
    return reader.takeList("", 0, text.devices) &&
           static_cast<int64_t>(text.devices.size()) == text.numDevices();
  if (!reader.take("[") || !reader.takeList("]", 1, text.grid) ||
      product(text.grid) != text.numDevices())
    return false;
  if (reader.take("T("))
    return reader.takeList(")", 0, text.order);
  llvm::append_range(text.order, llvm::seq<int64_t>(0, text.grid.size()));
  return true;
}

/// `last_tile_dim_replicate`, `last_tile_dims={replicated, manual}`; whether they were read.
bool takeGroups(Reader &reader, TilingText &text) {
  if (reader.take("last_tile_dim_replicate")) {
    text.numGroups = 1;
    return true;
  }
  if (!reader.take("last_tile_dims={"))
    return true;
  while (!reader.take("}")) {
    if (reader.take("manual"))
      text.kind = TilingText::Kind::Manual;
    else if (!reader.take("replicated") && !reader.take("unreduced"))
      return false;
    ++text.numGroups;
    reader.take(",");
  }
  return text.numGroups <= text.tiles.size();
}

bool takeKind(Reader &reader, TilingText &text) {
  using Kind = TilingText::Kind;
  int64_t device;
  if (reader.take("maximal")) {
    text.kind = Kind::Maximal;
    return reader.take("device=") && reader.takeNumber(0, device);
  }
  for (auto [word, kind] :
       {std::pair{"replicated", Kind::Replicated}, std::pair{"manual", Kind::Manual},
        std::pair{"unreduced", Kind::Unknown}, std::pair{"unknown", Kind::Unknown}})
    if (reader.take(word)) {
      text.kind = kind;
      return true;
    }
  text.kind = Kind::Tiled;
  return reader.take("devices=[") && reader.takeList("]", 1, text.tiles) &&
         text.numDevices() <= kMaxDevices && takeDevices(reader, text) && takeGroups(reader, text);
}

} // namespace

int64_t MeshText::numDevices() const {
  return product(llvm::map_to_vector(axes, [](const Axis &axis) { return axis.size; }));
}

int64_t TilingText::numDevices() const { return product(tiles); }

MeshText readMesh(StringRef text) {
  Reader reader(text);
  MeshText mesh;
  if (!reader.take("mesh") || !reader.take("<") || !takeMesh(reader, mesh))
    mesh.problem = "is not of the form #sdy.mesh<[\"x\"=2, \"y\"=4]>";
  return mesh;
}

std::optional<ShardyText> readShardy(StringRef text, unsigned index) {
  Reader reader(text);
  if (reader.take("sharding_per_value")) {
    if (!reader.take("<") || !reader.take("["))
      return std::nullopt;
    for (unsigned number = 0; reader.take("<"); ++number) {
      std::optional<ShardyText> one = takeShardy(reader);
      if (!one || number == index)
        return one;
      reader.take(",");
    }
    return std::nullopt;
  }
  if (!reader.take("sharding") || !reader.take("<"))
    return std::nullopt;
  return takeShardy(reader);
}

std::optional<TilingText> readTiling(StringRef text, unsigned index) {
  Reader list(text);
  StringRef element = text;
  if (list.take("{") && list.startsWith("{"))
    for (unsigned number = 0; number <= index; ++number, list.take(","))
      if (!list.takeBraces(element))
        return std::nullopt;
  Reader reader(element);
  TilingText tiling;
  int64_t group;
  if (!reader.take("{") || !takeKind(reader, tiling))
    return std::nullopt;
  tiling.isGrouped = reader.take("shard_as") || reader.take("shard_like");
  if (tiling.isGrouped && !reader.takeNumber(0, group))
    return std::nullopt;
  if (reader.take("metadata=") && !reader.takeBraces(element))
    return std::nullopt;
  if (!reader.take("}") || !reader.isAtEnd())
    return std::nullopt;
  return tiling;
}

SmallVector<int64_t> readUnspecifiedDims(StringRef text) {
  Reader reader(text);
  SmallVector<int64_t> dims;
  if (!reader.take("unspecified_dims=[") || !reader.takeList("]", 0, dims))
    dims.clear();
  return dims;
}

} // namespace mlir::coll::stablehlo
