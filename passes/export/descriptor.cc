#include "passes/export/descriptor.h"

#include "dialect/notes.h"
#include "dialect/sharding.h"
#include "dialect/signature.h"
#include "passes/export/exec/plan_buffers.h"
#include "runtime/step/abi/abi.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::coll;
namespace json = llvm::json;

static constexpr StringRef kDtypeNames[] = {"f32", "f64", "f16",  "bf16",     "i8",    "i16",
                                            "i32", "i64", "bool", "f8e4m3fn", "f8e5m2"};

std::optional<int> mlir::coll::getDtype(Type type) {
  if (type.isF32())
    return 0;
  if (type.isF64())
    return 1;
  if (type.isF16())
    return 2;
  if (type.isBF16())
    return 3;
  if (type.isInteger(8) || type.isInteger(4)) // i4 is a byte in memory
    return 4;
  if (type.isInteger(16))
    return 5;
  if (type.isInteger(32))
    return 6;
  if (type.isInteger(64) || type.isIndex())
    return 7;
  if (type.isInteger(1))
    return 8;
  if (isa<Float8E4M3FNType>(type))
    return 9;
  if (isa<Float8E5M2Type>(type))
    return 10;
  return std::nullopt;
}

StringRef mlir::coll::getDtypeName(Type type) {
  std::optional<int> dtype = getDtype(type);
  return dtype ? kDtypeNames[*dtype] : "";
}

