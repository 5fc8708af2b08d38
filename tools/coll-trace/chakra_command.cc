#include "tools/coll-trace/commands.h"
#include "tools/coll-trace/convert.h"

#include <cinttypes>
#include <cstdio>

namespace coll::trace {

namespace {

int convert(const Arguments &given, const char *command, const char *wanted,
            rt::Result<Converted> (*run)(const std::vector<std::string> &, const std::string &)) {
  Arguments arguments = given;
  const std::string output = takeOutput(arguments);
  if (rt::Status status = checkFiles(arguments); !status.ok())
    return fail(2, status.message());
  if (output.empty())
    return fail(2, std::string(command) + " needs -o " + wanted);
  for (const std::string &path : arguments)
    if (path == output)
      return fail(2, "\"" + path + "\" is an input and the output; give another file with -o");
  rt::Result<Converted> converted = run(arguments, output);
  if (!converted.ok())
    return fail(1, converted.status().message());
  std::printf("%s: %" PRIu64 " ranks, %" PRIu64 " nodes\n", output.c_str(), converted->ranks,
              converted->nodes);
  return 0;
}

} // namespace

int toChakraCommand(const Arguments &arguments) {
  return convert(arguments, "to-chakra", "STEM, to which .RANK.et is added", toChakra);
}
int fromChakraCommand(const Arguments &arguments) {
  return convert(arguments, "from-chakra", "OUT", fromChakra);
}

} // namespace coll::trace
