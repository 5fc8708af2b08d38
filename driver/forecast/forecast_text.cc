//===- forecast_text.cc - the report for a terminal -------------------------------===//

#include "driver/forecast/forecast.h"

#include "driver/report/format.h"
#include "plan/topology.h"
#include "runtime/base/dtype.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"

namespace coll::run {
namespace {

// The widest picture of a schedule.
constexpr size_t kMaxColumns = 160;

std::string microseconds(double us) { return formatTime(us * 1e3); }

/// "f32[64, 10]".
std::string describeType(const rt::TensorInfo &info) {
  std::string text = std::string(rt::dtypeName(info.dtype)) + "[";
  for (size_t d = 0; d < info.shape.size(); ++d)
    text += (d ? ", " : "") + std::to_string(info.shape[d]);
  return text + "]";
}

/// Characters, of which some take several bytes.
size_t widthOf(llvm::StringRef text) {
  return llvm::count_if(text, [](char c) { return (c & 0xc0) != 0x80; });
}

/// Columns that are as wide as their widest cell.
class Table {
public:
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  void print(llvm::raw_ostream &os) const {
    std::vector<size_t> widths;
    for (const auto &row : rows_)
      for (size_t i = 0; i < row.size(); ++i) {
        widths.resize(std::max(widths.size(), i + 1));
        widths[i] = std::max(widths[i], widthOf(row[i]));
      }
    for (const auto &row : rows_) {
      std::string line = " ";
      for (size_t i = 0; i < row.size(); ++i)
        line += " " + row[i] +
                std::string(i + 1 < row.size() ? widths[i] - widthOf(row[i]) + 1 : 0, ' ');
      os << llvm::StringRef(line).rtrim() << "\n";
    }
  }

private:
  std::vector<std::vector<std::string>> rows_;
};

void printMesh(llvm::raw_ostream &os, const Forecast &forecast) {
  std::string axes;
  for (const rt::MeshAxis &axis : forecast.descriptor().axes)
    axes += (axes.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.size);
  os << "mesh: " << (axes.empty() ? "none" : axes) << " ("
     << formatPlural(forecast.descriptor().numRanks(), "rank") << ")";
  if (!forecast.strategy.empty())
    os << ", strategy " << forecast.strategy;
  os << "\n";
}

void printArguments(llvm::raw_ostream &os, const Forecast &forecast) {
  os << "arguments, and how they are split:\n";
  Table table;
  size_t number = 0;
  for (const rt::TensorInfo *arg : forecast.args()) {
    const std::string name = arg->name.empty() ? "arg" + std::to_string(number) : arg->name;
    table.add({arg->isState() ? "state" : "batch", name, describeType(*arg), describeSharding(*arg),
               formatBytes(double(arg->localBytes()))});
    ++number;
  }
  table.print(os);
}

void printMemory(llvm::raw_ostream &os, const rt::Descriptor &descriptor, bool isOnly) {
  const rt::RankMemory memory = rt::memoryOf(descriptor);
  os << "memory of " << (isOnly ? "each rank" : "ranks " + formatRanges(descriptor.ranks)) << ": "
     << formatCount(memory.total()) << " bytes\n";
  Table table;
  for (auto [name, bytes] :
       {std::pair("state", memory.state), std::pair("batch", memory.batch),
        std::pair("outputs", memory.outputs), std::pair("temporaries", memory.temporaries)})
    table.add({name, formatCount(bytes)});
  if (memory.nextBatch != 0)
    table.add({rt::nameOf(rt::BufferKind::NextBatch), formatCount(memory.nextBatch)});
  table.print(os);
}

void printTimes(llvm::raw_ostream &os, const Explanation &explanation) {
  const plan::Topology::Link assumed = plan::assumedTopology(1).links.front();
  const std::string links = "assumed links of " + formatNumber(assumed.gbPerS) + " GB/s and " +
                            microseconds(assumed.latencyUs) + "; --topology=FILE describes others";
  os << "a step, predicted: " << microseconds(explanation.computeUs + explanation.communicationUs)
     << " (computing " << microseconds(explanation.computeUs) << ", communicating "
     << microseconds(explanation.communicationUs) << ") over "
     << (explanation.topology.empty() ? links : "the links of " + explanation.topology) << "\n";
}

/// The plan that --strategy=auto chose, and those that lost.
void printSearch(llvm::raw_ostream &os, const PlanSearch &search) {
  const PlanCandidate &best = search.plans.front();
  os << "chosen of " << formatPlural(search.tried, "plan") << ": " << best.describe() << "\n";
  os << "  " << microseconds(best.us) << " a step, bound " << microseconds(search.boundUs)
     << ", gap " << formatNumber(search.boundUs > 0 ? best.us / search.boundUs : 1) << "x";
  if (search.memoryLimit > 0 && best.memoryBytes > search.memoryLimit)
    os << "; no plan fits into " << formatCount(search.memoryLimit) << " bytes by estimate";
  os << "\nnext best:\n";
  Table table;
  for (const PlanCandidate &plan : llvm::ArrayRef(search.plans).drop_front())
    table.add({microseconds(plan.us), formatBytes(plan.wireBytes) + " sent",
               formatBytes(double(plan.memoryBytes)) + " of memory", plan.describe()});
  table.print(os);
}

/// When the stages work by the predicted times, and what they keep meanwhile.
void printPipeline(llvm::raw_ostream &os, const plan::Pipeline &pipeline) {
  const plan::Timeline predicted = pipeline.predict();
  os << "pipeline: " << pipeline.schedule.name << ", "
     << formatCount(pipeline.schedule.numMicroBatches)
     << (pipeline.schedule.numMicroBatches == 1 ? " micro-batch, " : " micro-batches, ")
     << microseconds(predicted.makespan) << " predicted, of which stages idle "
     << formatPercent(predicted.idleFraction()) << "\n";
  Table table;
  for (int rank = 0; rank < pipeline.schedule.numRanks(); ++rank) {
    const plan::KeptActivations peak = plan::peakKept(pipeline, rank);
    table.add({"stage " + std::to_string(rank),
               "works " + microseconds(pipeline.workUs(rank) * pipeline.schedule.numMicroBatches),
               "idle " + microseconds(predicted.bubble[size_t(rank)]),
               "keeps " + std::to_string(peak.count) + " activations at most, " +
                   formatBytes(peak.bytes)});
  }
  table.print(os);
  os << plan::drawTimeline(pipeline.schedule, *plan::simulate(pipeline.schedule, {{}}), 1,
                           kMaxColumns);
}

/// Calls and payload as the summary of a run has them.
void printTotals(llvm::raw_ostream &os, const Explanation &explanation) {
  os << "collectives: " << formatPlural(int64_t(explanation.collectives.size()), "operation")
     << "; per step and rank: " << llvm::format("%.4g call", explanation.calls)
     << (explanation.calls == 1 ? ", " : "s, ") << formatBytes(explanation.payloadBytes)
     << " of payload, " << formatBytes(explanation.wireBytes) << " sent";
  if (!llvm::all_of(explanation.collectives,
                    [](const ExplainedCollective &entry) { return entry.isCounted; }))
    os << "; values decide how often some are called, of which one turn is counted";
  os << "\n";
}

std::string describeGroup(const ExplainedCollective &entry) {
  return entry.axes.empty() ? formatPlural(entry.groupSize, "rank") : llvm::join(entry.axes, "+");
}

} // namespace

void printCollectives(llvm::raw_ostream &os, const Forecast &forecast) {
  const Explanation &explanation = forecast.explanation;
  if (explanation.pipeline)
    printPipeline(os, *explanation.pipeline);
  if (explanation.collectives.empty()) {
    os << "collectives: none\n";
    return;
  }
  printTotals(os, explanation);
  Table table;
  for (const ExplainedCollective &entry : explanation.collectives) {
    const std::string kind = entry.kind + (entry.reduction.empty() ? "" : " " + entry.reduction);
    table.add({kind, "over " + describeGroup(entry), formatBytes(entry.wireBytes()),
               microseconds(entry.microseconds),
               std::to_string(entry.calls) + "x" + (entry.isCounted ? "" : ", depends on values"),
               entry.why + (entry.location.empty() ? "" : " (" + entry.location + ")")});
  }
  table.print(os);
  llvm::StringSet<> said;
  for (const ExplainedCollective &entry : explanation.collectives)
    if (!entry.avoid.empty() && said.insert(entry.avoid).second)
      os << "to avoid work that ranks repeat: " << entry.avoid << "\n";
}

void printPlan(llvm::raw_ostream &os, const Forecast &forecast) {
  printMesh(os, forecast);
  if (forecast.explanation.search)
    printSearch(os, *forecast.explanation.search);
  printArguments(os, forecast);
  printCollectives(os, forecast);
  for (const rt::Descriptor &descriptor : forecast.classes)
    printMemory(os, descriptor, forecast.classes.size() == 1);
  printTimes(os, forecast.explanation);
}

} // namespace coll::run
