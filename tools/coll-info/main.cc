// coll-info: what this build contains and what it finds on this machine.

#include "tools/coll-info/sections.h"
#include "tools/coll-info/topology.h"
#include "tools/common/tools.h"

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>

// The number in `--topology=RANKS`; nothing where it is something else.
static std::optional<int64_t> ranksOf(std::string_view option) {
  constexpr std::string_view kName = "--topology=";
  constexpr int64_t kMostRanks = 1024;
  int64_t ranks = 0;
  if (option.substr(0, kName.size()) != kName)
    return std::nullopt;
  option.remove_prefix(kName.size());
  const auto [end, error] = std::from_chars(option.data(), option.data() + option.size(), ranks);
  const bool isNumber = error == std::errc() && end == option.data() + option.size();
  return isNumber && ranks >= 1 && ranks <= kMostRanks ? std::optional(ranks) : std::nullopt;
}

int coll::infoMain(int argc, char **argv) {
  using namespace coll::info;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--version") == 0) {
      std::printf("coll-info %s\n", COLL_VERSION);
      return 0;
    }
    if (std::strcmp(argv[i], "--topology") == 0)
      return printTopology(0);
    if (std::optional<int64_t> ranks = ranksOf(argv[i]))
      return printTopology(*ranks);
    bool help = std::strcmp(argv[i], "--help") == 0 || std::strcmp(argv[i], "-h") == 0;
    std::fprintf(help ? stdout : stderr,
                 "%s%s\nusage: coll-info [--version | --topology[=RANKS] | --help]\n\n"
                 "Prints what this build of coll contains, the network devices and GPUs that it\n"
                 "finds, and the environment variables that it reads.\n"
                 "--topology prints this machine's topology file instead: hosts, ranks and links\n"
                 "with the bandwidth and latency that are measured now. RANKS (1 to 1024) may be\n"
                 "more than the machine has cores.\n",
                 help ? "" : "coll-info: unknown option ", help ? "" : argv[i]);
    return help ? 0 : 2;
  }
  std::printf("coll %s\n", COLL_VERSION);
  printBackends();
  printTransports();
  printGpus();
  printNccl();
  printCublasLt();
  printPeers();
  bool isSound = printRoutes();
  isSound &= printPaths();
  printNcclPlugin();
  printEnvironment();
  return isSound ? 0 : 1;
}
