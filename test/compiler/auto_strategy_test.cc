// The search for a plan: the cost of repeated layers must be that of all of them.

#include "compiler/auto_strategy.h"
#include "compiler/layer_folding.h"
#include "compiler/plan_coster.h"
#include "compiler/plan_space.h"
#include "passes/passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <set>

namespace coll::run {
namespace {

std::string product(const std::string &result, const std::string &left, const std::string &right,
                    const char *maps) {
  return "    " + result + " = linalg.generic {indexing_maps = [" + maps +
         "], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]}\n"
         "      ins(" +
         left + ", " + right +
         " : tensor<64x64xf32>, tensor<64x64xf32>) "
         "outs(%zero : tensor<64x64xf32>) {\n"
         "    ^bb0(%l: f32, %r: f32, %o: f32):\n"
         "      %p = arith.mulf %l, %r : f32\n"
         "      %s = arith.addf %o, %p : f32\n"
         "      linalg.yield %s : f32\n"
         "    } -> tensor<64x64xf32>\n";
}

// A network of `layers` products and tanh, its gradients and an update with momentum.
std::string makeStep(int layers) {
  std::string arguments, results, types, text;
  const std::string tensor = "tensor<64x64xf32>";
  for (const char *kind : {"w", "m"})
    for (int i = 0; i < layers; ++i)
      arguments += "%" + std::string(kind) + std::to_string(i) + ": " + tensor +
                   " {coll.role = \"state\", coll.name = \"" + kind + "/layer_" +
                   std::to_string(i) + "\"}, ";
  const char *forward = "affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, "
                        "affine_map<(i, j, k) -> (i, j)>";
  const char *toWeights = "affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, "
                          "affine_map<(i, j, k) -> (i, j)>";
  const char *toInput = "affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, "
                        "affine_map<(i, j, k) -> (i, j)>";
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    text += product("%y" + n, i ? "%h" + std::to_string(i - 1) : "%x", "%w" + n, forward);
    text += "    %h" + n + " = math.tanh %y" + n + " : " + tensor + "\n";
  }
  text += "    %d" + std::to_string(layers) + " = arith.subf %h" + std::to_string(layers - 1) +
          ", %x : " + tensor + "\n";
  for (int i = layers - 1; i >= 0; --i) {
    const std::string n = std::to_string(i);
    text += "    %q" + n + " = arith.mulf %h" + n + ", %h" + n + " : " + tensor + "\n";
    text += "    %r" + n + " = arith.subf %one, %q" + n + " : " + tensor + "\n";
    text += "    %e" + n + " = arith.mulf %d" + std::to_string(i + 1) + ", %r" + n + " : " +
            tensor + "\n";
    text += product("%g" + n, i ? "%h" + std::to_string(i - 1) : "%x", "%e" + n, toWeights);
    text += product("%d" + n, "%e" + n, "%w" + n, toInput);
  }
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    text += "    %a" + n + " = arith.mulf %m" + n + ", %half : " + tensor + "\n";
    text += "    %mm" + n + " = arith.addf %a" + n + ", %g" + n + " : " + tensor + "\n";
    text += "    %u" + n + " = arith.mulf %mm" + n + ", %half : " + tensor + "\n";
    text += "    %ww" + n + " = arith.subf %w" + n + ", %u" + n + " : " + tensor + "\n";
  }
  for (const char *kind : {"%ww", "%mm"})
    for (int i = 0; i < layers; ++i) {
      results += (results.empty() ? "" : ", ") + std::string(kind) + std::to_string(i);
      types += (types.empty() ? "" : ", ") + tensor;
    }
  return "func.func @step(" + arguments + "%x: " + tensor +
         " {coll.role = \"batch\", coll.name = \"x\"}) -> (" + types +
         ") {\n    %zero = arith.constant dense<0.0> : " + tensor +
         "\n    %one = arith.constant dense<1.0> : " + tensor +
         "\n    %half = arith.constant dense<0.5> : " + tensor + "\n" + text + "    return " +
         results + " : " + types + "\n}\n";
}

struct Loaded {
  mlir::MLIRContext context;
  StepIr step;
};

void load(Loaded &loaded, int layers) {
  mlir::DialectRegistry registry;
  mlir::coll::registerCollDialects(registry);
  loaded.context.appendDialectRegistry(registry);
  loaded.step.module = mlir::parseSourceString<mlir::ModuleOp>(makeStep(layers), &loaded.context);
}

