//===- stablehlo_shardings.cc - shardings in the text of a step ------------------===//

#include "passes/import/stablehlo_shardings.h"

#include "dialect/sharding.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::coll::stablehlo {

namespace {

constexpr StringLiteral kShardy = "sdy.sharding";
constexpr StringLiteral kDevices = "mhlo.sharding";
constexpr StringLiteral kDeviceMesh = "devices";

std::optional<StringRef> shardyText(Attribute attr) {
  auto opaque = dyn_cast_or_null<OpaqueAttr>(attr);
  if (!opaque || opaque.getDialectNamespace().getValue() != "sdy")
    return std::nullopt;
  return opaque.getAttrData();
}

/// Axes of size 1 split nothing.
bool hasAxes(const ShardyText &text) {
  return !text.replicated.empty() ||
         llvm::any_of(text.dims, [](const DimText &dim) { return !dim.axes.empty(); });
}

std::string listOf(ArrayRef<MeshText::Axis> axes) {
  std::string text;
  for (const MeshText::Axis &axis : axes)
    text += (text.empty() ? "'" : ", '") + axis.name + "'";
  return text.empty() ? "none" : text;
}

std::string toString(const AxisText &axis) {
  std::string text = "'" + axis.name + "'";
  if (axis.size)
    text += ":(" + std::to_string(axis.before) + ")" + std::to_string(axis.size);
  return text;
}

} // namespace

//===----------------------------------------------------------------------===//
// The mesh
//===----------------------------------------------------------------------===//

Shardings::Shardings(ModuleOp module) : context_(module.getContext()) {
  for (Operation &op : *module.getBody()) {
    auto name = op.getAttrOfType<StringAttr>("sym_name");
    if (!name || op.getName().getStringRef() != "sdy.mesh")
      continue;
    KnownMesh &mesh = meshes_["@" + name.getValue().str()];
    mesh.text = readMesh(shardyText(op.getAttr("mesh")).value_or(""));
    mesh.loc = op.getLoc();
  }
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto func = dyn_cast<func::FuncOp>(op)) {
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        readShardings(func.getArgAttr(i, kShardy), func.getArgAttr(i, kDevices), 1);
      for (unsigned i = 0; i < func.getNumResults(); ++i)
        readShardings(func.getResultAttr(i, kShardy), func.getResultAttr(i, kDevices), 1);
      return;
    }
    const unsigned numResults = op->getNumResults();
    readShardings(op->getAttr(kShardy), op->getAttr(kDevices), numResults);
    readShardings(op->getAttr("sharding"), {}, numResults);
  });
  decideAxes();
}

void Shardings::readShardings(Attribute shardy, Attribute devices, unsigned numValues) {
  std::optional<StringRef> text = shardyText(shardy);
  if (text && seen_.insert(*text).second)
    for (unsigned index = 0; index < numValues; ++index)
      if (std::optional<ShardyText> one = readShardy(*text, index))
        note(*one);
  auto tiles = dyn_cast_or_null<StringAttr>(devices);
  if (tiles && seen_.insert(tiles.getValue()).second)
    for (unsigned index = 0; index < numValues; ++index)
      if (std::optional<TilingText> one = readTiling(tiles.getValue(), index))
        note(*one);
}

Shardings::KnownMesh *Shardings::find(const ShardyText &text) {
  if (text.inlineMesh) {
    std::string key = "mesh";
    for (const MeshText::Axis &axis : text.inlineMesh->axes)
      key += "_" + axis.name + "=" + std::to_string(axis.size);
    // Meshes of the same axes may order the devices in different ways.
    for (int64_t device : text.inlineMesh->devices)
      key += "," + std::to_string(device);
    KnownMesh &mesh = meshes_[key];
    mesh.text = *text.inlineMesh;
    return &mesh;
  }
  auto found = meshes_.find("@" + text.mesh);
  return found == meshes_.end() ? nullptr : &found->second;
}

