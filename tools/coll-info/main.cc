// coll-info: what this build contains and what it finds on this machine.

#include "tools/coll-info/sections.h"
#include "tools/coll-info/topology.h"
#include "tools/common/tools.h"

#include <cstdio>
#include <cstring>

int coll::infoMain(int argc, char **argv) {
  using namespace coll::info;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--version") == 0) {
      std::printf("coll-info %s\n", COLL_VERSION);
      return 0;
    }
    if (std::strcmp(argv[i], "--topology") == 0)
      return printTopology();
    bool help = std::strcmp(argv[i], "--help") == 0 || std::strcmp(argv[i], "-h") == 0;
    std::fprintf(help ? stdout : stderr,
                 "%s%s\nusage: coll-info [--version | --topology | --help]\n\n"
                 "Prints what this build of coll contains, the network devices and GPUs that it\n"
                 "finds, and the environment variables that it reads.\n"
                 "--topology prints this machine's topology file instead: hosts, ranks and links\n"
                 "with the bandwidth and latency that are measured now.\n",
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