TEST(LayerFolding, FindsRunsByTheLongest) {
  std::vector<uint64_t> hashes = {7, 8};
  for (int layer = 0; layer < 6; ++layer)
    for (uint64_t op : {1, 2, 3, 3, 3, 4, 5, 6, 7, 8})
      hashes.push_back(op);
  hashes.push_back(99);
  const std::vector<RepeatedRun> runs = findRepeatedRuns(hashes, 5);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].period, 10u);
  EXPECT_EQ(runs[0].first, 0u); // the end of a layer stands before the first
  EXPECT_EQ(runs[0].count, 6u);
}

TEST(LayerFolding, ShortStepsHaveArgumentsAndResultsOfTheirLayers) {
  Loaded loaded;
  load(loaded, 9);
  ASSERT_TRUE(loaded.step.module);
  std::optional<FoldedStep> folded = foldLayers(*loaded.step.module, {});
  ASSERT_TRUE(folded.has_value());
  auto countArguments = [](mlir::ModuleOp module) {
    EXPECT_TRUE(mlir::succeeded(mlir::verify(module)));
    auto step = module.lookupSymbol<mlir::func::FuncOp>("step");
    EXPECT_EQ(step.getNumArguments(), step.getNumResults() + 1); // and the batch
    return step.getNumArguments();
  };
  const unsigned shorter = countArguments(*folded->shorter),
                 longer = countArguments(*folded->longer);
  EXPECT_EQ(longer - shorter, 4u);
  EXPECT_EQ(folded->extrapolate(shorter, longer), 19);
}

TEST(LayerFolding, AFewLayersStay) {
  Loaded loaded;
  load(loaded, 4);
  EXPECT_FALSE(foldLayers(*loaded.step.module, {}).has_value());
}

TEST(LayerFolding, AShardOfOneLayerKeepsItApart) {
  Loaded loaded;
  load(loaded, 8);
  EXPECT_TRUE(foldLayers(*loaded.step.module, {"w/layer_*: [a, -]"}).has_value());
  EXPECT_FALSE(foldLayers(*loaded.step.module, {"*/layer_4: [a, -]"}).has_value());
}

TEST(PlanSpace, AParameterIsAlsoSplitWithItsOptimizersState) {
  Loaded loaded;
  load(loaded, 3);
  const ArgumentGroups groups =
      findArgumentGroups(loaded.step.module->lookupSymbol<mlir::func::FuncOp>("step"));
  EXPECT_EQ(groups.single.size(), 7u);
  std::vector<std::pair<std::string, int64_t>> found;
  for (const ArgumentGroup &group : groups.folded)
    found.emplace_back(group.pattern, group.elements / (64 * 64));
  EXPECT_EQ(found, (std::vector<std::pair<std::string, int64_t>>{
                       {"layer_*", 6}, {"w/layer_*", 3}, {"m/layer_*", 3}, {"x", 1}}));
  EXPECT_TRUE(covers("layer_*", "w/layer_*"));
  EXPECT_TRUE(covers("layer_*", "layer_*"));
  EXPECT_FALSE(covers("w/layer_*", "layer_*"));
  EXPECT_FALSE(covers("er_*", "w/layer_*"));
}

std::set<std::string> describe(const std::vector<PlanCandidate> &plans) {
  std::set<std::string> texts;
  for (const PlanCandidate &plan : plans)
    texts.insert(plan.describe());
  return texts;
}

TEST(PlanSpace, ExpertsHaveAnAxisOfTheirOwnOrThatOfTheBatch) {
  const RareStrategies experts{/*spatial=*/false, /*expert=*/true};
  const std::set<std::string> one = describe(listStrategies(4, 1, {}, experts)),
                              two = describe(listStrategies(4, 2, {}, experts));
  for (const char *plan :
       {"--mesh=ep=4 --strategy=expert", "--mesh=dp=4 --strategy=data,expert:dp",
        "--mesh=dp=4 --strategy=zero1,expert:dp", "--mesh=fsdp=4 --strategy=fsdp,expert:fsdp"})
    EXPECT_TRUE(one.count(plan)) << plan;
  for (const char *plan :
       {"--mesh=dp=2,ep=2 --strategy=data,expert", "--mesh=ep=2,tp=2 --strategy=expert,tensor",
        "--mesh=dp=2,tp=2 --strategy=data,expert:dp,tensor"})
    EXPECT_TRUE(two.count(plan)) << plan;
  EXPECT_FALSE(two.count("--mesh=dp=2,ep=2 --strategy=data,expert:dp,expert"));
  const std::set<std::string> given = describe(listStrategies(4, 2, {{"a", 2}, {"b", 2}}, experts));
  EXPECT_TRUE(given.count("--mesh=a=2,b=2 --strategy=data:a,expert:b"));
  EXPECT_TRUE(given.count("--mesh=a=2,b=2 --strategy=data:a,expert:a,tensor:b"));
}