/// The first location of type T within `loc`, outermost first.
template <typename T>
static T findLocation(Location loc) {
  T found;
  loc->walk([&](Location inner) {
    if ((found = dyn_cast<T>(inner)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return found;
}

std::string mlir::coll::getSourceText(Location loc) {
  auto file = findLocation<FileLineColLoc>(loc);
  if (!file)
    return "";
  return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
          Twine(file.getColumn()))
      .str();
}

std::string mlir::coll::getSourceName(Location loc) {
  auto name = findLocation<NameLoc>(loc);
  return name ? name.getName().str() : "";
}

int32_t DescriptorBuilder::addGroup(GroupAttr group) {
  Group lists = getGroupLists(group, mesh_);
  std::vector<std::vector<int64_t>> key;
  for (auto &list : lists)
    key.emplace_back(list.begin(), list.end());
  auto [it, isNew] = groupIndex_.try_emplace(key, static_cast<int32_t>(groups_.size()));
  if (isNew)
    groups_.push_back(std::move(lists));
  return it->second;
}

int32_t DescriptorBuilder::addReached(GroupAttr group) {
  int32_t index = addGroup(group);
  if (reached_ < 0)
    reached_ = index;
  return index;
}

int32_t DescriptorBuilder::addOp(Block &body, Location loc) {
  auto comm = cast<CollectiveOpInterface>(body.front());
  Op &op = ops_.emplace_back();
  op.kind = comm->getName().stripDialect().str();
  op.function = comm->getParentOfType<exec::FunctionOp>().getSymName().str();
  op.loc = getSourceText(loc);
  op.name = getSourceName(loc);
  op.group = addGroup(comm.getCommGroup());
  if (auto reduction = comm.getCommReduction())
    op.reduction = stringifyReductionKind(*reduction).str();
  op.why = describeWhy(comm);
  // The size of a transfer is that of its larger side.
  for (Value side : {comm.getCommInput(), comm.getCommResult()}) {
    if (!side || getBytes(side.getType()) < op.bytes)
      continue;
    auto type = cast<RankedTensorType>(side.getType());
    op.bytes = getBytes(type);
    op.count = type.getNumElements();
    op.dtype = getDtypeName(type.getElementType()).str();
  }
  const auto sayFirst = [&](size_t tensors) {
    op.why = std::to_string(tensors) + " tensors in one call" +
             (op.why.empty() ? "" : ", the first: " + op.why);
  };
  if (auto packed = comm->getAttrOfType<ArrayAttr>(kTensorsAttr))
    sayFirst(packed.size());
  if (const size_t others = body.getOperations().size() - 2) {
    sayFirst(others + 1);
    op.bytes = exec::getBucketBytes(body);
    op.count = op.bytes / getElementBytes(getElementTypeOrSelf(comm->getResult(0).getType()));
  }
  return ops_.size() - 1;
}

int32_t DescriptorBuilder::addComputation(StringRef kind, Location loc) {
  Computation computation{kind.str(), getSourceText(loc), getSourceName(loc)};
  auto [it, isNew] = computationIndex_.try_emplace(
      {computation.kind, computation.loc, computation.name},
      kCollFirstComputation - static_cast<int32_t>(computations_.size()));
  if (isNew)
    computations_.push_back(std::move(computation));
  return it->second;
}

static json::Array toJson(ArrayRef<int64_t> numbers) {
  return json::Array(llvm::map_range(numbers, [](int64_t n) { return json::Value(n); }));
}

/// Inclusive ranges of ascending numbers.
static json::Array toRanges(ArrayRef<int64_t> ranks) {
  json::Array ranges;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i;
    while (end + 1 < ranks.size() && ranks[end + 1] == ranks[end] + 1)
      ++end;
    ranges.push_back(json::Array{ranks[i], ranks[end]});
    i = end + 1;
  }
  return ranges;
}

static std::string getString(DictionaryAttr attrs, StringRef name, StringRef otherwise = "") {
  auto text = attrs ? attrs.getAs<StringAttr>(name) : StringAttr();
  return (text ? text.getValue() : otherwise).str();
}

/// The states that lie in an argument (coll.parts).
static json::Array describeParts(ArrayAttr parts) {
  json::Array list;
  for (auto part : parts.getAsRange<DictionaryAttr>()) {
    auto type = cast<RankedTensorType>(part.getAs<TypeAttr>("type").getValue());
    list.push_back(json::Object{{"name", getString(part, "name")},
                                {"offset", part.getAs<IntegerAttr>("offset").getInt()},
                                {"state", part.getAs<IntegerAttr>("state").getInt()},
                                {"shape", toJson(type.getShape())}});
  }
  return list;
}

/// Name, role, type and sharding of an argument or a result.
static json::Object describeValue(Type local, DictionaryAttr attrs, StringRef defaultRole) {
  auto type = cast<RankedTensorType>(local), global = type;
  if (auto attr = attrs ? attrs.getAs<TypeAttr>(kGlobalTypeAttr) : TypeAttr())
    if (auto whole = dyn_cast<RankedTensorType>(attr.getValue()))
      global = whole;
  auto sharding = attrs ? attrs.getAs<ShardingAttr>(kShardingAttr) : ShardingAttr();
  json::Array dims;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    json::Array axes;
    int64_t unit = 1;
    if (sharding && d < static_cast<int64_t>(sharding.getDims().size())) {
      unit = sharding.getDims()[d].getUnit();
      for (StringAttr axis : sharding.getDims()[d].getAxes())
        axes.push_back(axis.getValue());
    }
    dims.push_back(json::Object{{"axes", std::move(axes)}, {"unit", unit}});
  }
  json::Object value{{"name", getString(attrs, kNameAttr)},
                     {"role", getString(attrs, kRoleAttr, defaultRole)},
                     {"dtype", getDtypeName(type.getElementType())},
                     {"shape", toJson(global.getShape())},
                     {"local", toJson(type.getShape())},
                     {"sharding", std::move(dims)}};
  if (auto index = attrs ? attrs.getAs<IntegerAttr>(kIndexAttr) : IntegerAttr())
    value["index"] = index.getInt();
  if (auto parts = attrs ? attrs.getAs<ArrayAttr>(kPartsAttr) : ArrayAttr())
    value["parts"] = describeParts(parts);
  return value;
}

/// The largest content of the arena, which messages about too little memory name.
static json::Object describeLargest(exec::FunctionOp step) {
  exec::ViewOp largest;
  step.walk([&](exec::ViewOp view) {
    if (view.getBase() == step.getArena() && (!largest || view.getBytes() > largest.getBytes()))
      largest = view;
  });
  if (!largest)
    return {};
  return json::Object{{"bytes", static_cast<int64_t>(largest.getBytes())},
                      {"loc", getSourceText(largest.getLoc())},
                      {"name", getSourceName(largest.getLoc())}};
}

std::string DescriptorBuilder::write(exec::FunctionOp step, int64_t arenaBytes,
                                     bool isOnGpu) const {
  json::Array axes, groups, ops, computations, args, results;
  MeshOp mesh = mesh_;
  if (mesh) {
    for (auto [name, size] :
         llvm::zip_equal(mesh.getAxisNames().getAsValueRange<StringAttr>(), mesh.getAxisSizes()))
      axes.push_back(json::Object{{"name", name}, {"size", size}});
  } else if (worldSize_ > 1) {
    axes.push_back(json::Object{{"name", "rank"}, {"size", worldSize_}});
  }
  for (const Group &group : groups_) {
    json::Array lists;
    for (const auto &list : group)
      lists.push_back(toJson(list));
    groups.push_back(std::move(lists));
  }
  for (const Op &op : ops_)
    ops.push_back(json::Object{{"kind", op.kind},
                               {"function", op.function},
                               {"loc", op.loc},
                               {"name", op.name},
                               {"bytes", op.bytes},
                               {"count", op.count},
                               {"dtype", op.dtype},
                               {"reduction", op.reduction},
                               {"group", op.group},
                               {"why", op.why}});
  for (const Computation &computation : computations_)
    computations.push_back(json::Object{
        {"kind", computation.kind}, {"loc", computation.loc}, {"name", computation.name}});
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    args.push_back(describeValue(step.getSignature().getInput(i), step.getArgAttrDict(i), "batch"));
  for (unsigned k = 0; k < step.getNumResults(); ++k) {
    json::Object result =
        describeValue(step.getSignature().getResult(k), step.getResultAttrDict(k),
                      step.getUpdates()[k] >= 0 ? StringRef(kRoleState) : StringRef("output"));
    result["arg"] = step.getUpdates()[k];
    results.push_back(std::move(result));
  }
  StringRef meshName = mesh ? mesh.getSymName() : StringRef("");
  json::Object root{{"abi", int64_t{kCollAbiVersion}},
                    {"name", step.getSymName()},
                    {"mesh", json::Object{{"name", meshName}, {"axes", std::move(axes)}}},
                    {"ranks", toRanges(ranks_)},
                    {"groups", std::move(groups)},
                    {"ops", std::move(ops)},
                    {"computations", std::move(computations)},
                    {"args", std::move(args)},
                    {"results", std::move(results)},
                    {"arena_bytes", arenaBytes},
                    {"largest_temporary", describeLargest(step)},
                    {"device", isOnGpu ? "gpu" : "cpu"}};
  if (reached_ >= 0)
    root["reached"] = reached_;
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(root));
  return text;
}
