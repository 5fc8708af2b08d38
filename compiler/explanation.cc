//===- explanation.cc -------------------------------------------------------------===//

#include "compiler/explanation.h"

#include "compiler/error.h"
#include "compiler/pipeline_json.h"
#include "dialect/dialect.h"
#include "dialect/notes.h"
#include "dialect/sharding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/analysis/pipeline_attr.h"
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

std::string getText(mlir::DictionaryAttr fields, llvm::StringRef name) {
  auto text = fields.getAs<mlir::StringAttr>(name);
  return text ? text.str() : "";
}

int64_t getNumber(mlir::DictionaryAttr fields, llvm::StringRef name) {
  auto number = fields.getAs<mlir::IntegerAttr>(name);
  return number ? number.getInt() : 0;
}

/// Arguments have no location in the program, so that of their first reader is taken.
void completeLocation(ExplainedCollective &entry) {
  for (const ExplainedUse &use : entry.uses)
    if (entry.location.empty())
      entry.location = use.location;
}

void readCause(mlir::DictionaryAttr cause, ExplainedCollective &entry) {
  entry.from = getText(cause, "from");
  entry.to = getText(cause, "to");
  entry.boundBytes = getNumber(cause, "bound_bytes");
  entry.runnerUp = getText(cause, "runner_up");
  entry.runnerUpBytes = getNumber(cause, "runner_up_bytes");
  entry.whyNot = getText(cause, "why_not");
  entry.avoid = getText(cause, "avoid");
  auto uses = cause.getAs<mlir::ArrayAttr>("uses");
  for (mlir::Attribute use : uses ? uses.getValue() : llvm::ArrayRef<mlir::Attribute>())
    if (auto fields = llvm::dyn_cast<mlir::DictionaryAttr>(use)) {
      auto location = fields.getAs<mlir::LocationAttr>("loc");
      entry.uses.push_back({getText(fields, "op"),
                            location ? getSourceText(mlir::Location(location)) : "",
                            getText(fields, "needs")});
    }
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
  mlir::Location loc = op->getLoc();
  mlir::DictionaryAttr notes = cost.tensor;
  if (notes) {
    loc = mlir::Location(notes.getAs<mlir::LocationAttr>("loc"));
    entry.value = toText(notes.getAs<mlir::TypeAttr>("type").getValue());
  } else {
    notes = op->getDiscardableAttrDictionary();
    if (mlir::Value value = op.getCommInput() ? op.getCommInput() : op.getCommResult())
      entry.value = toText(value.getType());
  }
  entry.location = getSourceText(loc);
  entry.name = getSourceName(loc);
  entry.why = getText(notes, kWhyAttr);
  if (auto cause = notes.getAs<mlir::DictionaryAttr>(kCauseAttr))
    readCause(cause, entry);
  completeLocation(entry);
  entry.groupBytes = cost.groupBytes;
  entry.calls = cost.calls;
  entry.isCounted = cost.isCounted;
  entry.microseconds = cost.microseconds;
  entry.sharesCall = cost.sharesCall;
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

static std::tuple<llvm::StringRef, llvm::StringRef, llvm::StringRef, llvm::StringRef>
identity(const ExplainedCollective &entry) {
  return {entry.kind, entry.value, entry.why, entry.location};
}

/// Adds the program of a stage, in which all micro-batches have the same operations.
static void addProgram(Explanation &explanation, const StepCost &cost, MeshOp mesh, int64_t ranks,
                       int64_t allRanks) {
  const size_t first = explanation.collectives.size();
  for (const CollectiveCost &collective : cost.collectives) {
    ExplainedCollective entry = explain(collective, mesh);
    auto begin = explanation.collectives.begin() + first;
    auto like = std::find_if(begin, explanation.collectives.end(),
                             [&](const auto &other) { return identity(other) == identity(entry); });
    if (like == explanation.collectives.end())
      explanation.collectives.push_back(std::move(entry));
    else
      like->calls += entry.calls;
  }
  const double share = double(ranks) / double(allRanks);
  explanation.calls += cost.calls * share;
  explanation.payloadBytes += cost.payloadBytes * share;
  explanation.wireBytes += cost.wireBytes * share;
  if (cost.totalUs() < explanation.computeUs + explanation.communicationUs)
    return;
  explanation.computeUs = cost.computeUs;
  explanation.communicationUs = cost.communicationUs;
}

llvm::Expected<Explanation> explainStep(mlir::ModuleOp module, int64_t ranks,
                                        const std::string &topology) {
  Explanation explanation;
  explanation.pipeline = readPipeline(module);
  MeshOp mesh;
  for (MeshOp found : module.getOps<MeshOp>())
    mesh = found;
  auto step = module.lookupSymbol<mlir::func::FuncOp>(kStepFunction);
  if (!explanation.pipeline && (!step || step.isExternal()))
    return explanation;
  plan::Mesh axes;
  if (mesh)
    axes = toPlanMesh(mesh);
  else
    axes.axes.push_back({"rank", std::max(ranks, countListed(step))});
  auto model = makeModel(axes, topology);
  if (!model)
    return model.takeError();
  explanation.topology = topology;
  if (explanation.pipeline) {
    for (auto program : module.getOps<ProgramOp>())
      if (auto own = program.lookupSymbol<mlir::func::FuncOp>(kStepFunction))
        addProgram(explanation, getStepCost(own, mesh, *model), mesh,
                   int64_t(program.getRanks().size()), axes.numRanks());
    return explanation;
  }
  const StepCost cost = getStepCost(step, mesh, *model);
  for (const CollectiveCost &collective : cost.collectives)
    explanation.collectives.push_back(explain(collective, mesh));
  explanation.calls = cost.calls;
  explanation.payloadBytes = cost.payloadBytes;
  explanation.wireBytes = cost.wireBytes;
  explanation.computeUs = cost.computeUs;
  explanation.communicationUs = cost.communicationUs;
  return explanation;
}

static llvm::json::Value toJSON(const ExplainedUse &use) {
  return llvm::json::Object{
      {"operation", use.operation}, {"location", use.location}, {"needs", use.needs}};
}

static bool fromJSON(const llvm::json::Value &value, ExplainedUse &use, llvm::json::Path path) {
  llvm::json::ObjectMapper map(value, path);
  return map && map.map("operation", use.operation) && map.map("location", use.location) &&
         map.map("needs", use.needs);
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
                            {"from", entry.from},
                            {"to", entry.to},
                            {"uses", llvm::json::Array(entry.uses)},
                            {"bound_bytes", entry.boundBytes},
                            {"runner_up", entry.runnerUp},
                            {"runner_up_bytes", entry.runnerUpBytes},
                            {"why_not", entry.whyNot},
                            {"avoid", entry.avoid},
                            {"group_bytes", entry.groupBytes},
                            {"calls", entry.calls},
                            {"is_counted", entry.isCounted},
                            {"microseconds", entry.microseconds},
                            {"shares_call", entry.sharesCall}};
}