void Shardings::noteDevices(int64_t count, ArrayRef<int64_t> list) {
  if (numDevices_ > 1 && count > 1 && count != numDevices_)
    conflict_ = "one of them is over " + std::to_string(numDevices_) + " devices, another over " +
                std::to_string(count) + "; shard all values over one mesh";
  numDevices_ = std::max(numDevices_, count);
  if (!list.empty())
    grid_.addList(list);
}

void Shardings::note(const ShardyText &text) {
  KnownMesh *mesh = find(text);
  if (!mesh || !mesh->text.problem.empty() || mesh->text.axes.empty())
    return;
  if (firstMesh_.empty())
    firstMesh_ = text.inlineMesh ? "mesh" : text.mesh;
  // Functions of a step have these names.
  if (firstMesh_ == kStepFunction || firstMesh_ == kInitFunction)
    firstMesh_ = kDeviceMesh;
  noteDevices(mesh->text.numDevices(), mesh->text.devices);
  shardy_.push_back(text);
}

void Shardings::note(const TilingText &text) {
  if (text.kind != TilingText::Kind::Tiled || text.numDevices() == 1)
    return;
  noteDevices(text.numDevices(), text.devices);
  tilings_.push_back(text);
}

/// Cuts the devices by the axes of `mesh`; whether that is possible.
bool Shardings::cutMesh(KnownMesh &mesh) {
  const MeshText &text = mesh.text;
  SmallVector<Pieces> parts(text.axes.size());
  // A mesh of one device may stand beside another mesh.
  if (text.numDevices() > 1) {
    SmallVector<int64_t> sizes, order;
    llvm::append_range(order, llvm::seq<int64_t>(0, text.axes.size()));
    for (const MeshText::Axis &axis : text.axes)
      sizes.push_back(axis.size);
    auto cut = grid_.cut(sizes, sizes, order, text.devices);
    if (!cut)
      return false;
    parts = *cut;
  }
  for (auto [axis, part] : llvm::zip_equal(text.axes, parts)) {
    mesh.axes[axis.name] = part;
    grid_.add(part, axis.name);
    // Axes of size 1 stay, since other options may name them.
    auto hasName = [&, &axis = axis](const MeshText::Axis &other) {
      return other.name == axis.name;
    };
    if (axis.size == 1 && llvm::none_of(axes_, hasName))
      axes_.push_back(axis);
  }
  return true;
}

void Shardings::decideAxes() {
  if (!numDevices_ || !conflict_.empty())
    return;
  std::set<const KnownMesh *> meshes;
  for (const ShardyText &text : shardy_) {
    KnownMesh *mesh = find(text);
    if (meshes.insert(mesh).second && !cutMesh(*mesh)) {
      conflict_ = "their meshes order the devices in different ways; make all meshes from one "
                  "list of devices";
      return;
    }
  }
  for (const ShardyText &text : shardy_) {
    auto cutParts = [&, &mesh = *find(text)](ArrayRef<AxisText> axes) {
      for (const AxisText &axis : axes)
        if (std::optional<Pieces> part = piecesOf(mesh, axis))
          grid_.add(*part);
    };
    for (const DimText &dim : text.dims)
      cutParts(dim.axes);
    cutParts(text.replicated);
  }
  for (const TilingText &text : tilings_)
    if (auto pieces = piecesOf(text))
      for (ArrayRef<Piece> part : *pieces)
        grid_.add(part);
  if (!grid_.finish(numDevices_)) {
    conflict_ = "they cut the " + std::to_string(numDevices_) +
                " devices into blocks of which none divides the other; use one mesh whose axes "
                "are factors of both";
    return;
  }
  // The name of an axis of size 1 is dropped if a longer axis has the same one.
  llvm::erase_if(axes_, [&](const MeshText::Axis &axis) {
    return llvm::any_of(grid_.axes(), [&](const auto &other) { return other.name == axis.name; });
  });
  for (const DeviceGrid::Axis &axis : grid_.axes())
    axes_.push_back({axis.name, axis.size});
}

std::optional<Pieces> Shardings::piecesOf(const KnownMesh &mesh, const AxisText &axis) const {
  auto found = mesh.axes.find(axis.name);
  if (found == mesh.axes.end())
    return std::nullopt;
  return axis.size ? cutOut(found->second, axis.before, axis.size) : found->second;
}

