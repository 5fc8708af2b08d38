//===- stablehlo_shardings.cc - shardings that stand in the text -----------------===//

#include "passes/import/stablehlo_shardings.h"

#include "dialect/sharding.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <optional>

namespace mlir::coll::stablehlo {

namespace {

constexpr StringLiteral kShardy = "sdy.sharding";
constexpr StringLiteral kDevices = "mhlo.sharding";
constexpr StringLiteral kDeviceMesh = "devices";
constexpr int64_t kMaxDevices = int64_t{1} << 24;

/// Reads a text from the front; every `take` skips blanks and returns whether the token was there.
class Reader {
public:
  explicit Reader(StringRef text) : rest_(text) {}

  bool take(StringRef token) {
    rest_ = rest_.ltrim();
    return rest_.consume_front(token);
  }
  bool takeNumber(int64_t &value) {
    rest_ = rest_.ltrim();
    return !rest_.consumeInteger(10, value);
  }
  bool takeString(StringRef &value) {
    if (!take("\""))
      return false;
    size_t end = rest_.find('"');
    if (end == StringRef::npos)
      return false;
    value = rest_.take_front(end);
    rest_ = rest_.drop_front(end + 1);
    return true;
  }
  /// A symbol's name, quoted or not.
  bool takeName(StringRef &value) {
    if (!take("@"))
      return false;
    if (rest_.starts_with("\""))
      return takeString(value);
    value = rest_.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    rest_ = rest_.drop_front(value.size());
    return !value.empty();
  }
  /// `1,2,3` up to `end`, which is consumed; every number is in [least, kMaxDevices].
  bool takeList(StringRef end, int64_t least, SmallVectorImpl<int64_t> &values) {
    do {
      int64_t value;
      if (!takeNumber(value) || value < least || value > kMaxDevices)
        return false;
      values.push_back(value);
    } while (take(","));
    return take(end);
  }

private:
  StringRef rest_;
};

std::optional<StringRef> shardyText(Attribute attr) {
  auto opaque = dyn_cast_or_null<OpaqueAttr>(attr);
  if (!opaque || opaque.getDialectNamespace().getValue() != "sdy")
    return std::nullopt;
  return opaque.getAttrData();
}

/// A factor of a dimension of tiles: `size` steps of `stride` devices.
struct Piece {
  int64_t size, stride;
};

/// `{devices=[tiles…]<=[dims…]T(order…) last_tile_dim_replicate}`.
struct Tiling {
  SmallVector<int64_t> tiles;
  SmallVector<SmallVector<Piece>> pieces; // per entry of `tiles`
  int64_t numDevices = 1;