static bool fromJSON(const llvm::json::Value &value, ExplainedCollective &entry,
                     llvm::json::Path path) {
  llvm::json::ObjectMapper map(value, path);
  return map && map.map("kind", entry.kind) && map.map("reduction", entry.reduction) &&
         map.map("axes", entry.axes) && map.map("group_size", entry.groupSize) &&
         map.map("value", entry.value) && map.map("location", entry.location) &&
         map.map("name", entry.name) && map.map("why", entry.why) && map.map("from", entry.from) &&
         map.map("to", entry.to) && map.map("uses", entry.uses) &&
         map.map("bound_bytes", entry.boundBytes) && map.map("runner_up", entry.runnerUp) &&
         map.map("runner_up_bytes", entry.runnerUpBytes) && map.map("why_not", entry.whyNot) &&
         map.map("avoid", entry.avoid) && map.map("group_bytes", entry.groupBytes) &&
         map.map("calls", entry.calls) && map.map("is_counted", entry.isCounted) &&
         map.map("microseconds", entry.microseconds) && map.map("shares_call", entry.sharesCall);
}

std::string PlanCandidate::describe() const {
  std::string text = "--mesh=" + mesh;
  if (!strategy.empty())
    text += " --strategy=" + strategy;
  for (const std::string &shard : shards)
    text += " --shard='" + shard + "'";
  return text;
}

llvm::json::Value toJSON(const PlanCandidate &plan) {
  return llvm::json::Object{{"mesh", plan.mesh},
                            {"strategy", plan.strategy},
                            {"shards", llvm::json::Array(plan.shards)},
                            {"us", plan.us},
                            {"calls_per_step", plan.calls},
                            {"bytes_per_step", plan.wireBytes},
                            {"memory_bytes", plan.memoryBytes}};
}

bool fromJSON(const llvm::json::Value &value, PlanCandidate &plan, llvm::json::Path path) {
  llvm::json::ObjectMapper map(value, path);
  return map && map.map("mesh", plan.mesh) && map.map("strategy", plan.strategy) &&
         map.map("shards", plan.shards) && map.map("us", plan.us) &&
         map.map("calls_per_step", plan.calls) && map.map("bytes_per_step", plan.wireBytes) &&
         map.map("memory_bytes", plan.memoryBytes);
}

llvm::json::Value toJSON(const PlanSearch &search) {
  return llvm::json::Object{{"plans", llvm::json::Array(search.plans)},
                            {"tried", search.tried},
                            {"bound_us", search.boundUs},
                            {"memory_limit", search.memoryLimit}};
}

bool fromJSON(const llvm::json::Value &value, PlanSearch &search, llvm::json::Path path) {
  llvm::json::ObjectMapper map(value, path);
  return map && map.map("plans", search.plans) && map.map("tried", search.tried) &&
         map.map("bound_us", search.boundUs) && map.map("memory_limit", search.memoryLimit);
}

llvm::json::Value toJSON(const Explanation &explanation) {
  return llvm::json::Object{
      {"search", explanation.search ? toJSON(*explanation.search) : llvm::json::Value(nullptr)},
      {"pipeline",
       explanation.pipeline ? toJSON(*explanation.pipeline) : llvm::json::Value(nullptr)},
      {"topology", explanation.topology},
      {"collectives", llvm::json::Array(explanation.collectives)},
      {"collective_calls", explanation.calls},
      {"payload_bytes", explanation.payloadBytes},
      {"wire_bytes", explanation.wireBytes},
      {"compute_us", explanation.computeUs},
      {"communication_us", explanation.communicationUs}};
}

bool fromJSON(const llvm::json::Value &value, Explanation &explanation, llvm::json::Path path) {
  llvm::json::ObjectMapper map(value, path);
  return map && map.map("search", explanation.search) &&
         map.map("pipeline", explanation.pipeline) && map.map("topology", explanation.topology) &&
         map.map("collectives", explanation.collectives) &&
         map.map("collective_calls", explanation.calls) &&
         map.map("payload_bytes", explanation.payloadBytes) &&
         map.map("wire_bytes", explanation.wireBytes) &&
         map.map("compute_us", explanation.computeUs) &&
         map.map("communication_us", explanation.communicationUs);
}

} // namespace coll::run
