// What operations of a step compute, as their predicted time counts it.

#include "passes/analysis/op_work.h"
#include "passes/passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace coll::run {
namespace {

using Counts = std::vector<double>;

class OpWork : public testing::Test {
protected:
  OpWork() : context_(registry()) {}

  // The work of the operations of a function with these arguments and this body, as a sum.
  plan::Work sum(const std::string &arguments, const std::string &body) {
    module_ = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @step(" + arguments + ") {\n" + body + "return\n}\n", &context_);
    EXPECT_TRUE(module_) << body;
    plan::Work work;
    if (module_)
      for (mlir::Operation &op : module_->lookupSymbol<mlir::func::FuncOp>("step").getOps())
        work.add(mlir::coll::getOwnWork(&op), 1);
    return work;
  }

private:
  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry registry;
    mlir::coll::registerCollDialects(registry);
    return registry;
  }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

TEST_F(OpWork, ElementwiseOperationsOfOneKernelReadAndWriteOnce) {
  const plan::Work work = sum("%a: tensor<64xf32>, %b: tensor<64xf32>",
                              "%p = arith.mulf %a, %b : tensor<64xf32>\n"
                              "%s = arith.addf %p, %p : tensor<64xf32>\n"
                              "%r = tensor.expand_shape %s [[0, 1]] output_shape [8, 8] : "
                              "tensor<64xf32> into tensor<8x8xf32>\n"
                              "%t = math.exp %r : tensor<8x8xf32>\n");
  // %p has two uses in one operation, so it is not known to be fused; %s is, through the reshape.
  EXPECT_EQ(work.kernels, 2);
  EXPECT_EQ(work.cachedBytes, 4 * 64 * (3 + 2));
  EXPECT_EQ(work.bytes, 0);
}

TEST_F(OpWork, LargeTensorsAreInNoCache) {
  const plan::Work work = sum("%a: tensor<131073xf32>, %b: tensor<131072xf32>",
                              "%x = math.absf %a : tensor<131073xf32>\n"
                              "%y = math.absf %b : tensor<131072xf32>\n");
  EXPECT_EQ(work.bytes, 2 * 4 * 131073);
  EXPECT_EQ(work.cachedBytes, 2 * 4 * 131072);
}

TEST_F(OpWork, ProductsCountTheirMatrices) {
  const plan::Work work =
      sum("%a: tensor<6x9x16xf32>, %b: tensor<6x16x5xf32>",
          "%zero = arith.constant dense<0.0> : tensor<6x9x5xf32>\n"
          "%p = linalg.batch_matmul ins(%a, %b : tensor<6x9x16xf32>, tensor<6x16x5xf32>) "
          "outs(%zero : tensor<6x9x5xf32>) -> tensor<6x9x5xf32>\n");
  EXPECT_EQ((Counts{work.matrices, work.kernels}), (Counts{6, 1}));
  EXPECT_EQ(work.cachedBytes, 4 * 6 * (9 * 16 + 16 * 5 + 9 * 5));
}

// A row that is half as long is still one row; a window across rows is as many.
TEST_F(OpWork, LookUpsCountRows) {
  auto take = [this](const std::string &table, const std::string &dims, const std::string &result) {
    return sum("%t: " + table + ", %i: tensor<50x1xi32>", "%r = coll.take %t[%i] " + dims + " : " +
                                                              table + ", tensor<50x1xi32> -> " +
                                                              result + "\n");
  };
  const std::string rows = "offset_dims [1] collapsed_dims [0] index_map [0] slice_sizes ";
  EXPECT_EQ(take("tensor<128x32xf32>", rows + "[1, 32]", "tensor<50x32xf32>").rows, 50);
  EXPECT_EQ(take("tensor<128x16xf32>", rows + "[1, 16]", "tensor<50x16xf32>").rows, 50);
  EXPECT_EQ(take("tensor<128x16xf32>",
                 "offset_dims [0] collapsed_dims [1] index_map [1] slice_sizes [128, 1]",
                 "tensor<128x50xf32>")
                .rows,
            128 * 50);
}

TEST_F(OpWork, AccumulateCountsRowsAndWritesAll) {
  const plan::Work work =
      sum("%u: tensor<50x32xf32>, %z: tensor<128x32xf32>, %i: tensor<50x1xi32>",
          "%r = coll.accumulate %u into %z[%i] window_dims [1] inserted_dims [0] index_map [0] {\n"
          "^bb0(%c: f32, %n: f32):\n%s = arith.addf %c, %n : f32\ncoll.yield %s : f32\n"
          "} : tensor<50x32xf32>, tensor<128x32xf32>, tensor<50x1xi32>\n");
  EXPECT_EQ((Counts{work.rows, work.kernels}), (Counts{50, 1}));
  EXPECT_EQ(work.cachedBytes, 4 * 32 * (50 + 128));
}

} // namespace
} // namespace coll::run
