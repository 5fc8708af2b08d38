//===- compiler.cc - compiles a step for its ranks -------------------------------===//

#include "compiler/compiler.h"

#include "compiler/large_stack.h"
#include "compiler/step_compiler.h"
#include "compiler/untrusted_text.h"

#include "mlir/Bytecode/BytecodeReader.h"

namespace coll::run {

/// The parser needs a zero after a text, but not after bytecode.
static std::unique_ptr<llvm::MemoryBuffer> bufferOf(const Request &request) {
  if (request.isTerminated || mlir::isBytecode({request.text, request.name}))
    return llvm::MemoryBuffer::getMemBuffer(request.text, request.name, request.isTerminated);
  return llvm::MemoryBuffer::getMemBufferCopy(request.text, request.name);
}

static llvm::Error compileInto(Executable &executable, const Request &request) {
  if (llvm::Error error = mlir::coll::checkUntrusted(request.name, request.text))
    return error;
  StepCompiler compiler(request.onMessage);
  if (!request.cacheFolder.empty())
    compiler.useCache(request.cacheFolder, request.cacheBytes);
  StageWriter stages(executable.stages);
  if (request.keepStages)
    compiler.dumpStages(&stages);
  StepFile file = compiler.open(request.name, bufferOf(request), request.stateArgs);
  file.isReadOnce = true;
  CompileDetails details;
  auto code = compiler.compile(file, request.target, &details);
  executable.isFromCache = details.isCached;
  executable.explanation = std::move(details.explanation);
  executable.messages = compiler.messages().all();
  if (!code)
    return code.takeError();
  executable.code = std::move(*code);
  return llvm::Error::success();
}

llvm::Expected<Executable> compile(const Request &request) {
  Executable executable;
  llvm::Error outcome = llvm::Error::success();
  // The parser and the passes recurse as deep as regions nest.
  llvm::Error started = mlir::coll::callOnLargeStack(
      [&] { outcome = llvm::joinErrors(std::move(outcome), compileInto(executable, request)); });
  if (llvm::Error error = llvm::joinErrors(std::move(started), std::move(outcome)))
    return error;
  return executable;
}

} // namespace coll::run
