// coll-perf: measures parts of the project and, for comparison, other software. Each subcommand is
// a file.

#include "tools/coll-perf/command.h"
#include "tools/common/tools.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

int coll::perfMain(int argc, char **argv) {
  using namespace coll::perf;
  CLI::App app(
      "Measures parts of coll, and for comparison what other software reaches in the same\n"
      "run on the same machine. Each subcommand has its own --help.",
      "coll-perf");
  app.set_version_flag("--version", "coll-perf " COLL_VERSION);
  app.require_subcommand(1);
  app.failure_message([](const CLI::App *failed, const CLI::Error &error) {
    std::string name = failed->get_name();
    for (const CLI::App *command : failed->get_subcommands())
      name += " " + command->get_name();
    return "coll-perf: " + std::string(error.what()) + "\n(see " + name + " --help)\n";
  });
  std::vector<Command> commands = addOps(app, argc, argv);
  commands.push_back(addTune(app, argc, argv));
  commands.push_back(addMoe(app, argc, argv));
  commands.push_back(addNet(app, argc, argv));
  commands.push_back(addReshard(app, argc, argv));
  std::string first = argc > 1 ? argv[1] : "";
  bool known = first.empty() || app.get_option_no_throw(first);
  for (const Command &command : commands)
    known |= command.app->get_name() == first;
  if (!known) {
    std::fprintf(stderr, "coll-perf: there is no subcommand \"%s\"; see coll-perf --help\n",
                 first.c_str());
    return 2;
  }
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
