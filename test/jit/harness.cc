#include "test/jit/harness.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/passes.h"
#include "passes/pipelines.h"

#include <cstdlib>
#include <gtest/gtest.h>

static mlir::DialectRegistry makeRegistry() {
  mlir::DialectRegistry registry;
  mlir::coll::registerCollDialects(registry);
  return registry;
}

CompiledStep::CompiledStep(const std::string &body) : ir_(makeRegistry()) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(body, &ir_);
  if (!module) {
    ADD_FAILURE() << "the step does not parse";
    return;
  }
  mlir::PassManager passes(&ir_);
  mlir::coll::buildEmitPipeline(passes);
  if (mlir::failed(passes.run(*module))) {
    ADD_FAILURE() << "the step does not lower";
    return;
  }
  auto code = mlir::coll::compileObjects(*module);
  if (!code) {
    ADD_FAILURE() << llvm::toString(code.takeError());
    return;
  }
  auto programs = mlir::coll::linkObjects(std::move(*code));
  if (!programs) {
    ADD_FAILURE() << llvm::toString(programs.takeError());
    return;
  }
  for (const auto &program : *programs) {
    auto json = llvm::json::parse(program->descriptor());
    if (!json) {
      ADD_FAILURE() << llvm::toString(json.takeError());
      return;
    }
    descriptors_.push_back(std::move(*json));
  }
  programs_ = std::move(*programs);
}

int64_t CompiledStep::arenaBytes() const { return *descriptor().getInteger("arena_bytes"); }

namespace {
/// Memory as the ABI requires it, followed by a guard that must not be written.
class Buffer {
public:
  explicit Buffer(size_t bytes) : bytes_(bytes) {
    data_ = static_cast<char *>(std::aligned_alloc(64, (bytes + 127) / 64 * 64));
    std::fill(data_ + bytes, data_ + (bytes + 127) / 64 * 64, kGuard);
  }
  Buffer(Buffer &&other) : data_(other.data_), bytes_(other.bytes_) { other.data_ = nullptr; }
  ~Buffer() {
    if (data_) {
      for (size_t i = bytes_; i < (bytes_ + 127) / 64 * 64; ++i)
        EXPECT_EQ(data_[i], kGuard) << "written past the end of a buffer";
    }
    std::free(data_);
  }
  float *floats() { return reinterpret_cast<float *>(data_); }

private:
  static constexpr char kGuard = 0x5a;
  char *data_;
  size_t bytes_;
};
} // namespace

std::vector<std::vector<float>> CompiledStep::run(std::vector<std::vector<float>> &args) {
  std::vector<Buffer> buffers;
  std::vector<void *> argPointers, resultPointers;
  for (auto &arg : args) {
    Buffer &buffer = buffers.emplace_back(arg.size() * sizeof(float));
    std::copy(arg.begin(), arg.end(), buffer.floats());
    argPointers.push_back(buffer.floats());
  }
  std::vector<std::vector<float>> results;
  for (const llvm::json::Value &result : *descriptor().getArray("results")) {
    int64_t arg = *result.getAsObject()->getInteger("arg"), count = 1;
    for (const llvm::json::Value &size : *result.getAsObject()->getArray("local"))
      count *= *size.getAsInteger();
    results.emplace_back(arg < 0 ? count : 0);
    if (arg < 0)
      resultPointers.push_back(buffers.emplace_back(count * sizeof(float)).floats());
    else
      resultPointers.push_back(argPointers[arg]);
  }
  Buffer arena(arenaBytes());
  CollAbi abi = fakeAbi();
  abi.version = abiVersion;
  status = programs_[0]->step()(&abi, &context, argPointers.data(), resultPointers.data(),
                                arena.floats());
  for (size_t i = 0; i < args.size(); ++i)
    args[i].assign(static_cast<float *>(argPointers[i]),
                   static_cast<float *>(argPointers[i]) + args[i].size());
  for (size_t k = 0; k < results.size(); ++k)
    results[k].assign(static_cast<float *>(resultPointers[k]),
                      static_cast<float *>(resultPointers[k]) + results[k].size());
  return results;
}
