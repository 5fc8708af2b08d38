#include "test/fuzz/runner.h"

#include "compiler/error.h"
#include "compiler/untrusted_text.h"
#include "passes/passes.h"
#include "test/fuzz/guard.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <utility>

namespace coll::fuzz {

Runner::Runner() : context_(mlir::MLIRContext::Threading::DISABLED) {
  mlir::DialectRegistry registry;
  mlir::coll::registerCollDialects(registry);
  context_.appendDialectRegistry(registry);
  context_.allowUnregisteredDialects();
  context_.printOpOnDiagnostic(false);
  context_.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      reported_ += diagnostic.str() + "\n";
    return mlir::success();
  });
}

llvm::Expected<run::StepIr> Runner::load(const std::string &text,
                                         std::optional<int64_t> stateArgs) {
  // Parsed twice, so that a crash says whether it was in the packaged parser.
  enterPhase(Phase::Parse);
  if (mlir::coll::findDeepNesting(text))
    return run::makeError("nests too deep");
  if (!mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context_)))
    return run::makeError("is not MLIR that can be read");
  enterPhase(Phase::Compile);
  return run::loadStep(context_, "step", text, stateArgs, nullptr);
}

std::string Runner::explain(llvm::Error error) {
  return llvm::toString(std::move(error)) + "\n" + std::exchange(reported_, {});
}

llvm::Expected<run::LaunchedStep> Runner::launch(run::StepIr step,
                                                 const run::CompileOptions &options) {
  llvm::Expected<mlir::coll::ObjectCode> code = run::compileStep(std::move(step), options, nullptr);
  if (!code)
    return code.takeError();
  rt::ExecutorOptions execution;
  execution.timeoutUs = 20'000'000;
  return run::launchStep(std::move(*code), execution);
}

} // namespace coll::fuzz
