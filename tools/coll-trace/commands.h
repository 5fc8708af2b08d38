// commands.h - the commands of coll-trace. Each takes its arguments, without its own name, and
// returns the exit code: 0, 1 if something is wrong with the files, 2 if something is wrong with
// the arguments.

#ifndef COLL_TOOLS_COLL_TRACE_COMMANDS_H
#define COLL_TOOLS_COLL_TRACE_COMMANDS_H

#include "runtime/base/status.h"

#include <string>
#include <vector>

namespace coll::trace {

using Arguments = std::vector<std::string>;

int mergeCommand(const Arguments &arguments);
int summaryCommand(const Arguments &arguments);
int diagnoseCommand(const Arguments &arguments);
int checkCommand(const Arguments &arguments);
int toChakraCommand(const Arguments &arguments);
int fromChakraCommand(const Arguments &arguments);

// Prints "coll-trace: message" to stderr and returns the code.
int fail(int code, const std::string &message);

// Removes "--name=value" from the arguments and returns the value; if given several times, the last
// one counts. Returns `otherwise` if it is not given.
std::string takeOption(Arguments &arguments, const std::string &name, const std::string &otherwise);
// Removes "-o OUT" or "-oOUT" from the arguments and returns OUT; empty if it is not given.
std::string takeOutput(Arguments &arguments);
// Checks the arguments that are left, which are files. Fails if there is none, or if an option is
// left.
rt::Status checkFiles(const Arguments &arguments);

} // namespace coll::trace

#endif // COLL_TOOLS_COLL_TRACE_COMMANDS_H
