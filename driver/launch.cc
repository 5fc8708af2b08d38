//===- launch.cc - compiled code on its ranks ------------------------------------===//

#include "driver/launch.h"

#include "compiler/error.h"
#include "compiler/target.h"
#include "driver/place.h"
#include "driver/status.h"
#include "runtime/program/step_library.h"

namespace coll::run {

static llvm::Expected<std::vector<rt::Program>>
makePrograms(const std::vector<std::unique_ptr<mlir::coll::JitProgram>> &code) {
  std::vector<rt::Program> classes;
  for (const auto &program : code) {
    const mlir::coll::JitProgram::Data &data = program->data();
    auto textOf = [](const std::string &text) { return text.empty() ? nullptr : text.c_str(); };
    auto ready = toExpected(
        rt::Program::create(data.descriptor, program->step(), program->init(),
                            {textOf(data.gpuImage), textOf(data.gpuKernels),
                             data.constants ? data.constants->getBufferStart() : nullptr,
                             data.constants ? int64_t(data.constants->getBufferSize()) : 0}));
    if (!ready)
      return ready.takeError();
    if (ready->descriptor.numRanks() > kMaxRanks)
      return makeError("the step is for " + llvm::Twine(ready->descriptor.numRanks()) +
                       " ranks; at most " + llvm::Twine(kMaxRanks) + " fit in one process");
    classes.push_back(std::move(*ready));
  }
  return classes;
}

llvm::Expected<LinkedStep> linkStep(mlir::coll::ObjectCode code) {
  auto programs = mlir::coll::linkObjects(std::move(code));
  if (!programs)
    return programs.takeError();
  LinkedStep linked;
  linked.code = std::move(*programs);
  llvm::Expected<std::vector<rt::Program>> classes = makePrograms(linked.code);
  if (!classes)
    return classes.takeError();
  linked.classes = std::move(*classes);
  return linked;
}

llvm::Expected<LaunchedStep> launchStep(mlir::coll::ObjectCode code,
                                        const rt::ExecutorOptions &execution) {
  llvm::Expected<LinkedStep> linked = linkStep(std::move(code));
  if (!linked)
    return linked.takeError();
  LaunchedStep launched;
  launched.code = std::move(linked->code);
  auto executor = toExpected(rt::Executor::create(std::move(linked->classes), execution));
  if (!executor)
    return executor.takeError();
  launched.executor = std::move(*executor);
  return launched;
}

llvm::Expected<LaunchedStep> launchLibrary(const std::string &path,
                                           const rt::ExecutorOptions &execution) {
  auto classes = toExpected(rt::loadStepLibrary(path));
  if (!classes)
    return classes.takeError();
  auto executor = toExpected(rt::Executor::create(std::move(*classes), execution));
  if (!executor)
    return executor.takeError();
  LaunchedStep launched;
  launched.executor = std::move(*executor);
  return launched;
}

} // namespace coll::run
