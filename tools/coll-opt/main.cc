//===- main.cc - coll-opt: runs passes on IR files ----------------------------===//

#include "compiler/error.h"
#include "compiler/untrusted_text.h"
#include "dialect/dialect.h"
#include "passes/export/convolutions/passes.h"
#include "passes/export/epilogues/passes.h"
#include "passes/passes.h"
#include "passes/pipelines.h"
#include "passes/thread_pool.h"
#include "runtime/dl/beside.h"
#include "tools/common/guard.h"
#include "tools/common/tools.h"

#include "mlir/Debug/CLOptionsSetup.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static constexpr llvm::StringLiteral kOverview =
    "coll-opt: runs passes on IR files\n\n"
    "  coll-opt step.mlir --coll-import=state-args=8 --coll-data-parallel=ranks=4\n"
    "  coll-opt imported.mlir --canonicalize --cse\n"
    "  coll-opt imported.mlir --pass-pipeline='builtin.module(func.func(canonicalize))'\n";

/// Upstream passes that are useful on this IR at any level.
static void registerUpstreamPasses() {
  registerCanonicalizerPass();
  registerCSEPass();
  registerInlinerPass();
  registerLocationSnapshotPass();
  registerLoopInvariantCodeMotionPass();
  registerPrintOpStatsPass();
  registerRemoveDeadValuesPass();
  registerSCCPPass();
  registerStripDebugInfoPass();
  registerSymbolDCEPass();
}

/// LLVM's libraries register hundreds of options, most of which have no effect here: --help shows
/// those that have one.
static void hideUnrelatedOptions() {
  static const llvm::StringSet<> shown = {"help",
                                          "version",
                                          "o",
                                          "pass-pipeline",
                                          "split-input-file",
                                          "verify-diagnostics",
                                          "verify-each",
                                          "verify-roundtrip",
                                          "allow-unregistered-dialect",
                                          "emit-bytecode",
                                          "load-pass-plugin",
                                          "show-dialects",
                                          "list-passes",
                                          "dump-pass-pipeline",
                                          "no-implicit-module",
                                          "mlir-print-ir-after-all",
                                          "mlir-print-ir-after-change",
                                          "mlir-print-ir-before-all",
                                          "mlir-print-ir-after-failure",
                                          "mlir-print-ir-tree-dir",
                                          "mlir-print-debuginfo",
                                          "mlir-print-op-generic",
                                          "mlir-elide-elementsattrs-if-larger",
                                          "mlir-disable-threading",
                                          "mlir-timing",
                                          "mlir-pass-statistics",
                                          "mlir-print-stacktrace-on-diagnostic"};
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    // The option without a name holds the list of passes.
    if (!name.empty() && !shown.contains(name) && !option->ArgStr.empty())
      option->setHiddenFlag(llvm::cl::ReallyHidden);
}

/// An error shows its source line; the whole operation, which may be the module, only on request.
static void leaveOutOperations() {
  constexpr llvm::StringLiteral kName = "mlir-print-op-on-diagnostic";
  llvm::cl::Option *option = llvm::cl::getRegisteredOptions().lookup(kName);
  option->setNumOccurrencesFlag(llvm::cl::ZeroOrMore);
  option->addOccurrence(0, kName, "false");
}

/// A hint about what a text needs before it can be read; empty if there is none.
static StringRef hintAtFrontEnd(StringRef text, bool isImported) {
  if (StringRef hint = mlir::coll::hintAtPrettyForm(text); !hint.empty())
    return hint;
  if (!isImported && text.contains("\"stablehlo."))
    return "it holds StableHLO: import it first, with --coll-import=state-args=K";
  return "";
}

/// Front ends read operations that no dialect here registers.
static bool runsFrontEnd(llvm::ArrayRef<char *> arguments) {
  return llvm::any_of(arguments.drop_front(), [](const char *argument) {
    StringRef text(argument);
    return text.starts_with("-") && text.contains("coll-import");
  });
}

/// LLVM aborts a process that ends with an unreported failure to write.
static bool flush(llvm::raw_fd_ostream &output, StringRef path) {
  output.flush();
  const std::error_code code = output.error();
  output.clear_error();
  if (code)
    llvm::WithColor::error() << "cannot write \"" << path << "\": " << code.message() << "\n";
  return !code;
}

