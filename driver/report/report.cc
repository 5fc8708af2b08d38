//===- report.cc - the report of a run -------------------------------------------===//

#include "driver/report/report.h"

#include "compiler/error.h"
#include "driver/report/machine.h"
#include "driver/report/page.h"
#include "driver/report/record_json.h"
#include "driver/tensors.h"
#include "runtime/base/env.h"
#include "runtime/base/machine.h"
#include "runtime/base/memory_use.h"

#include <chrono>

namespace coll::run {
namespace {

/// The variables of coll that are set. The secret is never shown.
std::vector<NamedText> readEnvironment() {
  std::vector<NamedText> texts;
  for (const rt::EnvInfo &info : rt::envTable())
    if (info.var != rt::EnvVar::Secret)
      if (std::optional<std::string> value = rt::foreignEnv(info.name))
        texts.emplace_back(info.name, *value);
  return texts;
}

} // namespace

Report::Report(const ReportOptions &options, const Place &place)
    : path_(options.path), place_(place) {
  contents_.step = options.step;
  contents_.commandLine = options.commandLine;
  contents_.backend = options.backend;
  contents_.launcher = place.launcher;
  contents_.version = COLL_VERSION;
  contents_.started = describeNow();
  contents_.machine = describeMachine();
  contents_.environment = readEnvironment();
  contents_.cores = rt::numAllowedProcessors();
}

Report::~Report() = default;

llvm::Expected<std::unique_ptr<Report>> Report::create(const ReportOptions &options,
                                                       const Place &place) {
  std::unique_ptr<Report> report(new Report(options, place));
  if (place.isRoot())
    if (llvm::Error error = beginPage(report->path_, renderPage(report->contents_)))
      return error;
  return report;
}

std::unique_ptr<Report> Report::watch(const ReportOptions &options, const Place &place) {
  return std::unique_ptr<Report>(new Report(options, place));
}

llvm::Error Report::timePhase(const std::string &name, const std::function<llvm::Error()> &work) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  llvm::Error error = work();
  contents_.phases.emplace_back(name, std::chrono::duration<double>(Clock::now() - start).count());
  return error;
}

void Report::describe(const rt::Executor &executor) {
  contents_.numRanks = executor.numRanks();
  for (const rt::Program &program : executor.classes())
    contents_.classes.push_back(program.descriptor);
}

llvm::Error Report::record(rt::Executor &executor, const std::function<llvm::Error()> &work) {
  Recorder recorder(executor.numRanks());
  rt::MemoryUse::restartPeak();
  llvm::Error error = llvm::Error::success();
  {
    rt::ScopedTraceSink listen(&recorder);
    error = llvm::joinErrors(std::move(error), work());
  }
  for (int rank = 0; rank < executor.numRanks(); ++rank)
    if (!place_.job || place_.job->rank == rank)
      contents_.ranks.push_back(localRecord(recorder, rank));
  if (error || !place_.job)
    return error;
  return gather(executor);
}

RankRecord Report::localRecord(const Recorder &recorder, int rank) const {
  RankRecord record = recorder.record(rank);
  record.host = hostName();
  record.process = processId();
  record.peakResidentBytes = peakResidentBytes();
  record.peakBufferBytes = rt::MemoryUse::peak();
  return record;
}

llvm::Error Report::gather(rt::Executor &executor) {
  auto texts = toExpected(executor.gather(writeRecord(contents_.ranks.front())));
  if (!texts)
    return texts.takeError();
  contents_.ranks.clear();
  for (const std::string &text : *texts) {
    llvm::Expected<RankRecord> record = readRecord(text);
    if (!record)
      return record.takeError();
    contents_.ranks.push_back(std::move(*record));
  }
  return llvm::Error::success();
}

llvm::Error Report::finish(llvm::Error error) {
  if (!place_.isRoot())
    return error;
  if (error) {
    std::string why = llvm::toString(std::move(error));
    return llvm::joinErrors(makeError(why), fail(why));
  }
  if (contents_.outcome == Outcome::Unfinished)
    contents_.outcome = Outcome::Finished;
  return endPage(path_, renderPage(contents_));
}

llvm::Error Report::fail(llvm::StringRef why) {
  contents_.outcome = Outcome::Failed;
  contents_.error = why.str();
  return endPage(path_, renderPage(contents_));
}

} // namespace coll::run