  static std::optional<Tiling> parse(StringRef text) {
    Reader reader(text);
    Tiling tiling;
    SmallVector<int64_t> dims, order;
    if (!reader.take("{") || !reader.take("devices=[") || !reader.takeList("]", 1, tiling.tiles) ||
        !reader.take("<=[") || !reader.takeList("]", 1, dims))
      return std::nullopt;
    if (!reader.take("T("))
      llvm::append_range(order, llvm::seq<int64_t>(0, dims.size()));
    else if (!reader.takeList(")", 0, order))
      return std::nullopt;
    bool replicatesLast =
        reader.take("last_tile_dim_replicate") || reader.take("last_tile_dims={replicated}");
    if (!reader.take("}") || !tiling.split(dims, order))
      return std::nullopt;
    if (replicatesLast) {
      tiling.tiles.pop_back();
      tiling.pieces.pop_back();
    }
    return tiling;
  }

private:
  /// Walks the transposed dimensions along with the tiles, from the major ones.
  bool split(ArrayRef<int64_t> dims, ArrayRef<int64_t> order) {
    SmallVector<Piece> known(dims.size()), open;
    for (int64_t dim = dims.size() - 1; dim >= 0; --dim) {
      known[dim] = {dims[dim], numDevices};
      if ((numDevices *= dims[dim]) > kMaxDevices)
        return false;
    }
    if (order.size() != dims.size())
      return false;
    SmallVector<bool> seen(dims.size(), false);
    for (int64_t dim : order) {
      if (dim >= static_cast<int64_t>(dims.size()) || seen[dim])
        return false;
      seen[dim] = true;
      if (known[dim].size > 1)
        open.push_back(known[dim]);
    }
    size_t next = 0;
    for (int64_t tile : tiles) {
      SmallVector<Piece> &parts = pieces.emplace_back();
      while (tile > 1) {
        if (next == open.size())
          return false;
        Piece &piece = open[next];
        if (tile % piece.size == 0) {
          parts.push_back(piece);
          tile /= piece.size;
          ++next;
        } else if (piece.size % tile == 0) {
          piece.size /= tile;
          parts.push_back({tile, piece.stride * piece.size});
          tile = 1;
        } else {
          return false;
        }
      }
    }
    return next == open.size();
  }
};

} // namespace

Shardings::Shardings(ModuleOp module) : context_(module.getContext()) {
  module.walk([&](Operation *op) {
    readDevices(op->getDiscardableAttrDictionary());
    if (op->getName().getStringRef() == "sdy.mesh")
      readMesh(op);
    if (auto func = dyn_cast<func::FuncOp>(op)) {
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        readDevices(func.getArgAttrDict(i));
      for (unsigned i = 0; i < func.getNumResults(); ++i)
        readDevices(func.getResultAttrDict(i));
    }
  });
  decideDeviceAxes();
}

/// `mesh<["x"=2, "y"=4]>`; Shardy's meshes of one device are ignored.
void Shardings::readMesh(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>("sym_name");
  std::optional<StringRef> text = shardyText(op->getAttr("mesh"));
  if (!name || !text)
    return;
  Reader reader(*text);
  SmallVector<Axis> axes;
  if (!reader.take("mesh") || !reader.take("<") || !reader.take("["))
    return;
  int64_t total = 1;
  do {
    StringRef axis;
    int64_t size;
    if (!reader.takeString(axis) || !reader.take("=") || !reader.takeNumber(size) || size < 1 ||
        size > kMaxDevices || (total *= size) > kMaxDevices)
      return;
    axes.push_back({axis.str(), size});
  } while (reader.take(","));
  if (reader.take("]") && reader.take(">"))
    meshes_[name.getValue().str()] = axes;
}

void Shardings::readDevices(DictionaryAttr attrs) {
  auto text = attrs ? attrs.getAs<StringAttr>(kDevices) : StringAttr();
  std::optional<Tiling> tiling = text ? Tiling::parse(text.getValue()) : std::nullopt;
  if (!tiling || (numDevices_ && tiling->numDevices != numDevices_))
    return;
  numDevices_ = tiling->numDevices;
  for (ArrayRef<Piece> pieces : tiling->pieces)
    for (Piece piece : pieces) {
      cuts_.insert(piece.stride);
      cuts_.insert(piece.stride * piece.size);
    }
}

/// One axis between each pair of neighbouring cuts, where each divides the next.
void Shardings::decideDeviceAxes() {
  if (!numDevices_)
    return;
  cuts_.insert(1);
  int64_t above = numDevices_;
  SmallVector<Axis> axes;
  for (int64_t cut : llvm::reverse(cuts_)) {
    if (cut == above)
      continue;
    if (above % cut != 0)
      return;
    axes.push_back({"d" + std::to_string(axes.size()), above / cut});
    strides_.push_back(cut);
    above = cut;
  }
  meshes_[kDeviceMesh.str()] = axes;
}

ShardingAttr Shardings::ignore(Location loc, const Twine &reason) const {
  emitRemark(loc) << "sharding annotation is ignored: " << reason;
  return {};
}

ShardingAttr Shardings::make(StringRef mesh, const Axes &dims, Location loc) {
  auto found = meshes_.find(mesh.str());
  if (found == meshes_.end())
    return ignore(loc, "no mesh @" + mesh + " is known");
  auto symbol = FlatSymbolRefAttr::get(context_, mesh);
  if (mesh_ && mesh_ != symbol)
    return ignore(loc, "it is on @" + mesh + ", others are on @" + mesh_.getValue());
  std::set<std::string> used;
  SmallVector<DimShardingAttr> attrs;
  for (const SmallVector<std::string> &axes : dims) {
    SmallVector<StringAttr> names;
    for (const std::string &axis : axes) {
      bool isKnown = llvm::any_of(found->second, [&](const Axis &a) { return a.name == axis; });
      if (!isKnown || !used.insert(axis).second)
        return ignore(loc, "axis '" + axis + "' is unknown or used twice");
      names.push_back(StringAttr::get(context_, axis));
    }
    attrs.push_back(DimShardingAttr::get(context_, names, 1));
  }
  mesh_ = symbol;
  return ShardingAttr::get(context_, symbol, attrs, {}, ReductionKind::Sum);
}

/// `sharding<@mesh, [{"x"}, {}, {"y", ?}], replicated={"z"}>`.
ShardingAttr Shardings::fromShardy(StringRef text, int64_t rank, Location loc) {
  Reader reader(text);
  StringRef mesh;
  Axes dims;
  if (!reader.take("sharding") || !reader.take("<") || !reader.takeName(mesh) ||
      !reader.take(",") || !reader.take("["))
    return ignore(loc, "it is not of the form <@mesh, […]>");
  bool isOpen = true;
  while (!reader.take("]")) {
    if (!reader.take("{"))
      return ignore(loc, "it is not of the form <@mesh, […]>");
    SmallVector<std::string> &axes = dims.emplace_back();
    bool isOpenDim = false;
    while (!reader.take("}")) {
      StringRef axis;
      if (reader.take("?"))
        isOpenDim = true;
      else if (!reader.takeString(axis))
        return ignore(loc, "it is not of the form <@mesh, […]>");
      else if (reader.take(":"))
        return ignore(loc, "a part of axis '" + axis + "' cannot be a sharding of its own");
      else
        axes.push_back(axis.str());
      reader.take(",");
    }
    isOpen &= isOpenDim && axes.empty();
    int64_t priority;
    if (reader.take("p"))
      reader.takeNumber(priority);
    reader.take(",");
  }
  if (static_cast<int64_t>(dims.size()) != rank)
    return ignore(loc, "it has " + Twine(dims.size()) + " dimensions for rank " + Twine(rank));
  // Everything may be chosen freely, so there is no constraint.
  if (isOpen && rank > 0)
    return {};
  return make(mesh, dims, loc);
}

ShardingAttr Shardings::fromDevices(StringRef text, int64_t rank, Location loc) {
  if (text == "{replicated}" && strides_.empty())
    return {};
  Axes dims(rank);
  if (text == "{replicated}")
    return make(kDeviceMesh, dims, loc);
  std::optional<Tiling> tiling = Tiling::parse(text);
  if (!tiling || tiling->numDevices != numDevices_ || strides_.empty())
    return ignore(loc, "'" + text + "' is no grid of the " + Twine(numDevices_) + " devices");
  if (static_cast<int64_t>(tiling->tiles.size()) != rank)
    return ignore(loc, "'" + text + "' has another rank than " + Twine(rank));
  for (auto [axes, pieces] : llvm::zip_equal(dims, tiling->pieces))
    for (Piece piece : pieces)
      for (auto [number, stride] : llvm::enumerate(strides_))
        if (stride >= piece.stride && stride < piece.stride * piece.size)
          axes.push_back("d" + std::to_string(number));
  return make(kDeviceMesh, dims, loc);
}

ShardingAttr Shardings::get(DictionaryAttr attrs, int64_t rank, Location loc) {
  if (!attrs)
    return {};
  for (StringRef name : {StringRef(kShardy), StringRef("sharding")})
    if (std::optional<StringRef> text = shardyText(attrs.get(name)))
      return fromShardy(*text, rank, loc);
  if (auto text = attrs.getAs<StringAttr>(kDevices))
    return fromDevices(text.getValue(), rank, loc);
  return {};
}

ShardingAttr Shardings::replicated(int64_t rank) const {
  return ShardingAttr::replicated(mesh_, rank);
}

void Shardings::createMesh(ModuleOp module) const {
  if (!mesh_)
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  SmallVector<StringRef> names;
  SmallVector<int64_t> sizes;
  for (const Axis &axis : meshes_.at(mesh_.getValue().str())) {
    names.push_back(axis.name);
    sizes.push_back(axis.size);
  }
  MeshOp::create(builder, module.getLoc(), mesh_.getValue(), builder.getStrArrayAttr(names),
                 builder.getDenseI64ArrayAttr(sizes));
}

} // namespace mlir::coll::stablehlo
