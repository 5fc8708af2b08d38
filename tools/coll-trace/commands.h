// commands.h - the commands of coll-trace. Each takes its arguments, without its name, and returns
// the exit code: 0, 1 where something is wrong with the files, 2 where it is with the arguments.

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

// Takes "--name=value" out of the arguments; the last one counts. Returns `otherwise` without one.
std::string takeOption(Arguments &arguments, const std::string &name, const std::string &otherwise);
// Takes "-o OUT" or "-oOUT" out of them; empty where there is none.
std::string takeOutput(Arguments &arguments);
// The files that are left. An error where there are none, or where an option is left.
rt::Status checkFiles(const Arguments &arguments);

} // namespace coll::trace

#endif // COLL_TOOLS_COLL_TRACE_COMMANDS_H
