// The data of a program for a GPU must be saved with its host code, also in shared objects.

#include "compiler/shared_object.h"
#include "passes/export/jit/jit.h"
#include "runtime/program/step_library.h"
#include "runtime/step/abi/abi.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace {

// $ABI is the version of the ABI.
constexpr llvm::StringLiteral kExecutable = R"(
module {
  module @class0 {
    llvm.mlir.global external constant @coll_descriptor("{\22abi\22:$ABI,\22device\22:\22gpu\22,\22ranks\22:[[0,0]],\22args\22:[],\22results\22:[]}\00")
    llvm.mlir.global external constant @coll_gpu_image(".version 8.0\00")
    llvm.mlir.global external constant @coll_gpu_kernels("[{\22name\22:\22k0\22,\22grid\22:3,\22block\22:64}]\00")
    llvm.mlir.global external constant @coll_constants("\01\02\03")
    llvm.func @coll_step(%abi: !llvm.ptr, %ctx: !llvm.ptr, %args: !llvm.ptr, %results: !llvm.ptr,
                         %arena: !llvm.ptr) -> i32 {
      %ok = llvm.mlir.constant(0 : i32) : i32
      llvm.return %ok : i32
    }
  }
})";

class GpuCodeTest : public testing::Test {
protected:
  mlir::coll::ObjectCode compile(bool isShared) {
    context_.loadDialect<mlir::LLVM::LLVMDialect>();
    std::string text = kExecutable.str();
    text.replace(text.find("$ABI"), 4, std::to_string(kCollAbiVersion));
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    EXPECT_TRUE(bool(module));
    mlir::coll::JitOptions options;
    options.isShared = isShared;
    auto code = mlir::coll::compileObjects(*module, options);
    EXPECT_TRUE(bool(code)) << llvm::toString(code.takeError());
    return code ? std::move(*code) : mlir::coll::ObjectCode();
  }
  mlir::MLIRContext context_;
};

TEST_F(GpuCodeTest, IsLinkedWithTheProgram) {
  auto programs = mlir::coll::linkObjects(compile(/*isShared=*/false));
  ASSERT_TRUE(bool(programs)) << llvm::toString(programs.takeError());
  const mlir::coll::JitProgram::Data &data = programs->front()->data();
  EXPECT_STREQ(data.gpuImage.c_str(), ".version 8.0");
  EXPECT_EQ(data.gpuKernels, R"([{"name":"k0","grid":3,"block":64}])");
  ASSERT_TRUE(data.constants);
  EXPECT_EQ(data.constants->getBuffer(), "\1\2\3");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data.constants->getBufferStart()) % 64, 0u);
}

TEST_F(GpuCodeTest, StandsInTheTableOfASharedObject) {
  const std::string path = testing::TempDir() + "gpu-code-" + std::to_string(getpid()) + ".so";
  llvm::Error error = coll::run::writeSharedObject(compile(/*isShared=*/true), path);
  ASSERT_FALSE(bool(error)) << llvm::toString(std::move(error));
  coll::rt::Result<std::vector<coll::rt::Program>> programs = coll::rt::loadStepLibrary(path);
  unlink(path.c_str());
  ASSERT_TRUE(programs.ok()) << programs.status().toString();
  const coll::rt::Program &program = programs->front();
  EXPECT_TRUE(program.descriptor.isOnGpu);
  EXPECT_STREQ(program.data.gpuImage, ".version 8.0");
  ASSERT_EQ(program.kernels.size(), 1u);
  EXPECT_EQ(program.kernels[0].name, "k0");
  EXPECT_EQ(program.data.constantsBytes, 3);
  EXPECT_EQ(static_cast<const char *>(program.data.constants)[2], 3);
}

} // namespace
