// harness.h - compiles and calls a step that is written in kernel form.

#ifndef COLL_TEST_JIT_HARNESS_H
#define COLL_TEST_JIT_HARNESS_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/export/jit/jit.h"
#include "test/jit/fake_abi.h"
#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

// A compiled step and its buffers. Arguments and results are float vectors.
class CompiledStep {
public:
  // `body` is the content of the module. The test fails if it does not compile.
  explicit CompiledStep(const std::string &body);

  bool ok() const { return !programs_.empty(); }
  int64_t arenaBytes() const;
  const llvm::json::Object &descriptor(unsigned cls = 0) const {
    return *descriptors_[cls].getAsObject();
  }
  size_t numClasses() const { return programs_.size(); }

  // Runs class 0. `args` are updated in place; returns the buffers of the results that update no
  // argument, and empty buffers for the others.
  std::vector<std::vector<float>> run(std::vector<std::vector<float>> &args);

  CollContext context;
  int32_t status = 0; // of the last run
  int32_t abiVersion = kCollAbiVersion;

private:
  mlir::MLIRContext ir_;
  std::vector<std::unique_ptr<mlir::coll::JitProgram>> programs_;
  std::vector<llvm::json::Value> descriptors_;
};

#endif // COLL_TEST_JIT_HARNESS_H
