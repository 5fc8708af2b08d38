//===- words.cc - shardings and collectives in words -----------------------------===//

#include "tools/coll-lsp-server/words.h"

#include "dialect/notes.h"
#include "dialect/sharding.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::coll;

namespace coll::lsp {
namespace {

std::string quoted(ArrayRef<StringAttr> axes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      axes, stream, [&](StringAttr axis) { stream << '"' << axis.getValue() << '"'; }, ", ");
  return text;
}

std::string formatBytes(int64_t bytes) {
  if (bytes < 1024)
    return llvm::formatv("{0} bytes", bytes);
  static constexpr const char *kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  double value = bytes / 1024.0;
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit)
    value /= 1024;
  return llvm::formatv("{0:f1} {1}", value, kUnits[unit]);
}

int64_t bytesOf(RankedTensorType type) {
  Type element = type.getElementType();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return type.getNumElements() * ((bits + 7) / 8);
}

std::string printed(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << '`' << type << '`';
  return text;
}

std::string describeGroup(GroupAttr group, MeshOp mesh) {
  if (!group.isMesh()) {
    int64_t lists = group.getLists().size();
    return llvm::formatv("{0} ranks each, in {1} group{2} that the operation lists",
                         group.getLists().front().size(), lists, lists == 1 ? "" : "s");
  }
  int64_t size = getGroupSize(group, mesh);
  int64_t groups = mesh.getNumRanks() / size;
  return llvm::formatv(
      "{0} ranks along {1} of @{2}{3}", size, quoted(group.getAxes()), mesh.getSymName(),
      groups == 1 ? std::string() : llvm::formatv(", in {0} groups at once", groups).str());
}

/// Bytes that a rank contributes and receives.
std::string describeTraffic(CollectiveOpInterface op) {
  auto bytes = [](Value value) -> std::string {
    auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : nullptr;
    return type ? formatBytes(bytesOf(type)) : "";
  };
  std::string in = bytes(op.getCommInput()), out = bytes(op.getCommResult());
  if (in.empty() && out.empty())
    return "";
  std::string text = "each rank ";
  if (!in.empty())
    text += "contributes " + in;
  if (!out.empty())
    text += (in.empty() ? "gets " : ", gets ") + out;
  return text;
}

void addLine(std::string &text, StringRef label, StringRef line) {
  if (!line.empty())
    text += "\n\n**" + label.str() + "**: " + line.str();
}

std::string describeCollective(CollectiveOpInterface op) {
  GroupAttr group = op.getCommGroup();
  MeshOp mesh = group.isMesh() ? lookupMesh(op, group.getMesh()) : MeshOp();
  if (group.isMesh() && !mesh)
    return "";
  std::string text = "**" + op->getName().getStringRef().str() + "**";
  if (auto kind = op.getCommReduction())
    text += ": " + stringifyReductionKind(*kind).str();
  if (op.getCommOrder() == Order::Rank)
    text += ", in rank order";
  if (auto root = op.getCommRoot())
    text += llvm::formatv(", root {0}", *root);
  addLine(text, "Ranks", describeGroup(group, mesh));
  addLine(text, "Bytes", describeTraffic(op));
  return text;
}

std::string describeReshard(ReshardOp op) {
  ShardingAttr source = op.getSource(), target = op.getTarget();
  MeshOp mesh = lookupMesh(op, source.getMesh());
  auto type = dyn_cast<RankedTensorType>(op.getInput().getType());
  if (!mesh || !type)
    return "";
  std::string text = "**coll.reshard**";
  addLine(text, "From", describeSharding(source, mesh, type));
  addLine(text, "To", describeSharding(target, mesh, type));
  addLine(text, "Bytes",
          llvm::formatv("each rank holds {0} before, {1} after",
                        formatBytes(bytesOf(getLocalType(mesh, source, type))),
                        formatBytes(bytesOf(getLocalType(mesh, target, type))))
              .str());
  return text;
}

std::string describeMesh(MeshOp mesh) {
  std::string text =
      llvm::formatv("**mesh @{0}**: {1} ranks", mesh.getSymName(), mesh.getNumRanks());
  for (auto [name, size] : llvm::zip(mesh.getAxisNames(), mesh.getAxisSizes()))
    text += llvm::formatv("\n- \"{0}\": {1}", cast<StringAttr>(name).getValue(), size);
  return text;
}

} // namespace

std::string describeSharding(ShardingAttr sharding, MeshOp mesh, RankedTensorType global) {
  std::vector<std::string> parts;
  for (auto [number, dim] : llvm::enumerate(sharding.getDims())) {
    if (dim.getAxes().empty())
      continue;
    int64_t extent = global.getDimSize(number);
    parts.push_back(llvm::formatv("dimension {0} ({1}) is split over {2}: {3} shards of {4}{5}",
                                  number, extent, quoted(dim.getAxes()), getNumShards(mesh, dim),
                                  getBlockExtent(mesh, dim, extent),
                                  isUneven(mesh, dim, extent) ? ", the last ones shorter" : ""));
  }
  if (parts.empty())
    parts.push_back(sharding.isPartial() ? "not split" : "whole on every rank");
  if (sharding.isPartial())
    parts.push_back(llvm::formatv("partial: each rank along {0} holds one contribution to the {1}",
                                  quoted(sharding.getPartialAxes()),
                                  stringifyReductionKind(sharding.getPartialKind())));
  return llvm::join(parts, "; ");
}

std::string describeLocal(ShardingAttr sharding, MeshOp mesh, RankedTensorType global) {
  RankedTensorType local = getLocalType(mesh, sharding, global);
  std::string text = printed(local) + ", " + formatBytes(bytesOf(local));
  return local == global ? text : text + " of " + formatBytes(bytesOf(global));
}

std::string describeSource(Location location, StringRef self) {
  std::string found;
  location->walk([&](Location inner) {
    auto place = dyn_cast<FileLineColRange>(inner);
    if (!place || place.getFilename().getValue() == self)
      return WalkResult::advance();
    found = llvm::formatv("{0}:{1}:{2}", place.getFilename().getValue(), place.getStartLine(),
                          place.getStartColumn());
    return WalkResult::interrupt();
  });
  return found;
}

std::string describeOperation(Operation *op, Location location) {
  std::string text;
  if (auto mesh = dyn_cast<MeshOp>(op))
    return describeMesh(mesh);
  if (auto reshard = dyn_cast<ReshardOp>(op))
    text = describeReshard(reshard);
  else if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    text = describeCollective(collective);
  if (text.empty())
    return text;
  if (std::string why = describeWhy(op); !why.empty())
    addLine(text, "Why", why);
  addLine(text, "Source", describeSource(location, kSelf));
  return text;
}

} // namespace coll::lsp
