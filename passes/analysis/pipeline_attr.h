//===- pipeline_attr.h - the description of a pipeline as an attribute --*- C++ -*-===//

#ifndef COLL_PASSES_ANALYSIS_PIPELINE_ATTR_H
#define COLL_PASSES_ANALYSIS_PIPELINE_ATTR_H

#include "mlir/IR/BuiltinOps.h"
#include "plan/schedule/pipeline.h"

#include <optional>

namespace mlir::coll {

/// Sets kPipelineAttr (dialect/notes.h) of a module.
void writePipeline(ModuleOp module, const ::coll::plan::Pipeline &pipeline);

/// Reads it; nullopt if the module has none, or one that is damaged.
std::optional<::coll::plan::Pipeline> readPipeline(ModuleOp module);

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_PIPELINE_ATTR_H