/// Registers the passes of the user's libraries before the options are read, so that each pass has
/// a flag of its own. An error names the library.
static llvm::Error loadPassPlugins(llvm::ArrayRef<char *> arguments) {
  constexpr llvm::StringLiteral kFlag = "load-pass-plugin=";
  for (const char *argument : arguments.drop_front()) {
    StringRef path = StringRef(argument).ltrim('-');
    if (!StringRef(argument).starts_with("-") || !path.consume_front(kFlag))
      continue;
    // A plugin is linked with MLIR's shared library, so its passes do not work with a statically
    // linked MLIR.
    if (::coll::rt::dl::fileOf(reinterpret_cast<const void *>(&registerPass)) ==
        ::coll::rt::dl::fileOf(reinterpret_cast<const void *>(&loadPassPlugins)))
      return ::coll::run::makeError("--load-pass-plugin=" + path +
                                    ": this coll-opt holds MLIR itself and cannot share it; use a "
                                    "coll-opt that is linked with MLIR's shared library");
    llvm::Expected<PassPlugin> plugin = PassPlugin::load(path.str());
    if (!plugin)
      return ::coll::run::makeError("--load-pass-plugin=" + path + ": " +
                                    llvm::toString(plugin.takeError()));
    plugin->registerPassRegistryCallbacks();
  }
  return llvm::Error::success();
}

/// Runs the passes on `threads`. MLIR's own pool ends the process if the system refuses a thread.
static void useThreads(mlir::coll::ThreadPool &threads, MlirOptMainConfig &config) {
  config.setPassPipelineSetupFn([given = config, &threads](PassManager &passes) {
    MLIRContext &context = *passes.getContext();
    if (context.isMultithreadingEnabled()) {
      context.disableMultithreading();
      context.setThreadPool(threads);
    }
    return given.setupPassPipeline(passes);
  });
}

static int runOpt(int argc, char **argv) {
  // Not global: another tool of the same executable has a file of its own.
  llvm::cl::opt<std::string> inputPath(llvm::cl::Positional, llvm::cl::desc("<input file>"),
                                       llvm::cl::init("-"));
  llvm::cl::opt<std::string> outputPath("o", llvm::cl::desc("Output file"),
                                        llvm::cl::value_desc("path"), llvm::cl::init("-"));
  DialectRegistry registry;
  mlir::coll::registerCollDialects(registry);
  registerUpstreamPasses();
  mlir::coll::registerCollPasses();
  mlir::coll::registerCollConvolutionsPasses();
  mlir::coll::registerCollEpiloguesPasses();
  mlir::coll::registerCollPipelines();
  if (llvm::Error error = loadPassPlugins({argv, static_cast<size_t>(argc)})) {
    llvm::WithColor::error() << llvm::toString(std::move(error)) << "\n";
    return EXIT_FAILURE;
  }
  MlirOptMainConfig::registerCLOptions(registry);
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  hideUnrelatedOptions();
  leaveOutOperations();
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &os) { os << "coll-opt " COLL_VERSION "\n"; });
  llvm::cl::ParseCommandLineOptions(argc, argv, kOverview);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  bool isImported = runsFrontEnd({argv, static_cast<size_t>(argc)});
  if (isImported)
    config.allowUnregisteredDialects(true);
  if (config.shouldShowDialects()) {
    for (StringRef name : registry.getDialectNames())
      llvm::outs() << name << "\n";
    return EXIT_SUCCESS;
  }
  if (config.shouldListPasses()) {
    printRegisteredPasses();
    return EXIT_SUCCESS;
  }

  auto input = mlir::coll::readUntrusted(inputPath);
  if (!input) {
    llvm::WithColor::error() << llvm::toString(input.takeError()) << "\n";
    return EXIT_FAILURE;
  }
  std::string error;
  std::unique_ptr<llvm::ToolOutputFile> output = openOutputFile(outputPath, &error);
  if (!output) {
    llvm::WithColor::error() << error << "\n";
    return EXIT_FAILURE;
  }
  StringRef hint =
      hintAtFrontEnd((*input)->getBuffer(), isImported || config.shouldAllowUnregisteredDialects());
  mlir::coll::ThreadPool threads;
  useThreads(threads, config);
  const bool isDone = succeeded(MlirOptMain(output->os(), std::move(*input), registry, config));
  if (!isDone && !hint.empty())
    llvm::WithColor::note() << inputPath << ": " << hint << "\n";
  if (!flush(output->os(), outputPath) || !isDone)
    return EXIT_FAILURE;
  output->keep();
  return EXIT_SUCCESS;
}

int ::coll::optMain(int argc, char **argv) {
  mlir::coll::checkOutputAtExit();
  return mlir::coll::runGuarded("coll-opt", [&] { return runOpt(argc, argv); });
}
