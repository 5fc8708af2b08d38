// coll-trace: works on traces of coll-run --profile and of libnccl-profiler-coll.so.

#include "tools/coll-trace/commands.h"
#include "tools/common/tools.h"

#include <cstdio>

namespace coll::trace {

namespace {

struct Command {
  const char *name, *arguments, *help;
  int (*run)(const Arguments &);
};

const Command kCommands[] = {
    {"merge",
     "-o OUT [--ranks=0,4-7] [--levels=coll,compute] [--from=MS] [--to=MS] [--align=WHAT] FILE…",
     "makes one trace from those of the ranks, or a part small enough for a viewer", mergeCommand},
    {"summary", "FILE…", "operations by communicator and size: their number, times and waits",
     summaryCommand},
    {"diagnose", "FILE…", "which rank was late first, at which collective, and why",
     diagnoseCommand},
    {"check", "FILE…", "whether the traces are whole: pairs, nesting, tracks, lost events",
     checkCommand},
    {"to-chakra", "-o STEM FILE…", "Chakra execution traces of the ranks, STEM.RANK.et",
     toChakraCommand},
    {"from-chakra", "-o OUT FILE.RANK.et…",
     "one trace from Chakra's traces; to-chakra restores them", fromChakraCommand},
};

void printHelp(std::FILE *stream) {
  std::fprintf(stream, "usage: coll-trace COMMAND [options] FILE…\n\n");
  for (const Command &command : kCommands)
    std::fprintf(stream, "  %-12s%s\n              %s\n", command.name, command.arguments,
                 command.help);
  std::fprintf(
      stream,
      "\nEach FILE is a trace in Perfetto's format, of one rank or merged.\n"
      "--align: realtime (the clocks of the hosts; the default), collectives (their common\n"
      "ends, which needs a second reading), none. --from and --to: milliseconds since the\n"
      "first event.\n");
}

} // namespace

int fail(int code, const std::string &message) {
  std::fprintf(stderr, "coll-trace: %s\n", message.c_str());
  return code;
}

std::string takeOption(Arguments &arguments, const std::string &name,
                       const std::string &otherwise) {
  std::string value = otherwise;
  for (auto at = arguments.begin(); at != arguments.end();) {
    if (at->rfind("--" + name + "=", 0) == 0) {
      value = at->substr(name.size() + 3);
      at = arguments.erase(at);
    } else {
      ++at;
    }
  }
  return value;
}

std::string takeOutput(Arguments &arguments) {
  std::string output;
  for (auto at = arguments.begin(); at != arguments.end();) {
    if (at->rfind("-o", 0) != 0) {
      ++at;
      continue;
    }
    output = at->substr(2);
    at = arguments.erase(at);
    if (output.empty() && at != arguments.end()) {
      output = *at;
      at = arguments.erase(at);
    }
  }
  return output;
}

rt::Status checkFiles(const Arguments &arguments) {
  for (const std::string &argument : arguments)
    if (argument.size() > 1 && argument[0] == '-')
      return rt::Status::invalid("unknown option " + argument + "; see coll-trace --help");
  if (arguments.empty())
    return rt::Status::invalid("no trace is named; see coll-trace --help");
  return rt::Status::okay();
}

} // namespace coll::trace

int coll::traceMain(int argc, char **argv) {
  using namespace coll::trace;
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "--version") {
    std::printf("coll-trace %s\n", COLL_VERSION);
    return 0;
  }
  for (const Command &command : kCommands)
    if (first == command.name)
      return command.run(Arguments(argv + 2, argv + argc));
  const bool isAsked = first == "--help" || first == "-h";
  if (!isAsked && !first.empty())
    std::fprintf(stderr, "coll-trace: there is no command \"%s\"\n", first.c_str());
  printHelp(isAsked ? stdout : stderr);
  return isAsked ? 0 : 2;
}
