#include "test/fuzz/programs/differential.h"

#include "dialect/sharding.h"
#include "passes/analysis/reshard_plans.h"
#include "passes/passes.h"
#include "passes/pipelines.h"
#include "runtime/base/dtype.h"
#include "test/fuzz/memory_file.h"
#include "test/fuzz/random.h"

#include "mlir/Pass/PassManager.h"

#include <cmath>
#include <sstream>

namespace coll::fuzz {
namespace {

// Worst cases are added up in facts.h; this is for what it does not know of.
constexpr double kSlack = 2;
constexpr int64_t kRepeatedSteps = 2;

CollDtype codeOf(Dtype dtype) {
  // Memory knows only the width of integers; four bits are a byte.
  static constexpr CollDtype kCodes[] = {kCollF64,    kCollF32,  kCollF16, kCollBf16, kCollF8E4M3FN,
                                         kCollF8E5M2, kCollI64,  kCollI32, kCollI16,  kCollI8,
                                         kCollI8,     kCollBool, kCollI64, kCollI32,  kCollI8};
  return kCodes[static_cast<int>(dtype)];
}

void setElement(rt::HostTensor &tensor, int64_t i, double real, int64_t whole) {
  switch (tensor.dtype) {
  case kCollF64:
    tensor.as<double>()[i] = real;
    break;
  case kCollF32:
    tensor.as<float>()[i] = float(real);
    break;
  case kCollF16:
    tensor.as<uint16_t>()[i] = rt::f32ToF16(float(real));
    break;
  case kCollBf16:
    tensor.as<uint16_t>()[i] = rt::f32ToBf16(float(real));
    break;
  case kCollF8E4M3FN:
    tensor.as<uint8_t>()[i] = rt::f32ToF8E4M3FN(float(real));
    break;
  case kCollF8E5M2:
    tensor.as<uint8_t>()[i] = rt::f32ToF8E5M2(float(real));
    break;
  case kCollI64:
    tensor.as<int64_t>()[i] = whole;
    break;
  case kCollI32:
    tensor.as<int32_t>()[i] = int32_t(whole);
    break;
  case kCollI16:
    tensor.as<int16_t>()[i] = int16_t(whole);
    break;
  case kCollI8:
    tensor.as<int8_t>()[i] = int8_t(whole);
    break;
  default:
    tensor.as<char>()[i] = whole & 1;
  }
}

rt::HostTensor randomTensor(const Value &value, Random &random) {
  rt::HostTensor tensor = rt::HostTensor::zeros(codeOf(value.type.dtype), value.type.shape).take();
  auto bound = int64_t(std::min(value.facts.bound, 1e6));
  int64_t least = isUnsigned(value.type.dtype) ? 0 : -bound;
  bool isAny = value.facts.bound > 1e6 || value.type.dtype == Dtype::I1;
  for (int64_t i = 0, e = run::numElements(tensor); i < e; ++i) {
    int64_t whole = isAny ? int64_t(random.next()) : random.between(least, bound);
    double real =
        value.facts.isExact() ? double(whole) : (2 * random.uniform() - 1) * value.facts.bound;
    setElement(tensor, i, real, whole);
  }
  return tensor;
}

// "" or what differs.
std::string compare(const rt::HostTensor &got, const rt::HostTensor &want, const Facts &facts) {
  std::ostringstream text;
  if (got.dtype != want.dtype || got.shape != want.shape)
    return "is " + got.typeString() + " and should be " + want.typeString();
  bool isBits = !rt::isFloat(got.dtype);
  if (isBits && got.data == want.data)
    return "";
  for (int64_t i = 0, e = run::numElements(got); i < e; ++i) {
    double a = run::element(got, i), b = run::element(want, i);
    double delta = std::fabs(a - b);
    bool isSame = a == b || (std::isnan(a) && std::isnan(b));
    if (isSame || (!facts.isExact() && delta <= kSlack * facts.error + 1e-12))
      continue;
    text << "element " << i << " is " << a << " and should be " << b << " (may differ by "
         << facts.error << ")";
    return text.str();
  }
  return "";
}

// Links on which calls and copies take no time beside that of a byte.
const char *const kFreeCalls = R"({"version": 1,
  "hosts": [{"name": "a", "ranks": 64, "memory_gb_per_s": 1e6, "cache_gb_per_s": 1e6}],
  "links": [{"between": ["a", "a"], "bandwidth_gb_per_s": 1e-3, "latency_us": 1e-6}]})";

