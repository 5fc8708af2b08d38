//===- tools.h - the tools as functions -------------------------------*- C++ -*-===//
//
// Each tool is a function of its own folder's main.cc. main.cc of this folder makes a
// program of one of them, tools/coll/main.cc of all.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_TOOLS_COMMON_TOOLS_H
#define COLL_TOOLS_COMMON_TOOLS_H

namespace coll {

// Each takes what main() takes, returns the exit code, and is called once in a process.
int compileMain(int argc, char **argv);
int execMain(int argc, char **argv);
int infoMain(int argc, char **argv);
int lspServerMain(int argc, char **argv);
int optMain(int argc, char **argv);
int perfMain(int argc, char **argv);
int runMain(int argc, char **argv);
int traceMain(int argc, char **argv);

} // namespace coll

#endif // COLL_TOOLS_COMMON_TOOLS_H
