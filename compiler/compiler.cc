//===- compiler.cc - a step in, code for its ranks out ---------------------------===//

#include "compiler/compiler.h"

#include "compiler/large_stack.h"
#include "compiler/step_compiler.h"
#include "compiler/untrusted_text.h"

namespace coll::run {

static llvm::Error compileInto(Executable &executable, const Request &request) {
  if (llvm::Error error = mlir::coll::checkUntrusted(request.name, request.text))
    return error;
  StepCompiler compiler(request.onMessage);
  if (!request.cacheFolder.empty())
    compiler.useCache(request.cacheFolder, request.cacheBytes);
  StageWriter stages(executable.stages);
  if (request.keepStages)
    compiler.dumpStages(&stages);
  StepFile file =
      compiler.open(request.name, llvm::MemoryBuffer::getMemBufferCopy(request.text, request.name),
                    request.stateArgs);
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
