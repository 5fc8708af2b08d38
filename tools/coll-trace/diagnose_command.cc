#include "tools/coll-trace/commands.h"
#include "tools/coll-trace/diagnose.h"

#include <cinttypes>
#include <cstdio>

namespace coll::trace {

int diagnoseCommand(const Arguments &arguments) {
  if (rt::Status status = checkFiles(arguments); !status.ok())
    return fail(2, status.message());
  rt::Result<Run> run = loadRun(arguments);
  if (!run.ok())
    return fail(1, run.status().message());
  size_t parts = 0;
  for (const auto &[comm, communicator] : run->communicators)
    parts += communicator.parts.size();
  if (parts == 0)
    return fail(1, "these traces contain no collectives (slices of the category \"coll\")");
  if (run->dropped)
    std::printf("note: %" PRIu64 " events were lost while tracing\n", run->dropped);
  for (const std::string &path : run->truncated)
    std::printf("note: \"%s\" ends within a packet, as the trace of a killed run does\n",
                path.c_str());
  std::optional<Verdict> verdict = diagnose(*run);
  if (verdict)
    std::printf("%s", describe(*verdict).c_str());
  else
    std::printf("no rank stands out\n");
  return 0;
}

} // namespace coll::trace
