//===- main.cc - coll-run: runs a training step on N ranks ----------------------===//

#include "compiler/error.h"
#include "tools/coll-run/options.h"
#ifdef COLL_HAS_NET
#include "tools/coll-run/processes.h"
#endif
#include "driver/report/report.h"
#include "runtime/base/env.h"
#include "tools/coll-run/session.h"
#include "tools/common/guard.h"
#include "tools/common/tools.h"

#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <new>
#include <unistd.h>

namespace {

// An array may ask for more memory than there is; that is the user's error, not a crash.
void exitOutOfMemory() {
  constexpr char kMessage[] = "coll-run: error: out of memory\n";
  ssize_t written = write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  _exit(written < 0 ? 2 : 1);
}

/// LLVM aborts a process that ends with an unreported failure to write.
llvm::Error checkStandardOutput() {
  llvm::outs().flush();
  std::error_code code = llvm::outs().error();
  llvm::outs().clear_error();
  if (!code)
    return llvm::Error::success();
  return coll::run::makeError("cannot write to the standard output: " + code.message());
}

int fail(llvm::Error error, const coll::run::Place &place = {}) {
  coll::run::reportError(place, llvm::toString(std::move(error)));
  return 1;
}

int runHere(const coll::run::Options &options, const coll::run::Place &place) {
  llvm::Expected<int> code = coll::run::runSession(options, place);
  llvm::Error error = llvm::joinErrors(code.takeError(), checkStandardOutput());
  return error ? fail(std::move(error), place) : *code;
}

/// The page of a run whose own process a signal ended.
void finishReport(coll::run::Report *report, llvm::StringRef why, const coll::run::Place &place) {
  if (report && !why.empty() && place.isRoot())
    if (llvm::Error error = report->fail(why))
      fail(std::move(error), place);
}

} // namespace

int coll::runMain(int argc, char **argv) {
  std::set_new_handler(exitOutOfMemory);
  mlir::coll::checkOutputAtExit();
  llvm::Expected<coll::run::Options> options = coll::run::parseOptions(argc, argv);
  if (!options)
    return fail(options.takeError());
  // CUDA gives each stream of ranks that share a GPU a queue of its own.
  const coll::rt::ScopedEnv queues("CUDA_DEVICE_MAX_CONNECTIONS", "32");
  signal(SIGPIPE, SIG_IGN); // from here on, after --help, a closed pipe is an error like any other
  llvm::Expected<coll::run::Place> place = coll::run::findPlace(*options);
  if (!place)
    return fail(place.takeError());
  std::unique_ptr<coll::run::Report> report; // only with --report
  if (!options->report.empty())
    report = coll::run::Report::watch(coll::run::describeReport(*options), *place);
#ifdef COLL_HAS_NET
  if (options->processes) {
    coll::run::JobEnd end;
    auto started = coll::run::startProcesses(static_cast<int>(*options->ranks), end);
    if (!started)
      return fail(started.takeError());
    if (!*started) {
      finishReport(report.get(), end.unwritten, *place);
      return end.exitCode;
    }
    (*started)->note = (*started)->isRoot() ? place->note : "";
    *place = std::move(**started);
  }
#endif
  auto run = [&] { return runHere(*options, *place); };
  // A copy is watched by the process that started it.
  if (options->processes)
    return mlir::coll::runOnLargeStack(run);
  std::string why;
  int code = mlir::coll::runGuarded("coll-run", run, &why);
  finishReport(report.get(), why, *place);
  return code;
}
