//===- main.cc - coll-compile: a step as a shared object ahead of time -----------===//

#include "compiler/compiler.h"
#include "compiler/error.h"
#include "compiler/shared_object.h"
#include "compiler/untrusted_text.h"
#include "runtime/kernels/available.h"
#include "tools/common/guard.h"
#include "tools/common/tools.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace {

constexpr llvm::StringLiteral kUsage = R"(usage: coll-compile STEP.mlir -o STEP.so [options]

Compiles a step for its ranks, for processors like this machine's. The result needs no MLIR:
coll-run and the C API (libcollrt.so) take it like a step.

  -o FILE              the shared object
  --ranks=N            number of ranks (default: the mesh's size, or 1)
  --mesh=AXIS=SIZE,…   the mesh: axis names and sizes (default: dp)
  --strategy=NAME,…    as of coll-run (default: by the number of ranks)
  --root=HOW           hash, balanced or shard: each parameter is updated at its root, as of coll-run
  --route=WAY          with --root: direct (default) or ring, as of coll-run
  --accumulate=K       each rank's batch is cut into K micro-batches, whose gradients are merged once
  --staleness=K        gradients are applied K steps late
  --stages=N           a pipeline of N stages, the first axis "pp" of the mesh, if there is one
  --micro-batches=M    that a pipeline cuts the batch into (default: 1)
  --schedule=NAME      of a pipeline, or a file with a table, as of coll-run (default: 1f1b)
  --stage=PATTERN      which parameters or scopes begin which stage, as of coll-run; several times
  --stage-mesh=N:MESH  the mesh of one stage, as of coll-run; several times
  --shard=PATTERN      the sharding of arguments by name, as of coll-run; may be given several times
  --combine=4MiB       reductions over ranks that do not need each other are one call, of this size at
                       most (default: 4MiB), and so are gathers of small tensors; 0: each is a call;
                       not with --stages
  --state-args=K       the first K arguments are state, which the first K results update
  --device=gpu:sm_90   compile for such GPUs and later ones (gpu: from sm_80 on; default: cpu)
  --matmul-precision=P what products on GPUs may round f32 factors to: highest (default), tf32, bf16
  --fuse-attention=W   attention on GPUs without its matrix of scores in memory, by the runtime's own
                       GPU kernels, which its build then must have: on, off, or auto (default): where
                       this build has them
  --fuse-epilogues=W   products compute what follows them: off, bias (and relu), gelu (too), all (also its
                       gradient), or auto (default): gelu on GPUs, off on CPUs
  --convolutions=W     on GPUs: library (cuDNN, which the machine that runs the step then must have), packed
                       (copied into matrix products), or auto (default): library where cuDNN is here
  --emit=FORM          write text to look at instead: ptx (the GPU's kernels), gpu (buffers, launches and
                       kernels, level L7a) or llvm (what calls them, level L7)
  --no-verify          do not prove that the ranks cannot deadlock
  --help, --version
)";

struct Options {
  std::string input, output;
  std::string emit; // ptx, gpu or llvm; empty: the shared object
  std::optional<int64_t> stateArgs;
  std::optional<bool> fusesAttention; // nullopt: auto
  std::string convolutions = "auto", epilogues = "auto";
  coll::run::Target target;
  bool isDone = false; // the question was answered
};

constexpr int64_t kMaxMicroBatches = 65536;

/// `number` is an integer, or an optional one.
template <typename Number>
llvm::Error readNumber(llvm::StringRef name, llvm::StringRef text, int64_t least, int64_t most,
                       Number &number) {
  int64_t value = 0;
  if (text.getAsInteger(10, value) || value < least || value > most)
    return coll::run::makeError(name + "=" + text + ": expected a number from " +
                                llvm::Twine(least) + " to " + llvm::Twine(most));
  number = value;
  return llvm::Error::success();
}

