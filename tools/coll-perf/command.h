// command.h - the interface of a subcommand of coll-perf. Each subcommand is a file that defines
// its function, with a line here and in main.cc.

#ifndef COLL_TOOLS_COLL_PERF_COMMAND_H
#define COLL_TOOLS_COLL_PERF_COMMAND_H

#include <functional>
#include <vector>

namespace CLI {
class App;
}

namespace coll::perf {

struct Command {
  CLI::App *app = nullptr; // shows whether the subcommand was named on the command line
  // Runs the subcommand after the command line was read; returns the exit code.
  std::function<int()> run;
};

// Adds `coll-perf moe`.
Command addMoe(CLI::App &app, int argc, char **argv);
// Adds `coll-perf net`. The rows that it writes contain the words of the command line.
Command addNet(CLI::App &app, int argc, char **argv);
// Adds `coll-perf reshard`.
Command addReshard(CLI::App &app, int argc, char **argv);
// Adds one subcommand for each operation: `coll-perf all_reduce`, …
std::vector<Command> addOps(CLI::App &app, int argc, char **argv);
// Adds `coll-perf tune`.
Command addTune(CLI::App &app, int argc, char **argv);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_COMMAND_H
