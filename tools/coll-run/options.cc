//===- options.cc - the command line of coll-run --------------------------------===//

#include "tools/coll-run/options.h"

#include "compiler/error.h"
#include "driver/place.h"
#include "runtime/base/env.h"
#include "runtime/kernels/available.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace coll::run {
namespace {

namespace cl = llvm::cl;

cl::OptionCategory stepCategory("1. What runs, and on how many ranks");
cl::OptionCategory dataCategory("2. Data");
cl::OptionCategory checkCategory("3. Checks");
cl::OptionCategory outputCategory("4. Output");

cl::opt<std::string> input(cl::Positional, cl::value_desc("STEP.mlir"), cl::desc("STEP.mlir"),
                           cl::cat(stepCategory));
cl::opt<std::string> ranks("ranks", cl::value_desc("N"), cl::cat(stepCategory),
                           cl::desc("number of ranks (default: the mesh's size, or 1)"));
cl::opt<std::string> mesh("mesh", cl::value_desc("dp=N,tp=M"), cl::cat(stepCategory),
                          cl::desc("the mesh: axis names and sizes"));
cl::opt<std::string>
    strategy("strategy", cl::value_desc("NAME"), cl::cat(stepCategory),
             cl::desc("what is split: data, fsdp, zero1, tensor, expert, "
                      "sequence, spatial, or several\nas fsdp,tensor:AXIS; auto searches for the "
                      "fastest that fits; none for one rank\n(default: data, "
                      "with several ranks)"));
cl::opt<std::string>
    timePlans("time-plans", cl::value_desc("N"), cl::cat(stepCategory),
              cl::desc("with --strategy=auto: run the N best plans, each of other strategies or "
                       "another\nmesh, on made-up data, and take the one that is fastest here"));
cl::list<std::string> shards("shard", cl::value_desc("PATTERN: [AXIS, -]"), cl::cat(stepCategory),
                             cl::desc("the sharding of arguments by name, as 'dense*/kernel: [-, "
                                      "tp]'; may be\ngiven several times"));
cl::opt<std::string> topology("topology", cl::value_desc("FILE.json"), cl::cat(stepCategory),
                              cl::desc("hosts and links whose times decide how data moves, and "
                                       "are predicted for\n(coll-info --topology writes this "
                                       "machine's; without it bytes decide)"));
cl::opt<std::string>
    sumPrecision("sum-precision", cl::value_desc("f32|storage"), cl::cat(stepCategory),
                 cl::desc("what floats narrower than f32 travel as where ranks are summed: f32 "
                          "(default),\nor their own type, at half the bytes and one rounding "
                          "more"));
cl::opt<std::string>
    combine("combine", cl::value_desc("4MiB"), cl::cat(stepCategory),
            cl::desc("reductions over ranks that do not need each other are one call, of this size "
                     "at\nmost (default: 4MiB), and so are gathers of small tensors; 0: each is a "
                     "call.\nNot with --stages"));
cl::opt<std::string> stages("stages", cl::value_desc("N"), cl::cat(stepCategory),
                            cl::desc("cut the step into N pipeline stages; with --mesh, its first "
                                     "axis is pp=N"));
cl::opt<std::string> schedule("schedule", cl::value_desc("NAME"), cl::init("1f1b"),
                              cl::cat(stepCategory),
                              cl::desc("order of the stages' work: gpipe, 1f1b (default), "
                                       "interleaved:V, zb-h1, zb-h2,\nzbv, dualpipev, or a table "
                                       "file"));
cl::opt<std::string> microBatches("micro-batches", cl::value_desc("M"), cl::cat(stepCategory),
                                  cl::desc("with --stages: parts that the batch is cut into"));
cl::list<std::string> stagePatterns("stage", cl::value_desc("PATTERN: N"), cl::cat(stepCategory),
                                    cl::desc("the stage of parameters by name, as 'layer_1*: 1' "
                                             "(default: by cost);\nmay be given several times"));
cl::list<std::string> stageMeshes("stage-mesh", cl::value_desc("N: AXIS=SIZE,…"),
                                  cl::cat(stepCategory),
                                  cl::desc("the mesh of one stage, as '1: dp=4', whose axes join "
                                           "neighbouring axes of\n--mesh; may be given several "
                                           "times"));
cl::opt<std::string> root("root", cl::value_desc("HOW"), cl::cat(stepCategory),
                          cl::desc("update each parameter at one rank, its root, chosen by: hash "
                                   "(of its name),\nbalanced (by size), shard (a part of each "
                                   "parameter at every rank)"));
cl::opt<std::string> route("route", cl::value_desc("WAY"), cl::init("direct"),
                           cl::cat(stepCategory),
                           cl::desc("with --root: gradients go to the root and parameters back "
                                    "direct (default), or\nround a ring"));
cl::opt<std::string> accumulate("accumulate", cl::value_desc("K"), cl::cat(stepCategory),
                                cl::desc("cut each rank's batch into K micro-batches, and merge "
                                         "their gradients once"));
cl::opt<std::string> staleness("staleness", cl::value_desc("K"), cl::cat(stepCategory),
                               cl::desc("apply gradients K steps late (default: 0)"));
cl::opt<std::string> stateArgs("state-args", cl::value_desc("K"), cl::cat(stepCategory),
                               cl::desc("the first K arguments are state, updated by the first K "
                                        "results"));
cl::opt<std::string>
    backend("backend", cl::value_desc("NAME"), cl::init("threads"), cl::cat(stepCategory),
            cl::desc("who carries out collectives: threads (default), net, or plugin:PATH, "
                     "a library of your own; "
                     "under a launcher, net makes each process a rank; for steps "
                     "on GPUs also nccl, direct or auto, in one process"));
cl::opt<bool> noGraph("no-graph", cl::cat(stepCategory),
                      cl::desc("steps on GPUs make no CUDA graphs"));
cl::opt<bool>
    processes("processes", cl::cat(stepCategory),
              cl::desc("with --backend=net and --ranks: one process per rank, on this machine"));
cl::opt<std::string>
    timeout("timeout", cl::value_desc("SECONDS"), cl::cat(stepCategory),
            cl::desc("longest wait for another rank (default: COLL_TIMEOUT_US, or 60)"));
cl::opt<std::string> affinity("affinity", cl::value_desc("HOW"), cl::cat(stepCategory),
                              cl::desc("processors that ranks are kept on: none, compact, spread "
                                       "(over NUMA nodes), or a list as 0,2,4-7"));
cl::opt<std::string> device("device", cl::value_desc("NAME"), cl::init("cpu"),
                            cl::cat(stepCategory),
                            cl::desc("where the step runs: cpu (default), gpu, or gpu:sm_90 with "
                                     "code for such GPUs"));
cl::opt<std::string> precision("matmul-precision", cl::value_desc("NAME"), cl::init("highest"),
                               cl::cat(stepCategory),
                               cl::desc("what products on GPUs may round f32 factors to: highest "
                                        "(default), tf32 or bf16"));
cl::opt<std::string> fuseAttention("fuse-attention", cl::value_desc("auto|on|off"),
                                   cl::init("auto"), cl::cat(stepCategory),
                                   cl::desc("attention on GPUs without its matrix of scores in "
                                            "memory; auto (default): where this build has GPU "
                                            "kernels"));
cl::opt<std::string> epilogues("fuse-epilogues", cl::value_desc("auto|off|bias|gelu|all"),
                               cl::init("auto"), cl::cat(stepCategory),
                               cl::desc("products compute what follows them: bias (and relu), "
                                        "gelu (too), or all, also its gradient; auto (default): "
                                        "gelu on GPUs, off on CPUs"));
cl::opt<std::string>
    convolutions("convolutions", cl::value_desc("auto|library|packed"), cl::init("auto"),
                 cl::cat(stepCategory),
                 cl::desc("on GPUs: by cuDNN, or copied into matrix products; auto "
                          "(default): by cuDNN where it is here"));
cl::opt<bool> noVerify("no-verify", cl::cat(stepCategory),
                       cl::desc("run without the proof that the ranks cannot mismatch"));
cl::opt<bool> noCache("no-cache", cl::cat(stepCategory),
                      cl::desc("compile even what an earlier run has compiled, and keep nothing"));

cl::opt<std::string> data("data", cl::value_desc("FILE.npz"), cl::cat(dataCategory),
                          cl::desc("initial state (state_in_I) and batches (batch_STEP_J)"));
cl::opt<std::string> initFile("init", cl::value_desc("FILE.npz"), cl::cat(dataCategory),
                              cl::desc("initial state only; a file from --save resumes"));
cl::opt<std::string> steps("steps", cl::value_desc("S"), cl::cat(dataCategory),
                           cl::desc("number of steps (default: the batches in --data, or 1)"));
cl::opt<std::string> dataset("dataset", cl::value_desc("FILE.npz"), cl::cat(dataCategory),
                             cl::desc("train over train_* arrays, shuffled each epoch"));
cl::opt<std::string> batchSize("batch-size", cl::value_desc("B"), cl::cat(dataCategory),
                               cl::desc("with --dataset: the step's batch size, checked"));
cl::opt<std::string> epochs("epochs", cl::value_desc("E"), cl::cat(dataCategory),
                            cl::desc("with --dataset: passes over it (default 1)"));
cl::opt<std::string> seed("seed", cl::value_desc("X"), cl::cat(dataCategory),
                          cl::desc("seed of shuffling, random data, checks' noise (default 0)"));
cl::opt<std::string> evalFile("eval", cl::value_desc("EVAL.mlir"), cl::cat(dataCategory),
                              cl::desc("with --dataset: (state, test_*) -> number correct"));

cl::opt<std::string> check("check", cl::value_desc("cpu|gpu"), cl::ValueOptional,
                           cl::cat(checkCategory),
                           cl::desc("also run on one rank, of the CPU (default) or a GPU, and "
                                    "compare every result"));
cl::opt<std::string> reference("reference", cl::value_desc("FILE.npz"), cl::cat(checkCategory),
                               cl::desc("compare with its state_out_I and losses"));
cl::opt<std::string> against(
    "against", cl::value_desc("STEP.mlir"), cl::cat(checkCategory),
    cl::desc("for a later level: the step that it was made from, which --check runs on one rank"));
cl::opt<bool> strict("strict", cl::cat(checkCategory),
                     cl::desc("fail what is beyond the tolerance, even by rounding noise"));
cl::opt<std::string> loss("loss", cl::value_desc("NAME"), cl::cat(dataCategory),
                          cl::desc("the result that is the loss, by its name, or its number after "
                                   "the state (default: the one named loss, or the first scalar)"));
cl::opt<std::string> rtol("rtol", cl::value_desc("X"), cl::cat(checkCategory),
                          cl::desc("tolerance relative to a tensor's largest value (default 1e-4, "
                                   "losses 1e-5)"));
cl::opt<std::string> atol("atol", cl::value_desc("X"), cl::cat(checkCategory),
                          cl::desc("absolute tolerance (default 1e-9)"));
cl::opt<bool>
    rms("rms", cl::cat(checkCategory),
        cl::desc("compare a tensor's root-mean-square difference instead of its largest"));

cl::opt<bool> planOnly("plan-only", cl::cat(outputCategory),
                       cl::desc("run nothing: print shardings, collectives, memory and predicted "
                                "time"));
cl::opt<std::string> explain("explain", cl::value_desc("FILE.json"), cl::ValueOptional,
                             cl::cat(outputCategory),
                             cl::desc("say before the run which collectives there are, and why; "
                                      "with a file, there"));
cl::opt<std::string> memoryLimit("memory-limit", cl::value_desc("16GiB"), cl::cat(outputCategory),
                                 cl::desc("refuse, before anything runs, a step of which a rank "
                                          "needs more"));
cl::opt<std::string> save("save", cl::value_desc("FILE.npz"), cl::cat(outputCategory),
                          cl::desc("write the final state (state_out_I) and losses; after "
                                   "Ctrl-C, those of the last step\n(Ctrl-C again, a second or "
                                   "more later, ends at once)"));
cl::opt<std::string> report("report", cl::value_desc("FILE.html"), cl::cat(outputCategory),
                            cl::desc("write a page with losses, times, collectives and memory"));
cl::opt<std::string> profile("profile", cl::value_desc("FILE.pftrace"), cl::cat(outputCategory),
                             cl::desc("write the timeline of all ranks, for Perfetto's viewer"));
cl::opt<std::string> dumpStages("dump-stages", cl::value_desc("DIR"), cl::cat(outputCategory),
                                cl::desc("write the IR of every level to DIR"));
cl::opt<bool> print("print", cl::cat(outputCategory),
                    cl::desc("print the final state and the last step's results"));
cl::opt<bool> verbose("v", cl::cat(outputCategory),
                      cl::desc("remarks with all frames of the calls that lead to their lines"));
cl::opt<bool> quiet("quiet", cl::cat(outputCategory),
                    cl::desc("print errors, failed checks and --print only"));

cl::extrahelp examples(R"(
EXAMPLES:

  A JAX step on 4 ranks, compared with the run on one:
    coll-run step.mlir --ranks=4 --state-args=8 --data=reference.npz --check

  The same, compared with what JAX computed:
    coll-run step.mlir --ranks=4 --state-args=8 --data=reference.npz --reference=reference.npz

  Train over a data set and report the held-out accuracy:
    coll-run step.mlir --ranks=4 --state-args=8 --init=reference.npz \
      --dataset=digits.npz --epochs=10 --eval=eval.mlir

  What it would do, before it runs, and whether it fits:
    coll-run step.mlir --mesh=dp=2,tp=2 --strategy=fsdp,tensor --state-args=8 --plan-only \
      --memory-limit=16GiB

  Where time and memory go, as a page for a browser:
    coll-run step.mlir --ranks=4 --state-args=8 --data=reference.npz --report=report.html

  What each rank did when, as a timeline for https://ui.perfetto.dev:
    coll-run step.mlir --ranks=4 --state-args=8 --data=reference.npz --profile=run.pftrace

  With one process per rank, here or on several machines:
    coll-run step.mlir --backend=net --ranks=4 --processes --state-args=8 --data=reference.npz
    mpirun -n 4 -x COLL_SECRET -x COLL_BOOTSTRAP=host0:7000 coll-run step.mlir --backend=net …

  See what the compiler did; each file runs as well:
    coll-run step.mlir --ranks=4 --state-args=8 --dump-stages=stages
    coll-run stages/05-partition.mlir
)");

bool isOurs(const cl::Option &option) {
  const cl::OptionCategory *ours[] = {&stepCategory, &dataCategory, &checkCategory,
                                      &outputCategory};
  return llvm::any_of(option.Categories, [&](cl::OptionCategory *category) {
    return llvm::is_contained(ours, category);
  });
}

/// LLVM's own options come along with its library. They mean nothing here, so
/// they are neither accepted nor suggested.
void prepareOptions() {
  std::vector<cl::Option *> foreign;
  for (auto &entry : cl::getRegisteredOptions()) {
    cl::Option *option = entry.second;
    bool isHelp = entry.first == "help" || entry.first == "version";
    if (isOurs(*option)) // the last one counts, so that a script's defaults can be overridden
      option->setNumOccurrencesFlag(cl::ZeroOrMore);
    else if (!isHelp)
      foreign.push_back(option);
  }
  llvm::sort(foreign);
  foreign.erase(llvm::unique(foreign), foreign.end());
  for (cl::Option *option : foreign)
    option->removeArgument();
}

/// "coll-run: Unknown …\ncoll-run: Did you mean …\n" as one message.
std::string tidy(llvm::StringRef text, llvm::StringRef program) {
  if (text.empty())
    return "invalid command line";
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  std::string message;
  for (llvm::StringRef line : lines) {
    if (line.consume_front(program))
      line.consume_front(": ");
    message += (message.empty() ? "" : "\n  ") + line.str();
  }
  return message;
}

/// Reads a flag's number into `value`, which keeps its default where the flag is absent.
template <typename T>
llvm::Error readInteger(const cl::opt<std::string> &flag, uint64_t least, uint64_t most, T &value) {
  if (!flag.getNumOccurrences())
    return llvm::Error::success();
  uint64_t number = 0;
  if (llvm::StringRef(flag).getAsInteger(10, number) || number < least || number > most)
    return makeError("--" + flag.ArgStr + "=" + flag + ": expected a whole number from " +
                     llvm::Twine(least) + " to " + llvm::Twine(most));
  value = number;
  return llvm::Error::success();
}

template <typename T>
llvm::Error readReal(const cl::opt<std::string> &flag, double most, T &value) {
  if (!flag.getNumOccurrences())
    return llvm::Error::success();
  double number = 0;
  if (llvm::StringRef(flag).getAsDouble(number) || !(number >= 0 && number <= most))
    return makeError("--" + flag.ArgStr + "=" + flag + ": expected a number from 0 to " +
                     llvm::Twine(int64_t(most)));
  value = number;
  return llvm::Error::success();
}

llvm::Error readTimeout(Options &options) {
  if (!timeout.getNumOccurrences())
    return llvm::Error::success();
  double seconds = 0;
  // In whole microseconds; 0 of them would leave it to COLL_TIMEOUT_US.
  if (llvm::StringRef(timeout).getAsDouble(seconds) || !(seconds >= 1e-6 && seconds <= 1e6))
    return makeError("--timeout=" + timeout +
                     ": expected a number of seconds above 0 and up to 1000000");
  options.timeoutUs = int64_t(seconds * 1e6);
  return llvm::Error::success();
}

llvm::Error readMemoryLimit(Options &options) {
  if (!memoryLimit.getNumOccurrences())
    return llvm::Error::success();
  llvm::Expected<int64_t> bytes = parseBytes(memoryLimit, 1);
  if (!bytes)
    return makeError("--memory-limit=" + memoryLimit + ": " + llvm::toString(bytes.takeError()));
  options.memoryLimit = *bytes;
  return llvm::Error::success();
}

llvm::Error readCombine(Options &options) {
  if (!combine.getNumOccurrences())
    return llvm::Error::success();
  llvm::Expected<int64_t> bytes = parseBytes(combine, 0);
  if (!bytes)
    return makeError("--combine=" + combine + ": " + llvm::toString(bytes.takeError()));
  options.combineBytes = *bytes;
  return llvm::Error::success();
}

llvm::Error readSumPrecision(Options &options) {
  options.narrowSums = sumPrecision == "storage";
  if (sumPrecision.getNumOccurrences() && sumPrecision != "f32" && sumPrecision != "storage")
    return makeError("--sum-precision=" + sumPrecision + ": expected f32 or storage");
  return llvm::Error::success();
}

llvm::Error readNumbers(Options &options) {
  using llvm::joinErrors;
  llvm::Error error = readInteger(ranks, 1, kMaxRanks, options.ranks);
  error = joinErrors(std::move(error), readInteger(stages, 1, kMaxRanks, options.stages));
  error = joinErrors(std::move(error), readInteger(microBatches, 1, 65536, options.microBatches));
  error = joinErrors(std::move(error), readInteger(stateArgs, 0, 1'000'000, options.stateArgs));
  error = joinErrors(std::move(error), readInteger(accumulate, 1, 1'000'000, options.accumulate));
  error = joinErrors(std::move(error), readInteger(staleness, 0, kMaxStaleness, options.staleness));
  error = joinErrors(std::move(error), readInteger(steps, 1, 1'000'000'000, options.steps));
  error = joinErrors(std::move(error), readInteger(batchSize, 1, 1'000'000'000, options.batchSize));
  error = joinErrors(std::move(error), readInteger(timePlans, 1, 8, options.timePlans));
  error = joinErrors(std::move(error), readInteger(epochs, 1, 1'000'000, options.epochs));
  error = joinErrors(std::move(error), readInteger(seed, 0, UINT64_MAX, options.seed));
  error = joinErrors(std::move(error), readReal(rtol, 1e9, options.rtol));
  error = joinErrors(std::move(error), readReal(atol, 1e9, options.atol));
  error = joinErrors(std::move(error), readMemoryLimit(options));
  error = joinErrors(std::move(error), readCombine(options));
  error = joinErrors(std::move(error), readSumPrecision(options));
  return joinErrors(std::move(error), readTimeout(options));
}

llvm::Error readFuseAttention(Options &options) {
  if (fuseAttention != "auto" && fuseAttention != "on" && fuseAttention != "off")
    return makeError("--fuse-attention=" + fuseAttention + ": expected auto, on or off");
  if (fuseAttention == "on" && options.gpu.empty())
    return makeError("--fuse-attention=on needs --device=gpu: on CPUs attention is not fused");
  options.fuseAttention =
      !options.gpu.empty() && (fuseAttention == "on" ||
                               (fuseAttention == "auto" && coll::kernels::kernelsAvailable().ok()));
  return llvm::Error::success();
}

llvm::Error readConvolutions(Options &options) {
  if (!llvm::is_contained({"auto", "library", "packed"}, convolutions))
    return makeError("--convolutions=" + convolutions + ": expected auto, library or packed");
  if (convolutions == "library" && options.gpu.empty())
    return makeError("--convolutions=library needs --device=gpu: on CPUs convolutions are packed");
  options.convolutions = !options.gpu.empty() &&
                         (convolutions == "library" ||
                          (convolutions == "auto" && coll::kernels::convolutionsAvailable().ok()));
  return llvm::Error::success();
}

llvm::Error readEpilogues(Options &options) {
  llvm::Expected<std::string> chosen = parseEpilogues(epilogues, !options.gpu.empty());
  if (!chosen)
    return makeError("--fuse-epilogues=" + epilogues + ": " + llvm::toString(chosen.takeError()));
  options.epilogues = std::move(*chosen);
  return llvm::Error::success();
}

llvm::Error readDevice(Options &options) {
  llvm::Expected<std::string> gpu = parseDevice(device);
  if (!gpu)
    return makeError("--device=" + device + ": " + llvm::toString(gpu.takeError()));
  llvm::Expected<std::string> chosen = parsePrecision(precision);
  if (!chosen)
    return makeError("--matmul-precision=" + precision + ": " + llvm::toString(chosen.takeError()));
  if (precision.getNumOccurrences() && gpu->empty())
    return makeError("--matmul-precision needs --device=gpu: CPUs do not round factors");
  options.gpu = std::move(*gpu);
  options.precision = std::move(*chosen);
  if (!llvm::is_contained({"", "cpu", "gpu"}, check))
    return makeError("--check=" + check + ": expected cpu or gpu");
  if (check == "gpu")
    options.checkGpu = options.gpu.empty() ? llvm::cantFail(parseDevice(check)) : options.gpu;
  llvm::Error error = joinErrors(readFuseAttention(options), readConvolutions(options));
  return joinErrors(std::move(error), readEpilogues(options));
}

/// An empty value probably comes from a shell variable that is not set, so it is an error.
llvm::Error checkNotEmpty() {
  for (const cl::opt<std::string> *flag :
       {&strategy, &root, &route, &schedule, &backend, &affinity, &data, &initFile, &dataset,
        &evalFile, &reference, &save, &report, &profile, &dumpStages, &against, &loss, &topology})
    if (flag->getNumOccurrences() && flag->empty())
      return makeError("--" + flag->ArgStr + "=: the value is empty");
  return llvm::Error::success();
}

/// Flags that need another one, whatever their values are.
llvm::Error checkCompanions(const Options &options) {
  if (options.stages == 0 && (schedule.getNumOccurrences() || microBatches.getNumOccurrences() ||
                              stagePatterns.getNumOccurrences() || stageMeshes.getNumOccurrences()))
    return makeError("--schedule, --micro-batches, --stage and --stage-mesh need --stages");
  if (options.dataset.empty() && epochs.getNumOccurrences())
    return makeError("--eval, --batch-size and --epochs need --dataset");
  return llvm::Error::success();
}

/// As a shell would take it; the path of the program is left out.
std::string joinCommandLine(int argc, char **argv) {
  std::string text = "coll-run";
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef word = argv[i];
    bool isPlain = !word.empty() && llvm::all_of(word, [](char c) {
      return llvm::isAlnum(c) || llvm::StringRef("_-./=,:+@%").contains(c);
    });
    std::string quoted = word.str();
    for (size_t at = 0; (at = quoted.find('\'', at)) != std::string::npos; at += 4)
      quoted.replace(at, 1, "'\\''");
    text += isPlain ? " " + quoted : " '" + quoted + "'";
  }
  return text;
}

Options collect() {
  Options options;
  options.input = input;
  options.strategy = strategy;
  options.shards.assign(shards.begin(), shards.end());
  options.topology = topology;
  options.planOnly = planOnly;
  options.explain = explain.getNumOccurrences() > 0;
  options.explainFile = explain;
  options.schedule = schedule;
  options.stagePatterns.assign(stagePatterns.begin(), stagePatterns.end());
  options.stageMeshes.assign(stageMeshes.begin(), stageMeshes.end());
  options.root = root;
  options.route = route;
  options.backend = backend;
  options.processes = processes;
  options.affinity = affinity;
  options.graphs = !noGraph;
  options.verify = !noVerify;
  options.cacheDir = noCache ? "" : rt::cacheFolder();
  options.cacheBytes = static_cast<uint64_t>(rt::envInt(rt::EnvVar::CacheBytes));
  options.data = data;
  options.init = initFile;
  options.dataset = dataset;
  options.eval = evalFile;
  options.check = check.getNumOccurrences() > 0;
  options.rms = rms;
  options.strict = strict;
  options.against = against;
  options.loss = loss;
  options.reference = reference;
  options.save = save;
  options.report = report;
  options.profile = profile;
  options.dumpStages = dumpStages;
  options.print = print;
  options.quiet = quiet;
  options.verbose = verbose;
  return options;
}

} // namespace

void removeOptions() {
  std::vector<cl::Option *> options = {&input};
  for (auto &entry : cl::getRegisteredOptions())
    if (isOurs(*entry.second))
      options.push_back(entry.second);
  for (cl::Option *option : options)
    option->removeArgument();
}

llvm::Expected<Options> parseOptions(int argc, char **argv) {
  prepareOptions();
  cl::HideUnrelatedOptions({&stepCategory, &dataCategory, &checkCategory, &outputCategory});
  cl::SetVersionPrinter([](llvm::raw_ostream &os) { os << "coll-run " COLL_VERSION "\n"; });
  std::string text;
  llvm::raw_string_ostream errors(text);
  if (!cl::ParseCommandLineOptions(
          argc, argv, "Runs a training step, written for one device, on N ranks.\n", &errors))
    return makeError(tidy(text, llvm::sys::path::filename(argv[0])));
  Options options = collect();
  options.commandLine = joinCommandLine(argc, argv);
  if (llvm::Error error = llvm::joinErrors(checkNotEmpty(), readNumbers(options)))
    return error;
  if (mesh.getNumOccurrences()) {
    llvm::Expected<std::vector<MeshAxisOption>> axes = parseMesh(mesh);
    if (!axes)
      return makeError("--mesh=" + mesh + ": " + llvm::toString(axes.takeError()));
    options.mesh = std::move(*axes);
    if (!options.ranks)
      options.ranks = countRanks(options.mesh);
  }
  if (options.stages > 0 && !options.ranks)
    options.ranks = options.stages;
  if (llvm::Error error = readDevice(options))
    return error;
  if (llvm::Error error = checkCombinations(options))
    return error;
  if (llvm::Error error = checkCompanions(options))
    return error;
  if (llvm::Error error = checkOutputs(options))
    return error;
  return options;
}

} // namespace coll::run