llvm::Error readMesh(llvm::StringRef text, coll::run::Target &target) {
  auto mesh = coll::run::parseMesh(text);
  if (!mesh)
    return coll::run::makeError("--mesh=" + text + ": " + llvm::toString(mesh.takeError()));
  target.mesh = std::move(*mesh);
  return llvm::Error::success();
}

/// `read`: the parsed `value` of the option, or the error in it.
llvm::Error take(llvm::StringRef name, llvm::StringRef value, llvm::Expected<std::string> read,
                 std::string &into) {
  if (!read)
    return coll::run::makeError(name + "=" + value + ": " + llvm::toString(read.takeError()));
  into = std::move(*read);
  return llvm::Error::success();
}

/// `words`: the values that the option accepts.
llvm::Error readWord(llvm::StringRef name, llvm::StringRef value,
                     llvm::ArrayRef<llvm::StringRef> words, std::string &into) {
  if (!llvm::is_contained(words, value))
    return coll::run::makeError(name + "=" + value + ": expected " + llvm::join(words, " or "));
  into = value.str();
  return llvm::Error::success();
}

/// The number of ranks is that of the mesh; both may be given if they agree.
llvm::Error countRanks(coll::run::Target &target) {
  if (target.mesh.empty())
    return llvm::Error::success();
  const int64_t total = coll::run::countRanks(target.mesh);
  if (target.ranks.value_or(total) != total)
    return coll::run::makeError("--ranks=" + llvm::Twine(*target.ranks) + ", but --mesh has " +
                                llvm::Twine(total));
  target.ranks = total;
  return llvm::Error::success();
}

llvm::Error readOption(llvm::StringRef argument, Options &options) {
  auto [name, value] = argument.split('=');
  if (name == "--ranks")
    return readNumber(name, value, 1, coll::run::kMaxRanks, options.target.ranks);
  if (name == "--state-args")
    return readNumber(name, value, 0, INT32_MAX, options.stateArgs);
  if (name == "--mesh")
    return readMesh(value, options.target);
  if (name == "--strategy" && !value.empty()) {
    options.target.strategy = value.str();
    return llvm::Error::success();
  }
  if (name == "--root")
    return readWord(name, value, {"hash", "balanced", "shard"}, options.target.root);
  if (name == "--route")
    return readWord(name, value, {"direct", "ring"}, options.target.route);
  if (name == "--accumulate")
    return readNumber(name, value, 1, kMaxMicroBatches, options.target.accumulate);
  if (name == "--staleness")
    return readNumber(name, value, 0, coll::run::kMaxStaleness, options.target.staleness);
  if (name == "--stages")
    return readNumber(name, value, 1, coll::run::kMaxRanks, options.target.stages);
  if (name == "--micro-batches")
    return readNumber(name, value, 1, kMaxMicroBatches, options.target.microBatches);
  if (name == "--schedule" && !value.empty()) {
    options.target.schedule = value.str();
    return llvm::Error::success();
  }
  if (name == "--stage" && !value.empty()) {
    options.target.stagePatterns.push_back(value.str());
    return llvm::Error::success();
  }
  if (name == "--stage-mesh" && !value.empty()) {
    options.target.stageMeshes.push_back(value.str());
    return llvm::Error::success();
  }
  if (name == "--shard" && !value.empty()) {
    options.target.shards.push_back(value.str());
    return llvm::Error::success();
  }
  if (name == "--device")
    return take(name, value, coll::run::parseDevice(value), options.target.gpu);
  if (name == "--matmul-precision")
    return take(name, value, coll::run::parsePrecision(value), options.target.precision);
  if (name == "--fuse-attention") {
    std::string word;
    llvm::Error error = readWord(name, value, {"auto", "on", "off"}, word);
    if (word == "on" || word == "off")
      options.fusesAttention = word == "on";
    return error;
  }
  if (name == "--fuse-epilogues")
    return readWord(name, value, {"auto", "off", "bias", "gelu", "all"}, options.epilogues);
  if (name == "--convolutions")
    return readWord(name, value, {"auto", "library", "packed"}, options.convolutions);
  if (name == "--combine") {
    llvm::Expected<int64_t> bytes = coll::run::parseBytes(value, 0);
    if (!bytes)
      return coll::run::makeError(argument + ": " + llvm::toString(bytes.takeError()));
    options.target.combineBytes = *bytes;
    return llvm::Error::success();
  }
  if (name == "--emit")
    return readWord(name, value, {"ptx", "gpu", "llvm"}, options.emit);
  if (argument == "--no-verify") {
    options.target.verify = false;
    return llvm::Error::success();
  }
  return coll::run::makeError("unknown option '" + argument + "'; --help lists them");
}

