#include "tools/coll-trace/commands.h"
#include "tools/coll-trace/merge.h"

#include <charconv>
#include <cinttypes>
#include <cstdio>

namespace coll::trace {

namespace {

rt::Status milliseconds(const char *name, const std::string &text, std::optional<uint64_t> &ns) {
  if (text.empty())
    return rt::Status::okay();
  uint64_t value = 0;
  auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || after != text.data() + text.size() || value > 1'000'000'000'000)
    return rt::Status::invalid(std::string(name) + ": \"" + text +
                               "\" is not a whole number of milliseconds");
  ns = value * 1'000'000;
  return rt::Status::okay();
}

rt::Status parse(Arguments &arguments, MergeOptions &options) {
  options.output = takeOutput(arguments);
  const std::string ranks = takeOption(arguments, "ranks", ""),
                    levels = takeOption(arguments, "levels", ""),
                    align = takeOption(arguments, "align", "realtime");
  COLL_RETURN_IF_ERROR(milliseconds("--from", takeOption(arguments, "from", ""), options.fromNs));
  COLL_RETURN_IF_ERROR(milliseconds("--to", takeOption(arguments, "to", ""), options.toNs));
  COLL_RETURN_IF_ERROR(checkFiles(arguments));
  if (options.output.empty())
    return rt::Status::invalid("merge needs -o OUT");
  for (const std::string &path : arguments)
    if (path == options.output)
      return rt::Status::invalid("\"" + path +
                                 "\" is an input and the output; give another file with -o");
  if (!ranks.empty()) {
    rt::Result<std::set<int32_t>> parsed = parseRanks(ranks);
    COLL_RETURN_IF_ERROR(parsed.status());
    options.ranks = parsed.take();
  }
  if (!levels.empty()) {
    rt::Result<uint32_t> parsed = parseLevels(levels);
    COLL_RETURN_IF_ERROR(parsed.status());
    options.levels = *parsed;
  }
  if (align == "collectives")
    options.align = Align::Collectives;
  else if (align == "none")
    options.align = Align::None;
  else if (align != "realtime")
    return rt::Status::invalid("--align has to be realtime, collectives or none, not \"" + align +
                               "\"");
  return rt::Status::okay();
}

} // namespace

int mergeCommand(const Arguments &given) {
  Arguments arguments = given;
  MergeOptions options;
  if (rt::Status status = parse(arguments, options); !status.ok())
    return fail(2, status.message());
  rt::Result<MergeResult> result = merge(arguments, options);
  if (!result.ok())
    return fail(1, result.status().message());
  for (const std::string &note : result->notes)
    std::printf("note: %s\n", note.c_str());
  std::printf("%s: %zu files, %" PRIu64 " packets, %.1f MiB, %" PRIu64 " events left out\n",
              options.output.c_str(), arguments.size(), result->packets,
              static_cast<double>(result->bytes) / (1 << 20), result->left);
  if (result->errorNs)
    std::printf("clocks: aligned by common collectives, which then end within %.1f us (median)\n",
                static_cast<double>(*result->errorNs) / 1e3);
  return 0;
}

} // namespace coll::trace
