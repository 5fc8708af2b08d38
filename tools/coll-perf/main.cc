// coll-perf: measures parts of the project beside their peers. One subcommand a file.

#include "tools/coll-perf/command.h"

#include <CLI/CLI.hpp>
#include <vector>

int main(int argc, char **argv) {
  using namespace coll::perf;
  CLI::App app("Measures parts of coll beside what others reach on the same machine, in the\n"
               "same run. Each subcommand has its own --help.",
               "coll-perf");
  app.set_version_flag("--version", "coll-perf " COLL_VERSION);
  app.require_subcommand(1);
  std::vector<Command> commands = {addNet(app, argc, argv)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // Help and version are "errors" with code 0.
    return app.exit(error) == 0 ? 0 : 2;
  }
  for (const Command &command : commands)
    if (command.app->parsed())
      return command.run();
  return 2;
}