std::optional<SmallVector<Pieces>> Shardings::piecesOf(const TilingText &text) const {
  auto pieces = grid_.cut(text.tiles, text.grid, text.order, text.devices);
  if (pieces)
    pieces->truncate(text.tiles.size() - text.numGroups);
  return pieces;
}

LogicalResult Shardings::checkGrid(Location loc) const {
  if (conflict_.empty())
    return success();
  return emitError(loc) << "this sharding and others cannot stand on one mesh: " << conflict_;
}

//===----------------------------------------------------------------------===//
// One sharding
//===----------------------------------------------------------------------===//

ShardingAttr Shardings::make(ArrayRef<SmallVector<StringAttr>> dims) {
  isUsed_ = true;
  auto mesh = FlatSymbolRefAttr::get(context_, firstMesh_.empty() ? kDeviceMesh.str() : firstMesh_);
  SmallVector<DimShardingAttr> attrs;
  for (ArrayRef<StringAttr> axes : dims)
    attrs.push_back(DimShardingAttr::get(context_, axes, 1));
  return ShardingAttr::get(context_, mesh, attrs, {}, ReductionKind::Sum);
}

/// The mesh's axes for those of a text, none of which may be `used` already.
FailureOr<SmallVector<StringAttr>> Shardings::axesOf(const KnownMesh &mesh, ArrayRef<AxisText> axes,
                                                     llvm::StringSet<> &used, Location loc) {
  SmallVector<StringAttr> names;
  for (const AxisText &axis : axes) {
    if (!mesh.axes.count(axis.name))
      return emitError(loc) << "this sharding names axis '" << axis.name
                            << "', but the axes of its mesh are " << listOf(mesh.text.axes);
    std::optional<Pieces> pieces = piecesOf(mesh, axis);
    if (!pieces)
      return emitError(loc)
             << "this sharding names " << toString(axis)
             << ", which is not a part of its axis: before and size must multiply to a "
                "divisor of the axis' size";
    for (const std::string &name : grid_.axesOf(*pieces)) {
      if (!used.insert(name).second)
        return emitError(loc) << "this sharding uses " << toString(axis)
                              << " twice, or parts of it that overlap; each part of an axis can "
                                 "split one dimension";
      names.push_back(StringAttr::get(context_, name));
    }
  }
  return names;
}

Shardings::Result Shardings::fromShardy(StringRef attribute, int64_t rank, Location loc,
                                        unsigned index) {
  std::optional<ShardyText> text = readShardy(attribute, index);
  if (!text)
    return emitError(loc) << "'" << attribute
                          << "' is not of the form sharding<@mesh, [{\"axis\"}, {}, {?}]>";
  KnownMesh *mesh = find(*text);
  if (!mesh)
    return emitError(loc) << "this sharding is on mesh @" << text->mesh
                          << ", which the module does not have";
  if (!mesh->text.problem.empty())
    return emitError(mesh->loc.value_or(loc))
           << (mesh->loc ? "mesh @" + text->mesh : "the mesh of this sharding") << " "
           << mesh->text.problem;
  // A tensor that is on one device as a whole, like XLA's {maximal device=0}.
  if (text->dims.empty() && mesh->text.axes.empty() && !mesh->text.devices.empty())
    return WrittenSharding();
  if (static_cast<int64_t>(text->dims.size()) != rank)
    return emitError(loc) << "this sharding has " << text->dims.size()
                          << " dimensions, its tensor has " << rank;
  if (failed(checkGrid(loc)))
    return failure();
  WrittenSharding written;
  // Contributions stay partial until an operation needs their sum, whether the text says so or not.
  if (!text->unreduced.empty())
    return written;
  SmallVector<SmallVector<StringAttr>> dims;
  llvm::StringSet<> used;
  for (auto [number, dim] : llvm::enumerate(text->dims)) {
    auto axes = axesOf(*mesh, dim.axes, used, loc);
    if (failed(axes))
      return failure();
    dims.push_back(*axes);
    if (dim.isOpen)
      written.openDims.push_back(number);
  }
  auto replicated = axesOf(*mesh, text->replicated, used, loc);
  if (failed(replicated))
    return failure();
  written.replicated = *replicated;
  const bool isFree =
      rank > 0 && static_cast<int64_t>(written.openDims.size()) == rank && !hasAxes(*text);
  if (!isFree && numDevices_)
    written.sharding = make(dims);
  return written;
}

