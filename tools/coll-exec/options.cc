#include "tools/coll-exec/options.h"

#include <charconv>
#include <cstring>

namespace coll::exec {

namespace {

// The value of `--NAME=VALUE`, or null if the argument is another one.
const char *valueOf(const char *argument, const char *name) {
  const size_t length = std::strlen(name);
  return std::strncmp(argument, name, length) == 0 && argument[length] == '='
             ? argument + length + 1
             : nullptr;
}

template <typename T>
rt::Status parseNumber(const char *option, const char *text, T least, T &number) {
  const char *end = text + std::strlen(text);
  auto [stop, error] = std::from_chars(text, end, number);
  if (error == std::errc() && stop == end && number >= least)
    return {};
  return rt::Status::invalid(std::string(option) + "=" + text + ": expected a number of at least " +
                             std::to_string(static_cast<int64_t>(least)));
}

rt::Status parseOption(const char *argument, Options &options) {
  if (const char *text = valueOf(argument, "--steps"))
    return parseNumber<int64_t>("--steps", text, 1, options.steps);
  if (const char *text = valueOf(argument, "--seed"))
    return parseNumber<uint64_t>("--seed", text, 0, options.seed);
  if (const char *text = valueOf(argument, "--rtol"))
    return parseNumber<double>("--rtol", text, 0, options.rtol.emplace());
  if (std::strcmp(argument, "--no-graph") == 0) {
    options.graphs = false;
    return {};
  }
  if (const char *text = valueOf(argument, "--backend")) {
    options.backend = text;
    return {};
  }
  if (const char *text = valueOf(argument, "--profile")) {
    if (!*text)
      return rt::Status::invalid("--profile=: the name of a file is missing");
    options.profile = text;
    return {};
  }
  if (const char *text = valueOf(argument, "--compare")) {
    options.compare = text;
    return {};
  }
  return rt::Status::invalid(std::string("unknown option ") + argument);
}

} // namespace

rt::Result<Options> parseOptions(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] == '-')
      COLL_RETURN_IF_ERROR(parseOption(argv[i], options));
    else if (options.step.empty())
      options.step = argv[i];
    else
      return rt::Status::invalid(std::string("one step at a time: ") + options.step + ", " +
                                 argv[i]);
  }
  if (options.step.empty())
    return rt::Status::invalid("a compiled step is missing");
  return options;
}

} // namespace coll::exec
