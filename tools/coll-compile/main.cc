//===- main.cc - coll-compile: a step as a shared object ahead of time -----------===//

#include "compiler/compiler.h"
#include "compiler/error.h"
#include "compiler/shared_object.h"
#include "compiler/untrusted_text.h"
#include "tools/common/guard.h"
#include "tools/common/tools.h"

#include "llvm/Support/raw_ostream.h"

namespace {

constexpr llvm::StringLiteral kUsage = R"(usage: coll-compile STEP.mlir -o STEP.so [options]

Compiles a step for its ranks, for processors like this machine's. The result needs no MLIR:
coll-run and the C API (libcollrt.so) take it like a step.

  -o FILE              the shared object
  --ranks=N            number of ranks (default: the mesh's size, or 1)
  --mesh=NAME=N        the mesh that data parallelism makes (default: dp)
  --strategy=NAME      data-parallel or none (default: by the number of ranks)
  --state-args=K       the first K arguments are state, which the first K results update
  --no-verify          do not prove that the ranks cannot deadlock
  --help, --version
)";

constexpr int64_t kMaxRanks = 1024;

struct Options {
  std::string input, output;
  std::optional<int64_t> stateArgs;
  coll::run::Target target;
  bool isDone = false; // the question was answered
};

llvm::Error readNumber(llvm::StringRef name, llvm::StringRef text, int64_t least, int64_t most,
                       std::optional<int64_t> &number) {
  int64_t value = 0;
  if (text.getAsInteger(10, value) || value < least || value > most)
    return coll::run::makeError(name + "=" + text + ": expected a number from " +
                                llvm::Twine(least) + " to " + llvm::Twine(most));
  number = value;
  return llvm::Error::success();
}

llvm::Error readMesh(llvm::StringRef text, coll::run::Target &target) {
  auto [name, size] = text.split('=');
  std::optional<int64_t> ranks;
  if (name.empty() || size.empty())
    return coll::run::makeError("--mesh=" + text + ": expected NAME=N");
  if (llvm::Error error = readNumber("--mesh=" + name.str(), size, 1, kMaxRanks, ranks))
    return error;
  target.mesh = {{name.str(), *ranks}};
  if (target.ranks.value_or(*ranks) != *ranks)
    return coll::run::makeError("--ranks=" + llvm::Twine(*target.ranks) + ", but --mesh has " +
                                llvm::Twine(*ranks));
  target.ranks = ranks;
  return llvm::Error::success();
}

llvm::Error readOption(llvm::StringRef argument, Options &options) {
  auto [name, value] = argument.split('=');
  if (name == "--ranks")
    return readNumber(name, value, 1, kMaxRanks, options.target.ranks);
  if (name == "--state-args")
    return readNumber(name, value, 0, INT32_MAX, options.stateArgs);
  if (name == "--mesh")
    return readMesh(value, options.target);
  if (name == "--strategy" && (value == "data-parallel" || value == "none")) {
    options.target.strategy = value.str();
    return llvm::Error::success();
  }
  if (argument == "--no-verify") {
    options.target.verify = false;
    return llvm::Error::success();
  }
  return coll::run::makeError("unknown option '" + argument + "'; --help lists them");
}

llvm::Expected<Options> parseOptions(llvm::ArrayRef<char *> arguments) {
  Options options;
  options.target.isShared = true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const llvm::StringRef argument = arguments[i];
    if (argument == "--help" || argument == "--version") {
      llvm::outs() << (argument == "--help" ? kUsage.str() : "coll-compile " COLL_VERSION "\n");
      options.isDone = true;
      return options;
    }
    if (argument == "-o") {
      if (++i == arguments.size())
        return coll::run::makeError("-o needs a file");
      options.output = arguments[i];
    } else if (argument.starts_with("-") && argument != "-") {
      if (llvm::Error error = readOption(argument, options))
        return error;
    } else if (options.input.empty()) {
      options.input = argument.str();
    } else {
      return coll::run::makeError("two steps: '" + options.input + "' and '" + argument + "'");
    }
  }
  if (options.input.empty() || options.output.empty())
    return coll::run::makeError("needs a step and -o FILE; --help says more");
  return options;
}

llvm::Error compileFile(const Options &options) {
  auto text = mlir::coll::readUntrusted(options.input);
  if (!text)
    return text.takeError();
  coll::run::Request request;
  request.name = options.input;
  request.text = (*text)->getBuffer();
  request.stateArgs = options.stateArgs;
  request.target = options.target;
  request.onMessage = [](const coll::run::Message &message) {
    if (message.rendered.empty())
      llvm::errs() << "coll-compile: note: " << message.text << '\n';
    else
      llvm::errs() << message.rendered;
  };
  auto compiled = coll::run::compile(request);
  if (!compiled)
    return compiled.takeError();
  return coll::run::writeSharedObject(compiled->code, options.output);
}

int runCompile(int argc, char **argv) {
  llvm::Expected<Options> options =
      parseOptions(llvm::ArrayRef(argv, static_cast<size_t>(argc)).drop_front());
  llvm::Error error = options.takeError();
  if (!error && !options->isDone)
    error = compileFile(*options);
  if (!error)
    return 0;
  llvm::errs() << "coll-compile: error: " << llvm::toString(std::move(error)) << '\n';
  return 1;
}

} // namespace

int coll::compileMain(int argc, char **argv) {
  return mlir::coll::runGuarded("coll-compile", [&] { return runCompile(argc, argv); });
}
