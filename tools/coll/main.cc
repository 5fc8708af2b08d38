//===- main.cc - coll: all tools in one file ----------------------------------===//
//
// The tool is the name under which the program is called (a link coll-run), or else
// the first argument (coll run).
//
//===----------------------------------------------------------------------------===//

#include "tools/coll-run/options.h"
#include "tools/common/program.h"
#include "tools/common/tools.h"

#include <cstdio>
#include <string>

namespace {

struct Tool {
  const char *name;
  const char *summary;
  int (*run)(int argc, char **argv);
};

const Tool kTools[] = {
    {"opt", "runs passes on IR files", coll::optMain},
    {"compile", "compiles a step ahead of time", coll::compileMain},
    {"exec", "runs a compiled step", coll::execMain},
    {"run", "compiles a step and runs it on N ranks", coll::runMain},
    {"lsp-server", "shows IR files in an editor", coll::lspServerMain},
    {"perf", "measures operations, transports and exchanges", coll::perfMain},
    {"trace", "merges, checks and diagnoses traces", coll::traceMain},
    {"info", "what this build contains and finds on this machine", coll::infoMain},
};

const Tool *find(const std::string &name) {
  for (const Tool &tool : kTools)
    if (name == tool.name)
      return &tool;
  return nullptr;
}

int call(const Tool &tool, int argc, char **argv) {
  // LLVM's registry of options is one for the process.
  if (tool.run != coll::runMain)
    coll::run::removeOptions();
  return tool.run(argc, argv);
}

void printHelp(std::FILE *stream) {
  std::fprintf(stream, "usage: coll TOOL [options]\n\n");
  for (const Tool &tool : kTools)
    std::fprintf(stream, "  %-12s%s\n", tool.name, tool.summary);
  std::fprintf(stream,
               "\nEach has its own --help. A link named coll-TOOL to this file is that tool.\n");
}

int callNamed(int argc, char **argv) {
  std::string called = argc > 0 ? argv[0] : "";
  called = called.substr(called.rfind('/') + 1);
  if (called.rfind("coll-", 0) == 0)
    if (const Tool *tool = find(called.substr(5)))
      return call(*tool, argc, argv);
  std::string first = argc > 1 ? argv[1] : "";
  if (first == "--version") {
    std::printf("coll %s\n", COLL_VERSION);
    return 0;
  }
  if (const Tool *tool = find(first)) {
    std::string name = "coll " + first;
    argv[1] = name.data();
    return call(*tool, argc - 1, argv + 1);
  }
  bool asked = first == "--help" || first == "-h";
  if (!asked && !first.empty())
    std::fprintf(stderr, "coll: there is no tool \"%s\"\n", first.c_str());
  printHelp(asked ? stdout : stderr);
  return asked ? 0 : 2;
}

} // namespace

int main(int argc, char **argv) { return coll::runProgram(callNamed, argc, argv); }
