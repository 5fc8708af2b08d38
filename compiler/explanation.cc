//===- explanation.cc -------------------------------------------------------------===//

#include "compiler/explanation.h"

#include "compiler/error.h"
#include "dialect/dialect.h"
#include "dialect/sharding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/analysis/reshard_plans.h"
#include "passes/analysis/step_cost.h"
#include "passes/export/descriptor.h"

namespace coll::run {
namespace {

using namespace mlir::coll;

std::string toText(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

ExplainedCollective explain(const CollectiveCost &cost, MeshOp mesh) {
  auto op = llvm::cast<CollectiveOpInterface>(cost.op);
  ExplainedCollective entry;
  entry.kind = op->getName().stripDialect().str();
  if (auto reduction = op.getCommReduction())
    entry.reduction = stringifyReductionKind(*reduction).str();
  GroupAttr group = op.getCommGroup();
  for (mlir::StringAttr axis : group.getAxes())
    entry.axes.push_back(axis.str());
  entry.groupSize = getGroupSize(group, mesh);
  if (mlir::Value value = op.getCommInput() ? op.getCommInput() : op.getCommResult())
    entry.value = toText(value.getType());
  entry.location = getSourceText(op->getLoc());
  entry.name = getSourceName(op->getLoc());
  if (auto why = op->getAttrOfType<mlir::StringAttr>(kWhyAttr))
    entry.why = why.str();
  entry.wireBytes = cost.wireBytes;
  entry.calls = cost.calls;
  entry.isCounted = cost.isCounted;
  entry.microseconds = cost.microseconds;
  return entry;
}

llvm::Expected<plan::CostModel> makeModel(const plan::Mesh &mesh, const std::string &file) {
  plan::Topology topology = plan::assumedTopology(mesh.numRanks());
  if (!file.empty()) {
    auto read = plan::readTopology(file);
    if (!read.ok())
      return makeError(read.error());
    topology = std::move(*read);
  }
  auto model = plan::CostModel::overTopology(topology, mesh);
  if (!model.ok())
    return makeError((file.empty() ? "" : file + ": ") + model.error());
  return std::move(*model);
}

/// The number of ranks that lists of ranks name.
int64_t countListed(mlir::func::FuncOp step) {
  int64_t ranks = 1;
  step.walk([&](CollectiveOpInterface op) {
    if (GroupAttr group = op.getCommGroup(); group && !group.isMesh())
      for (mlir::DenseI64ArrayAttr list : group.getLists())
        for (int64_t rank : list.asArrayRef())
          ranks = std::max(ranks, rank + 1);
  });
  return ranks;
}

} // namespace

llvm::Expected<Explanation> explainStep(mlir::ModuleOp module, int64_t ranks,
                                        const std::string &topology) {
  Explanation explanation;
  auto step = module.lookupSymbol<mlir::func::FuncOp>(kStepFunction);
  if (!step || step.isExternal())
    return explanation;
  MeshOp mesh;
  for (MeshOp found : module.getOps<MeshOp>())
    mesh = found;
  plan::Mesh axes;
  if (mesh)
    axes = toPlanMesh(mesh);
  else
    axes.axes.push_back({"rank", std::max(ranks, countListed(step))});
  auto model = makeModel(axes, topology);
  if (!model)
    return model.takeError();
  const StepCost cost = getStepCost(step, mesh, *model);
  explanation.topology = topology;
  for (const CollectiveCost &collective : cost.collectives)
    explanation.collectives.push_back(explain(collective, mesh));
  explanation.wireBytes = cost.wireBytes;
  explanation.computeUs = cost.computeUs;
  explanation.communicationUs = cost.communicationUs;
  return explanation;
}

static llvm::json::Value toJSON(const ExplainedCollective &entry) {
  return llvm::json::Object{{"kind", entry.kind},
                            {"reduction", entry.reduction},
                            {"axes", llvm::json::Array(entry.axes)},
                            {"group_size", entry.groupSize},
                            {"value", entry.value},
                            {"location", entry.location},
                            {"name", entry.name},
                            {"why", entry.why},
                            {"wire_bytes", entry.wireBytes},
                            {"calls", entry.calls},
                            {"is_counted", entry.isCounted},
                            {"microseconds", entry.microseconds}};
}

static bool fromJSON(const llvm::json::Value &value, ExplainedCollective &entry,
                     llvm::json::Path path) {
  llvm::json::ObjectMapper map(value, path);
  return map && map.map("kind", entry.kind) && map.map("reduction", entry.reduction) &&
         map.map("axes", entry.axes) && map.map("group_size", entry.groupSize) &&
         map.map("value", entry.value) && map.map("location", entry.location) &&
         map.map("name", entry.name) && map.map("why", entry.why) &&
         map.map("wire_bytes", entry.wireBytes) && map.map("calls", entry.calls) &&
         map.map("is_counted", entry.isCounted) && map.map("microseconds", entry.microseconds);
}

llvm::json::Value toJSON(const Explanation &explanation) {
  return llvm::json::Object{{"topology", explanation.topology},
                            {"collectives", llvm::json::Array(explanation.collectives)},
                            {"wire_bytes", explanation.wireBytes},
                            {"compute_us", explanation.computeUs},
                            {"communication_us", explanation.communicationUs}};
}

bool fromJSON(const llvm::json::Value &value, Explanation &explanation, llvm::json::Path path) {
  llvm::json::ObjectMapper map(value, path);
  return map && map.map("topology", explanation.topology) &&
         map.map("collectives", explanation.collectives) &&
         map.map("wire_bytes", explanation.wireBytes) &&
         map.map("compute_us", explanation.computeUs) &&
         map.map("communication_us", explanation.communicationUs);
}

} // namespace coll::run