llvm::Error checkCombinations(const coll::run::Target &target) {
  const coll::run::Target plain;
  if (target.stages == 0 && (target.microBatches > 1 || target.schedule != plain.schedule ||
                             !target.stagePatterns.empty() || !target.stageMeshes.empty()))
    return coll::run::makeError(
        "--schedule, --micro-batches, --stage and --stage-mesh need --stages");
  return coll::run::checkUpdates(target);
}

/// Whether attention is fused if the option is not given: if this build has the kernels.
llvm::Error chooseAttention(Options &options) {
  const bool isForGpu = !options.target.gpu.empty();
  if (options.fusesAttention.value_or(false) && !isForGpu)
    return coll::run::makeError(
        "--fuse-attention=on needs --device=gpu: on CPUs attention is not fused");
  options.target.fuseAttention =
      isForGpu && options.fusesAttention.value_or(coll::kernels::kernelsAvailable().ok());
  return llvm::Error::success();
}

/// Whether cuDNN computes convolutions if the option is not given: if it is found here.
llvm::Error chooseConvolutions(Options &options) {
  const bool isForGpu = !options.target.gpu.empty();
  if (options.convolutions == "library" && !isForGpu)
    return coll::run::makeError(
        "--convolutions=library needs --device=gpu: on CPUs convolutions are packed");
  options.target.convolutions =
      isForGpu && (options.convolutions == "library" ||
                   (options.convolutions == "auto" && coll::kernels::convolutionsAvailable().ok()));
  return llvm::Error::success();
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
  if ((options.emit == "ptx" || options.emit == "gpu") && options.target.gpu.empty())
    return coll::run::makeError("--emit=" + options.emit +
                                " needs --device=gpu: a step for CPUs has no GPU code");
  if (llvm::Error error = countRanks(options.target))
    return error;
  if (llvm::Error error = checkCombinations(options.target))
    return error;
  options.target.epilogues =
      llvm::cantFail(coll::run::parseEpilogues(options.epilogues, !options.target.gpu.empty()));
  if (llvm::Error error = joinErrors(chooseAttention(options), chooseConvolutions(options)))
    return error;
  return options;
}

/// The text that --emit asks for, of all classes of ranks.
std::string getText(const coll::run::Executable &compiled, llvm::StringRef form) {
  std::string text;
  if (form == "ptx") {
    for (const mlir::coll::ObjectCode::Class &ranks : compiled.code.classes)
      text += llvm::StringRef(ranks.gpuImage).rtrim('\0'); // drivers want a terminated text
    return text;
  }
  // The last stage of that name: clean-ups do not change it.
  const llvm::StringRef stage = form == "gpu" ? "to-exec" : "emit-executable";
  for (const coll::run::Stage &candidate : compiled.stages)
    if (llvm::StringRef(candidate.name).ends_with(stage))
      text = candidate.text;
  return text;
}

llvm::Error writeText(llvm::StringRef text, llvm::StringRef path) {
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (!error) {
    file << text;
    file.close();
    error = file.error();
  }
  if (!error)
    return llvm::Error::success();
  file.clear_error();
  return coll::run::makeError("cannot write '" + path + "': " + error.message());
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
  request.keepStages = options.emit == "gpu" || options.emit == "llvm";
  auto compiled = coll::run::compile(request);
  if (!compiled)
    return compiled.takeError();
  if (!options.emit.empty())
    return writeText(getText(*compiled, options.emit), options.output);
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
