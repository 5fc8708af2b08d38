//===- report.h - the report of a run -----------------------------------*- C++ -*-===//

#ifndef COLL_DRIVER_REPORT_REPORT_H
#define COLL_DRIVER_REPORT_REPORT_H

#include "driver/place.h"
#include "driver/report/contents.h"
#include "runtime/step/executor.h"

#include <functional>
#include <memory>

namespace coll::run {

/// The path of the page, and facts about the run that the report cannot find out itself.
struct ReportOptions {
  std::string path;
  std::string step; // the file
  std::string commandLine;
  std::string backend;
};

/// The report of one run, from its start to its end. In a job of several processes each has
/// one; that of rank 0 writes. Belongs to one thread; one at a time listens.
class Report {
public:
  /// Writes a page that says the run has not finished. So an unwritable path is an error before the
  /// run, and a run that is killed leaves that page.
  static llvm::Expected<std::unique_ptr<Report>> create(const ReportOptions &options,
                                                        const Place &place);
  /// For the process that watches the one of the run: it writes only in fail().
  static std::unique_ptr<Report> watch(const ReportOptions &options, const Place &place);
  ~Report();

  /// The contents of the page, which the caller fills in.
  ReportContents &contents() { return contents_; }

  /// Runs `work` and notes how long it took.
  llvm::Error timePhase(const std::string &name, const std::function<llvm::Error()> &work);

  /// From now on the report is about the executor's program.
  void describe(const rt::Executor &executor);
  /// Records what the ranks of this process do during `work`, which runs the executor, and
  /// afterwards brings all ranks' records to the process of rank 0. After a failure there
  /// only its own are known.
  llvm::Error record(rt::Executor &executor, const std::function<llvm::Error()> &work);

  /// Writes the page, where this is the process of rank 0, and returns `error`. Without an error
  /// the run has finished, unless the contents say otherwise.
  llvm::Error finish(llvm::Error error);
  /// Writes the page of a run that failed, as far as it is known.
  llvm::Error fail(llvm::StringRef why);

private:
  Report(const ReportOptions &options, const Place &place);
  RankRecord localRecord(const Recorder &recorder, int rank) const;
  llvm::Error gather(rt::Executor &executor);

  std::string path_;
  const Place &place_;
  ReportContents contents_;
};

} // namespace coll::run

#endif // COLL_DRIVER_REPORT_REPORT_H
