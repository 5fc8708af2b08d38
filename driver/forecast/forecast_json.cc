//===- forecast_json.cc - the report for programs ---------------------------------===//

#include "driver/forecast/forecast.h"

#include "compiler/pipeline_json.h"
#include "runtime/base/dtype.h"

namespace coll::run {
namespace {

namespace json = llvm::json;

constexpr int64_t kVersion = 1;

/// Names come from files, and may hold any bytes.
std::string text(const std::string &bytes) { return json::fixUTF8(bytes); }

json::Array toArray(const std::vector<int64_t> &numbers) { return json::Array(numbers); }

json::Value makeTensor(const rt::TensorInfo &info) {
  json::Array sharding;
  for (const rt::DimSharding &dim : info.sharding)
    sharding.push_back(json::Array(dim.axes));
  return json::Object{{"name", text(info.name)},
                      {"role", text(info.role)},
                      {"dtype", rt::dtypeName(info.dtype)},
                      {"shape", toArray(info.shape)},
                      {"local_shape", toArray(info.local)},
                      {"sharding", std::move(sharding)}};
}

json::Value makeMemory(const rt::Descriptor &descriptor) {
  const rt::RankMemory memory = rt::memoryOf(descriptor);
  json::Array ranks, buffers;
  for (auto [first, last] : descriptor.ranks)
    ranks.push_back(json::Array{first, last});
  for (const rt::RankBuffer &buffer : rt::buffersOf(descriptor))
    buffers.push_back(json::Object{{"kind", rt::nameOf(buffer.kind)},
                                   {"name", buffer.tensor ? text(buffer.tensor->name) : ""},
                                   {"bytes", buffer.bytes}});
  return json::Object{{"ranks", std::move(ranks)},
                      {"total_bytes", memory.total()},
                      {"state_bytes", memory.state},
                      {"batch_bytes", memory.batch},
                      {"output_bytes", memory.outputs},
                      {"temporary_bytes", memory.temporaries},
                      {"next_batch_bytes", memory.nextBatch},
                      {"buffers", std::move(buffers)}};
}

json::Value makeCause(const ExplainedCollective &entry) {
  if (entry.from.empty())
    return nullptr;
  json::Array uses;
  for (const ExplainedUse &use : entry.uses)
    uses.push_back(json::Object{
        {"operation", use.operation}, {"source", text(use.location)}, {"needs", use.needs}});
  return json::Object{{"from", entry.from},
                      {"to", entry.to},
                      {"uses", std::move(uses)},
                      {"bound_bytes", entry.boundBytes}};
}

json::Value makeRunnerUp(const ExplainedCollective &entry) {
  if (entry.runnerUp.empty())
    return nullptr;
  return json::Object{
      {"what", entry.runnerUp}, {"bytes", entry.runnerUpBytes}, {"why_not", entry.whyNot}};
}

json::Value makeCollective(const ExplainedCollective &entry) {
  return json::Object{
      {"kind", entry.kind},
      {"reduction", entry.reduction},
      {"axes", json::Array(entry.axes)},
      {"group_size", entry.groupSize},
      {"value", text(entry.value)},
      {"source", text(entry.location)},
      {"name", text(entry.name)},
      {"why", text(entry.why)},
      {"cause", makeCause(entry)},
      {"runner_up", makeRunnerUp(entry)},
      {"avoid", entry.avoid.empty() ? json::Value(nullptr) : json::Value(text(entry.avoid))},
      {"bytes_per_call", entry.wireBytes()},
      {"group_bytes_per_call", entry.groupBytes},
      {"calls_per_step", entry.calls},
      {"is_counted", entry.isCounted},
      {"shares_call", entry.sharesCall},
      {"us_per_call", entry.microseconds}};
}

} // namespace

json::Value toJSON(const Forecast &forecast) {
  const rt::Descriptor &descriptor = forecast.descriptor();
  const Explanation &explanation = forecast.explanation;
  json::Array mesh, arguments, collectives, memory;
  for (const rt::MeshAxis &axis : descriptor.axes)
    mesh.push_back(json::Object{{"name", text(axis.name)}, {"size", axis.size}});
  for (const rt::TensorInfo *arg : forecast.args())
    arguments.push_back(makeTensor(*arg));
  for (const ExplainedCollective &entry : explanation.collectives)
    collectives.push_back(makeCollective(entry));
  for (const rt::Descriptor &rankClass : forecast.classes)
    memory.push_back(makeMemory(rankClass));
  return json::Object{
      {"version", kVersion},
      {"step", text(forecast.step)},
      {"strategy", text(forecast.strategy)},
      {"ranks", descriptor.numRanks()},
      {"mesh", std::move(mesh)},
      {"arguments", std::move(arguments)},
      {"search", explanation.search ? toJSON(*explanation.search) : json::Value(nullptr)},
      {"pipeline",
       explanation.pipeline ? plan::toJSON(*explanation.pipeline) : json::Value(nullptr)},
      {"collectives", std::move(collectives)},
      {"memory", std::move(memory)},
      {"predicted", json::Object{{"topology", text(explanation.topology)},
                                 {"compute_us", explanation.computeUs},
                                 {"communication_us", explanation.communicationUs},
                                 {"calls_per_step", explanation.calls},
                                 {"payload_bytes_per_step", explanation.payloadBytes},
                                 {"bytes_per_step", explanation.wireBytes}}}};
}

} // namespace coll::run