// Plans of the step's changes of sharding; nothing where it has none.
ReshardCounts countReshards(mlir::ModuleOp module) {
  ReshardCounts counts;
  mlir::PassManager passes(module.getContext());
  mlir::coll::buildInlinePipeline(passes);
  passes.addPass(mlir::coll::createDropEmptyPass());
  passes.addPass(mlir::coll::createPropagatePass());
  passes.addPass(mlir::coll::createInsertReshardsPass());
  if (mlir::failed(passes.run(module)))
    return counts;
  module.walk([&](mlir::coll::ReshardOp reshard) {
    mlir::coll::MeshOp mesh = mlir::coll::lookupMesh(reshard, reshard.getSource().getMesh());
    auto type = llvm::cast<mlir::RankedTensorType>(reshard.getType());
    auto plans = mlir::coll::ReshardPlans::create(mesh, "");
    const plan::MovePlan plan = plans->plan(type, reshard.getSource(), reshard.getTarget());
    ++counts.plans;
    if (plan.wireBytes > plan.leastBytes)
      ++(plan.routing == plan::Routing::Slower ? counts.withFewerCalls : counts.others);
    plan::ReshardPlanner routing(mlir::coll::toPlanMesh(mesh), plan::CostModel::byBytes(0));
    auto routed = routing.plan(type.getShape().vec(), mlir::coll::getElementBytes(type),
                               plans->layoutOf(type, reshard.getSource()),
                               plans->layoutOf(type, reshard.getTarget()));
    counts.whereCallsAreFree += routed->wireBytes > routed->leastBytes;
  });
  return counts;
}

class Differential {
public:
  Differential(Runner &runner, const Program &program, uint64_t seed,
               const DifferentialOptions &options)
      : runner_(runner), program_(program), random_(seed), options_(options) {}

  Report check() {
    std::string text = program_.text();
    auto step = runner_.load(text, program_.numState);
    if (!step)
      return refused("loading", step.takeError());
    auto copy = run::toSingleDevice(*step);
    if (!copy)
      return refused("one device", copy.takeError());
    const MemoryFile freeCalls(kFreeCalls);
    if (options_.countsReshards)
      counts_ = countReshards(step->clone().module.get());
    makeInputs();
    run::CompileOptions alone;
    alone.optLevel = optLevel_;
    enterPhase(Phase::Compile);
    auto single = execute(std::move(*copy), alone, Phase::RunSingle);
    if (!single)
      return refused("on one device", single.takeError());
    run::CompileOptions distributed = alone;
    distributed.ranks = program_.ranks;
    distributed.dataParallel = program_.mesh.empty();
    distributed.gpu = options_.gpu;
    if (options_.countsReshards && random_.chance(0.5))
      distributed.topology = freeCalls.path();
    auto ranks = execute(std::move(*step), distributed, Phase::RunRanks);
    if (!ranks)
      return refused("on ranks", ranks.takeError());
    return compareAll(*ranks, *single);
  }

private:
  Report refused(const char *what, llvm::Error error) {
    return {Verdict::Finding,
            std::string("refused ") + what + ": " + runner_.explain(std::move(error))};
  }

  void makeInputs() {
    // Fully optimised code is slow to make; most cases are about what comes before.
    optLevel_ = random_.chance(0.15) ? 2 : 0;
    for (size_t i = 0; i < program_.body.args.size(); ++i) {
      const Value &value = program_.values[size_t(program_.body.args[i])];
      (int(i) < program_.numState ? state_ : batch_).push_back(randomTensor(value, random_));
    }
  }

  llvm::Expected<run::RunResult> execute(run::StepIr step, const run::CompileOptions &options,
                                         Phase phase) {
    auto launched = runner_.launch(std::move(step), options);
    if (!launched)
      return launched.takeError();
    enterPhase(phase);
    FixedBatch batch(batch_);
    int64_t steps = program_.isRepeatable() ? kRepeatedSteps : 1;
    run::RunResult result;
    llvm::Error error = run::runSteps(*launched->executor, state_, batch, steps, result);
    enterPhase(Phase::Compile);
    if (error)
      return error;
    return result;
  }

  Report compareAll(const run::RunResult &got, const run::RunResult &want) {
    for (size_t i = 0; i < program_.body.results.size(); ++i) {
      const Facts &facts = program_.values[size_t(program_.body.results[i])].facts;
      size_t numState = size_t(program_.numState);
      std::string difference =
          i < numState ? compare(got.state[i], want.state[i], facts)
                       : compare(got.results[i - numState], want.results[i - numState], facts);
      if (!difference.empty())
        return {Verdict::Finding, "mismatch: result " + std::to_string(i) + ": " + difference};
    }
    return {Verdict::Ok, options_.countsReshards ? counts_.text() : ""};
  }

  Runner &runner_;
  const Program &program_;
  Random random_;
  run::Tensors state_, batch_;
  unsigned optLevel_ = 0;
  const DifferentialOptions &options_;
  ReshardCounts counts_;
};

} // namespace

std::string ReshardCounts::text() const {
  return std::to_string(plans) + " " + std::to_string(withFewerCalls) + " " +
         std::to_string(others) + " " + std::to_string(whereCallsAreFree);
}

void ReshardCounts::add(const std::string &report) {
  ReshardCounts more;
  std::istringstream stream(report);
  if (!(stream >> more.plans >> more.withFewerCalls >> more.others >> more.whereCallsAreFree))
    return;
  plans += more.plans;
  withFewerCalls += more.withFewerCalls;
  others += more.others;
  whereCallsAreFree += more.whereCallsAreFree;
}

Report checkProgram(Runner &runner, const Program &program, uint64_t seed,
                    const DifferentialOptions &options) {
  return Differential(runner, program, seed, options).check();
}

} // namespace coll::fuzz