Shardings::Result Shardings::fromDevices(StringRef attribute, int64_t rank, Location loc,
                                         unsigned index) {
  using Kind = TilingText::Kind;
  std::optional<TilingText> text = readTiling(attribute, index);
  if (!text)
    return emitError(loc) << "'" << attribute
                          << "' is not of the form {devices=[2,1]<=[2]}, {devices=[2,1]0,1} or "
                             "{replicated}";
  if (text->kind == Kind::Manual)
    return emitError(loc) << "shard_map is not supported: the step must be written for one "
                             "device; constrain shardings with jax.lax.with_sharding_constraint";
  WrittenSharding written;
  SmallVector<SmallVector<StringAttr>> dims(rank);
  if (text->kind == Kind::Tiled) {
    if (failed(checkGrid(loc)))
      return failure();
    std::optional<SmallVector<Pieces>> pieces = piecesOf(*text);
    if (!pieces)
      return emitError(loc) << "'" << attribute << "' is not a grid of the " << numDevices_
                            << " devices; make all meshes from one list of devices";
    if (static_cast<int64_t>(pieces->size()) != rank)
      return emitError(loc) << "'" << attribute << "' splits " << pieces->size()
                            << " dimensions, its tensor has " << rank;
    for (auto [axes, part] : llvm::zip_equal(dims, *pieces))
      for (const std::string &name : grid_.axesOf(part))
        axes.push_back(StringAttr::get(context_, name));
  }
  if (numDevices_ && (text->kind == Kind::Tiled || text->kind == Kind::Replicated))
    written.sharding = make(dims);
  return written;
}

FailureOr<WrittenSharding> Shardings::get(DictionaryAttr attrs, int64_t rank, Location loc,
                                          unsigned index) {
  if (!attrs)
    return WrittenSharding();
  for (StringRef name : {StringRef(kShardy), StringRef("sharding")})
    if (Attribute shardy = attrs.get(name)) {
      if (std::optional<StringRef> text = shardyText(shardy))
        return fromShardy(*text, rank, loc, index);
      return emitError(loc) << "this sharding is " << shardy
                            << ", but has to be of the form #sdy.sharding<@mesh, [{\"axis\"}, {}]>";
    }
  Attribute devices = attrs.get(kDevices);
  if (!devices)
    return WrittenSharding();
  auto text = dyn_cast<StringAttr>(devices);
  if (!text)
    return emitError(loc) << "this sharding is " << devices
                          << ", but has to be a string like \"{devices=[2,1]<=[2]}\"";
  Result written = fromDevices(text.getValue(), rank, loc, index);
  auto options = attrs.getAs<StringAttr>("backend_config");
  if (succeeded(written) && options)
    for (int64_t dim : readUnspecifiedDims(options.getValue()))
      if (dim < rank)
        written->openDims.push_back(dim);
  return written;
}

ShardingAttr Shardings::replicated(int64_t rank) const {
  auto mesh = FlatSymbolRefAttr::get(context_, firstMesh_.empty() ? kDeviceMesh.str() : firstMesh_);
  return ShardingAttr::replicated(mesh, rank);
}

void Shardings::createMesh(ModuleOp module) const {
  if (!isUsed_)
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  SmallVector<StringRef> names;
  SmallVector<int64_t> sizes;
  for (const MeshText::Axis &axis : axes_) {
    names.push_back(axis.name);
    sizes.push_back(axis.size);
  }
  MeshOp::create(builder, module.getLoc(), firstMesh_.empty() ? kDeviceMesh.str() : firstMesh_,
                 builder.getStrArrayAttr(names), builder.getDenseI64ArrayAttr(sizes));
}

} // namespace mlir::coll::stablehlo
