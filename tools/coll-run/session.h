//===- session.h - one invocation of coll-run --------------------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_RUN_SESSION_H
#define COLL_TOOLS_COLL_RUN_SESSION_H

#include "compiler/step_compiler.h"
#include "driver/checker.h"
#include "driver/evaluate.h"
#include "driver/profile/profile.h"
#include "driver/report/report.h"
#include "driver/trainer.h"
#include "tools/coll-run/inputs.h"
#include "tools/coll-run/job.h"
#include "tools/coll-run/progress.h"
#include "tools/coll-run/stopping.h"

namespace coll::run {

/// Compiles, runs, checks, evaluates and saves, as the options ask. In a job of several processes
/// each has one; that of rank 0 checks, prints and writes.
class Session {
public:
  Session(const Options &options, const Place &place);
  llvm::Expected<int> run();

private:
  // session.cc
  llvm::Error runStages();
  llvm::Error withProblem(llvm::Error error);
  llvm::Error timed(const char *phase, llvm::Error (Session::*stage)());
  llvm::Error prepare();
  llvm::Expected<bool> askRoot(bool own);
  llvm::Error train();
  llvm::Expected<bool> afterStep(Progress &progress, const RunResult &run);
  bool isStopped();
  void noteLostLoss();
  void fillReport();
  llvm::Error save() const;
  void print() const;

  // session_launch.cc: from the step's file to ranks that can run it
  llvm::Error launch();
  llvm::Error launchCompiled(const rt::ExecutorOptions &execution);
  llvm::Error finishLaunch(llvm::StringRef step);
  llvm::Error launchSingle(const rt::ExecutorOptions &execution);
  Target chooseTarget() const;
  llvm::Expected<mlir::coll::ObjectCode> compileFastest(const rt::ExecutorOptions &execution,
                                                        CompileDetails &details);
  llvm::Error foresee(const mlir::coll::ObjectCode &code, const Explanation &explanation);

  // session_check.cc: the data, and what the run is compared with
  llvm::Error openData();
  llvm::Error chooseLoss();
  llvm::Error openReference();
  llvm::Error openEvaluation();
  llvm::Error checkBeginning();
  llvm::Error checkEnd();
  llvm::Error checkAgainstSingle(const RunResult &run);
  llvm::Error checkAgainstReference();
  bool judgesLastStep() const;
  Checker makeChecker();
  void report(llvm::StringRef title, std::vector<Comparison> comparisons);
  llvm::Error evaluateHeldOut();

  void note(const llvm::Twine &text) { compiler_.messages().note(text); }
  std::string stateName(size_t i) const;
  bool isQuiet() const { return options_.quiet || !place_.isRoot(); }

  const Options &options_;
  const Place &place_;
  StepCompiler compiler_;
  std::unique_ptr<StageWriter> stages_;
  std::unique_ptr<Report> report_;   // only with --report
  std::unique_ptr<Profile> profile_; // only with --profile
  LaunchedStep step_;
  std::optional<StepFile> file_, against_; // what runs, and what --against names
  std::optional<SingleDevice> single_;     // only with checks, in the process of rank 0
  std::vector<rt::TensorInfo> stateInfos_, batchInfos_, resultInfos_;
  std::optional<Reference> reference_;   // only with --reference, in the process of rank 0
  std::optional<Evaluation> evaluation_; // only with --eval, there
  Inputs inputs_;
  RunResult result_;
  std::optional<Stopping> stopping_; // while a signal still leaves something to save
  int exitCode_ = 0;
  bool areChecksOk_ = true;
};

/// A failed check is an error. Returns the exit code: 0 or, in rank 0's process, 128 plus the
/// signal that ended a run with `--save` early. The other processes return 0 then: if one failed, a
/// launcher would end the process that is still writing.
llvm::Expected<int> runSession(const Options &options, const Place &place);

} // namespace coll::run

#endif // COLL_TOOLS_COLL_RUN_SESSION_H
