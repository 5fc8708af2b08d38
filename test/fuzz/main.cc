//===- main.cc - coll-fuzz: random input for everything that reads it -----------===//

#include "compiler/target.h"
#include "test/fuzz/ir/command.h"
#include "test/fuzz/programs/command.h"
#include "test/fuzz/ranks/command.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

namespace {

cl::OptionCategory category("coll-fuzz options");
cl::opt<std::string> mode(cl::Positional, cl::Required,
                          cl::desc("programs, shardings, ranks, pipelines, ir or replay"),
                          cl::cat(category));
cl::list<std::string> inputs(cl::Positional,
                             cl::desc("folders of the corpus, or files to replay or of pipelines"),
                             cl::cat(category));
cl::opt<uint64_t> seed("seed", cl::init(1), cl::desc("what the cases are made from"),
                       cl::cat(category));
cl::opt<uint64_t> first("first", cl::init(0), cl::desc("number of the first case"),
                        cl::cat(category));
cl::opt<uint64_t> count("count", cl::init(1000), cl::desc("cases; 0: as many as --minutes allow"),
                        cl::cat(category));
cl::opt<double> minutes("minutes", cl::init(0), cl::desc("time limit"), cl::cat(category));
cl::opt<std::string> findings("findings", cl::desc("folder for minimised findings"),
                              cl::cat(category));
cl::opt<std::string>
    device("device", cl::init("cpu"),
           cl::desc("of programs and shardings: what the ranks run on, cpu, gpu or "
                    "gpu:sm_90"),
           cl::cat(category));
cl::opt<uint64_t> together("together", cl::init(1),
                           cl::desc("of programs and shardings: cases that one process compiles "
                                    "and runs at the same time"),
                           cl::cat(category));
cl::opt<bool> print("print", cl::desc("print the cases, run nothing"), cl::cat(category));
cl::opt<bool> verbose("verbose", cl::desc("show what the compiler reports"), cl::cat(category));

} // namespace

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](llvm::raw_ostream &os) { os << "coll-fuzz " COLL_VERSION "\n"; });
  cl::ParseCommandLineOptions(argc, argv, "Random input, deterministic by seed\n");
  if (!count && !(minutes > 0) && mode != "replay") {
    llvm::errs() << "coll-fuzz: error: --count=0 needs --minutes\n";
    return 2;
  }
  coll::fuzz::CampaignOptions options;
  options.name = mode;
  options.seed = seed;
  options.first = first;
  options.count = count;
  options.minutes = minutes;
  options.findings = findings;
  options.guard.isVerbose = verbose;
  coll::fuzz::StepOptions steps;
  llvm::Expected<std::string> gpu = coll::run::parseDevice(device);
  if (!gpu || together < 1 || together > 256) {
    llvm::errs() << "coll-fuzz: error: "
                 << (gpu ? "--together takes a number from 1 to 256"
                         : llvm::toString(gpu.takeError()))
                 << '\n';
    return 2;
  }
  steps.gpu = *gpu;
  steps.together = int64_t(together);
  if (!steps.gpu.empty())
    options.guard.maxBytes = 0; // the driver reserves as much as the machine and its GPUs have
  if (print && mode == "programs") {
    coll::fuzz::printPrograms(options);
    return 0;
  }
  if (print && mode == "shardings") {
    coll::fuzz::printShardings(options);
    return 0;
  }
  if (print && mode == "ranks") {
    coll::fuzz::printRanks(options);
    return 0;
  }
  if (mode == "programs")
    return coll::fuzz::runPrograms(options, steps) == 0 ? 0 : 1;
  if (mode == "shardings")
    return coll::fuzz::runShardings(options, steps) == 0 ? 0 : 1;
  if (mode == "ranks")
    return coll::fuzz::runRanks(options) == 0 ? 0 : 1;
  if (mode == "pipelines")
    return coll::fuzz::runPipelines(options, inputs) == 0 ? 0 : 1;
  if (mode == "ir")
    return coll::fuzz::runIr(options, inputs) == 0 ? 0 : 1;
  if (mode == "replay")
    return coll::fuzz::replayIr(options, inputs) == 0 ? 0 : 1;
  llvm::errs() << "coll-fuzz: error: no mode '" << mode << "'\n";
  return 2;
}