TEST(PlanSpace, StepsWithoutExpertsDoNotTryToSplitThem) {
  for (size_t axes : {1u, 2u, 3u})
    for (const std::string &plan : describe(listStrategies(8, axes, {}, {})))
      EXPECT_EQ(plan.find("expert"), std::string::npos) << plan;
}

TEST(PlanSpace, ShardsOfAnotherPlanGetTheMeshesOwnAxes) {
  PlanCandidate plan, other;
  plan.mesh = "dp=2,tp=4";
  plan.strategy = "data,tensor";
  other.mesh = "fsdp=2,dp=4";
  other.shards = {"fsdp/w: [-, fsdp+dp]", "b: [dp]", "c: [-]"};
  const std::optional<PlanCandidate> mixed = withShardsOf(plan, other);
  ASSERT_TRUE(mixed);
  EXPECT_EQ(mixed->describe(), "--mesh=dp=2,tp=4 --strategy=data,tensor --shard='fsdp/w: [-, "
                               "dp+tp]' --shard='b: [tp]' --shard='c: [-]'");
  other.mesh = "a=8";
  EXPECT_FALSE(withShardsOf(plan, other));
}

TEST(AutoStrategy, ListsTheBestPlanOfEachStrategy) {
  Loaded loaded;
  load(loaded, 3);
  SearchOptions options;
  options.ranks = 4;
  auto found = searchPlan(loaded.step, options);
  ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
  ASSERT_GE(found->plans.size(), 4u);
  std::set<std::string> strategies;
  for (size_t i = 0; i < found->plans.size(); ++i) {
    strategies.insert(found->plans[i].mesh + " " + found->plans[i].strategy);
    // The first may be simpler than the fastest.
    EXPECT_TRUE(i == 0 || found->plans[i - 1].us <= found->plans[i].us * (i == 1 ? 1.003 : 1));
  }
  EXPECT_GE(strategies.size(), 4u);
}

TEST(AutoStrategy, FoldedLayersCostWhatAllOfThemDo) {
  Loaded loaded;
  load(loaded, 12);
  SearchOptions options;
  options.ranks = 4;
  auto folded = searchPlan(loaded.step, options);
  options.foldsLayers = false;
  auto whole = searchPlan(loaded.step, options);
  ASSERT_TRUE(folded && whole);
  const PlanCandidate &a = folded->plans.front(), &b = whole->plans.front();
  EXPECT_EQ(a.describe(), b.describe());
  EXPECT_NEAR(a.us, b.us, 1e-3 * b.us);
  EXPECT_NEAR(double(a.wireBytes), double(b.wireBytes), 1e-3 * double(b.wireBytes));
  EXPECT_NEAR(double(a.memoryBytes), double(b.memoryBytes), 2e-2 * double(b.memoryBytes));
}

TEST(PlanCoster, CostsDoNotDependOnThreads) {
  Loaded loaded;
  load(loaded, 3);
  std::vector<PlanCandidate> plans;
  for (auto [mesh, strategy] :
       {std::pair("dp=4", "data"), std::pair("dp=4", "fsdp"), std::pair("dp=4", "zero1"),
        std::pair("tp=4", "tensor"), std::pair("dp=2,tp=2", "zero1,tensor"),
        std::pair("dp=4", "unknown")}) {
    plans.emplace_back().mesh = mesh;
    plans.back().strategy = strategy;
  }
  const PlanCoster::Options options = {plan::assumedTopology(4), "", {}, false};
  PlanCoster alone(loaded.context, options, 1), together(loaded.context, options, 3);
  const PlanCoster::StepNumber first = alone.add(*loaded.step.module),
                               second = together.add(*loaded.step.module);
  alone.cost(first, plans);
  together.cost(second, plans);
  for (const PlanCandidate &plan : plans) {
    SCOPED_TRACE(plan.describe());
    const std::optional<PlanCost> &a = alone.costOf(first, plan),
                                  &b = together.costOf(second, plan);
    ASSERT_EQ(a.has_value(), plan.strategy != "unknown");
    ASSERT_EQ(b.has_value(), a.has_value());
    if (a)
      EXPECT_EQ(std::tie(a->us, a->calls, a->wireBytes, a->memoryBytes),
                std::tie(b->us, b->calls, b->wireBytes, b->memoryBytes));
  }
  EXPECT_EQ(together.numCosted(second), int64_t(plans.size()));
}

} // namespace
} // namespace coll::run
