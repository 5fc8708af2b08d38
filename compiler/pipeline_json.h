//===- pipeline_json.h - a pipeline as JSON -----------------------------*- C++ -*-===//
//
// In the form of driver/forecast/README.md. Values that follow from the rest (when entries run,
// idle times, peaks) are written, too, but not read.
//
//===------------------------------------------------------------------------------===//

#ifndef COLL_COMPILER_PIPELINE_JSON_H
#define COLL_COMPILER_PIPELINE_JSON_H

#include "plan/schedule/pipeline.h"

#include "llvm/Support/JSON.h"

namespace coll::plan {

llvm::json::Value toJSON(const Pipeline &pipeline);
bool fromJSON(const llvm::json::Value &value, Pipeline &pipeline, llvm::json::Path path);

} // namespace coll::plan

#endif // COLL_COMPILER_PIPELINE_JSON_H
