//===- main.cc - coll-run: runs a training step on N ranks ----------------------===//

#include "tools/coll-run/error.h"
#include "tools/coll-run/options.h"
#include "tools/coll-run/session.h"
#include "tools/common/safe_parse.h"

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

int fail(llvm::Error error) {
  llvm::outs().flush();
  llvm::errs() << "coll-run: error: " << llvm::toString(std::move(error)) << '\n';
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  std::set_new_handler(exitOutOfMemory);
  signal(SIGPIPE, SIG_IGN); // a closed pipe is an error like any other
  llvm::Expected<coll::run::Options> options = coll::run::parseOptions(argc, argv);
  if (!options)
    return fail(options.takeError());
  return mlir::coll::runGuarded("coll-run", [&] {
    llvm::Error error = coll::run::runSession(*options);
    error = llvm::joinErrors(std::move(error), checkStandardOutput());
    return error ? fail(std::move(error)) : 0;
  });
}
