// Elementwise functions must be as accurate as the host's, even at the limits of their domain.

#include "test/jit/harness.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>

using Floats = std::vector<float>;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Function {
  const char *op;
  std::function<double(double)> reference;
  Floats inputs;
};

Floats spread(float from, float to) {
  Floats out;
  for (int i = 0; i < 1000; ++i)
    out.push_back(from + (to - from) * i / 999);
  return out;
}

Floats withEdges(Floats inputs) {
  for (float edge : {0.0f, -0.0f, 1.0f, -1.0f, kInf, -kInf, kNan, 1e-30f, -1e-30f, 1e30f, 88.6f,
                     88.9f, -87.0f, -104.0f, -1e30f, 1e-6f, -1e-6f, 0.5f})
    inputs.push_back(edge);
  while (inputs.size() < 1024)
    inputs.push_back(0.25f);
  return inputs;
}

class ElementsTest : public testing::TestWithParam<Function> {};

TEST_P(ElementsTest, MatchesTheHost) {
  const Function &function = GetParam();
  CompiledStep step(R"(
    func.func private @kernel_0(%a: tensor<1024xf32> {coll.access = "read"},
                                %d: tensor<1024xf32> {coll.access = "write"}) -> tensor<1024xf32> {
      %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]} ins(%a : tensor<1024xf32>) outs(%d : tensor<1024xf32>) {
      ^bb0(%x: f32, %o: f32):
        %s = )" + std::string(function.op) +
                    R"( %x : f32
        linalg.yield %s : f32
      } -> tensor<1024xf32>
      return %r : tensor<1024xf32>
    }
    func.func @step(%x: tensor<1024xf32>) -> tensor<1024xf32> {
      %d = tensor.empty() : tensor<1024xf32>
      %r = func.call @kernel_0(%x, %d) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
      return %r : tensor<1024xf32>
    })");
  ASSERT_TRUE(step.ok());
  std::vector<Floats> args = {withEdges(function.inputs)};
  Floats result = step.run(args)[0];
  for (size_t i = 0; i < result.size(); ++i) {
    float expected = static_cast<float>(function.reference(args[0][i]));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(result[i])) << function.op << "(" << args[0][i] << ") = " << result[i];
    } else if (std::isinf(expected)) {
      EXPECT_EQ(result[i], expected) << function.op << "(" << args[0][i] << ")";
    } else {
      EXPECT_NEAR(result[i], expected, 1e-6f * std::fabs(expected) + 1e-37f)
          << function.op << "(" << args[0][i] << ")";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Math, ElementsTest,
    testing::Values(
        Function{"math.exp", [](double x) { return std::exp(x); }, spread(-90, 89)},
        Function{"math.log", [](double x) { return std::log(x); }, spread(1e-6f, 10)},
        Function{"math.tanh", [](double x) { return std::tanh(x); }, spread(-10, 10)},
        Function{"math.erf", [](double x) { return std::erf(x); }, spread(-5, 5)},
        Function{"math.log1p", [](double x) { return std::log1p(x); }, spread(-0.99f, 3)},
        Function{"math.expm1", [](double x) { return std::expm1(x); }, spread(-5, 5)},
        Function{"math.sqrt", [](double x) { return std::sqrt(x); }, spread(0, 100)},
        Function{"math.rsqrt", [](double x) { return 1 / std::sqrt(x); }, spread(0.01f, 100)},
        Function{"math.sin", [](double x) { return std::sin(x); }, spread(-20, 20)},
        Function{"math.cos", [](double x) { return std::cos(x); }, spread(-20, 20)},
        Function{"math.atan", [](double x) { return std::atan(x); }, spread(-5, 5)},
        Function{"math.floor", [](double x) { return std::floor(x); }, spread(-5, 5)}),
    [](const testing::TestParamInfo<Function> &info) {
      return std::string(info.param.op).substr(5);
    });

} // namespace
