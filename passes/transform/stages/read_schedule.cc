//===- read_schedule.cc ----------------------------------------------------------===//

#include "passes/transform/stages/read_schedule.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
namespace plan = ::coll::plan;

static plan::Result<plan::Schedule> makeOrParse(StringRef name, int64_t stages,
                                                int64_t microBatches) {
  if (!plan::isTableFile(name.str()))
    return plan::makeSchedule(name.str(), stages, microBatches);
  auto file = llvm::MemoryBuffer::getFile(name, /*IsText=*/true);
  if (!file)
    return plan::Error{"cannot read schedule '" + name.str() + "': " + file.getError().message() +
                       "; name a table of lines as 'rank 0: F0.0 B0.0', or one of " +
                       plan::scheduleNames()};
  return plan::parseSchedule((*file)->getBuffer().str(), name.str(), stages, microBatches);
}

FailureOr<plan::Schedule> mlir::coll::readSchedule(func::FuncOp step, StringRef name,
                                                   int64_t stages, int64_t microBatches) {
  plan::Result<plan::Schedule> made = makeOrParse(name, stages, microBatches);
  if (!made)
    return step.emitError(made.error());
  return *made;
}
