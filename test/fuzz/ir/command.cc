#include "test/fuzz/ir/command.h"

#include "passes/passes.h"
#include "passes/pipelines.h"
#include "test/fuzz/ir/check.h"
#include "test/fuzz/ir/corpus.h"
#include "test/fuzz/ir/minimize.h"
#include "test/fuzz/ir/structure.h"
#include "test/fuzz/ir/tokens.h"

#include "mlir/Transforms/Passes.h"
#include "llvm/Support/raw_ostream.h"

namespace coll::fuzz {
namespace {

constexpr size_t kMaxBytes = 20000;
constexpr int kSecondsPerCase = 20;
constexpr int kMinimizeBudget = 300;
constexpr int kReplaysOfSteps = 4, kReplaysOfPasses = 20;

void registerPasses() {
  mlir::coll::registerCollPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
}

int fail(llvm::Error error) {
  llvm::errs() << "coll-fuzz: error: " << llvm::toString(std::move(error)) << '\n';
  return 1;
}

class IrCases {
public:
  IrCases(uint64_t seed, std::vector<std::string> corpus)
      : seed_(seed), corpus_(std::move(corpus)) {}

  std::string makeText(int64_t index) {
    Random random(seed_, uint64_t(index));
    std::string text = random.pick(corpus_);
    const std::string &other = random.pick(corpus_);
    if (random.chance(0.4)) {
      enterPhase(Phase::Parse);
      std::string changed = mutateStructure(runner_.context(), text, random);
      text = changed.empty() ? text : changed;
      if (!changed.empty() && random.chance(0.7))
        return text;
    }
    return mutateTokens(text, other, random);
  }

  Report check(int64_t index, const std::string &text) {
    Random random(seed_ + 1, uint64_t(index));
    return random.chance(0.6) ? checkStep(runner_, text, random)
                              : checkPasses(runner_, text, random);
  }

  Report run(int64_t index) { return check(index, makeText(index)); }

  // The text is made in a child: what makes it may crash.
  std::string minimize(int64_t index, const Report &report, const GuardOptions &guard) {
    std::string text, wanted = signatureOf(report);
    auto keep = [&](int64_t, const Report &made) {
      text = made.text;
      return true;
    };
    runCases(
        index, index + 1, guard, [&](int64_t i) { return Report{Verdict::Ok, makeText(i)}; }, keep);
    return minimizeText(text, kMinimizeBudget, [&](const std::string &smaller) {
      bool isSame = false;
      runCases(
          index, index + 1, guard, [&](int64_t i) { return check(i, smaller); },
          [&](int64_t, const Report &again) { return isSame = signatureOf(again) == wanted; });
      return isSame;
    });
  }

private:
  uint64_t seed_;
  std::vector<std::string> corpus_;
  Runner runner_;
};

} // namespace

int runIr(const CampaignOptions &given, const std::vector<std::string> &corpus) {
  registerPasses();
  CampaignOptions options = given;
  options.guard.timeoutSeconds = kSecondsPerCase;
  auto files = readFiles(corpus);
  if (!files)
    return fail(files.takeError());
  std::vector<std::string> texts = splitCorpus(*files, kMaxBytes);
  if (texts.empty())
    return fail(llvm::createStringError("the files hold no IR to start from"));
  IrCases cases(options.seed, std::move(texts));
  CampaignFunctions functions;
  functions.run = [&](int64_t index) { return cases.run(index); };
  functions.minimize = [&](int64_t index, const Report &report) {
    return cases.minimize(index, report, options.guard);
  };
  return runCampaign(options, functions);
}

int replayIr(const CampaignOptions &given, const std::vector<std::string> &paths) {
  registerPasses();
  auto files = readFiles(paths);
  if (!files)
    return fail(files.takeError());
  CampaignOptions options = given;
  options.first = 0;
  options.count = int64_t(files->size());
  Runner runner;
  CampaignFunctions functions;
  functions.run = [&](int64_t index) {
    const std::string &text = (*files)[size_t(index)].text;
    Report report;
    for (int i = 0; i < kReplaysOfSteps && report.verdict != Verdict::Finding; ++i)
      report = checkStep(runner, text, Random(uint64_t(i)));
    for (int i = 0; i < kReplaysOfPasses && report.verdict != Verdict::Finding; ++i)
      report = checkPasses(runner, text, Random(uint64_t(i)));
    return report;
  };
  functions.minimize = [&](int64_t index, const Report &) {
    return (*files)[size_t(index)].path + "\n";
  };
  return runCampaign(options, functions);
}

} // namespace coll::fuzz
