// trace-tests [--faults=N] [--mutants=N] [--seed=N] [--mutants-of=FILE]: the tests of coll-trace.
// --simulate=FOLDER --ranks=N --collectives=N writes traces instead.

#include "test/trace/simulation.h"
#include "test/trace/temporary.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

namespace coll::trace::test {

std::string folder() {
  static std::string path = [] {
    char pattern[] = "/tmp/coll-trace-XXXXXX";
    return std::string(mkdtemp(pattern));
  }();
  return path;
}

} // namespace coll::trace::test

int main(int argc, char **argv) {
  using namespace coll::trace::test;
  testing::InitGoogleTest(&argc, argv);
  std::string target;
  Simulation simulation;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const std::string value = option.substr(std::min(option.size(), option.find('=') + 1));
    if (option.rfind("--faults=", 0) == 0)
      faults = std::atoi(value.c_str());
    else if (option.rfind("--mutants=", 0) == 0)
      mutants = std::atoi(value.c_str());
    else if (option.rfind("--seed=", 0) == 0)
      seed = std::strtoull(value.c_str(), nullptr, 10);
    else if (option.rfind("--mutants-of=", 0) == 0)
      mutantsOf = value;
    else if (option.rfind("--simulate=", 0) == 0)
      target = value;
    else if (option.rfind("--ranks=", 0) == 0)
      simulation.ranks = std::atoi(value.c_str());
    else if (option.rfind("--collectives=", 0) == 0)
      simulation.collectives = static_cast<uint64_t>(std::atoll(value.c_str()));
  }
  if (!target.empty()) {
    simulation.fault = Injected{coll::trace::Fault::Compute,
                                simulation.ranks / 2,
                                simulation.collectives / 2,
                                2.0,
                                1,
                                false};
    simulate(simulation, target);
    return 0;
  }
  const int code = RUN_ALL_TESTS();
  std::filesystem::remove_all(folder());
  return code;
}
