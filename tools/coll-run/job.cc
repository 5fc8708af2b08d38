//===- job.cc - this process among the processes of a job -----------------------===//

#include "tools/coll-run/job.h"

#include "compiler/error.h"
#include "driver/tensors.h"

#include "llvm/Support/raw_ostream.h"

#ifdef COLL_HAS_NET
#include "runtime/backend/net/launched_job.h"
#endif

#include <unistd.h>

namespace coll::run {

#ifdef COLL_HAS_NET

llvm::Expected<Place> findPlace(const Options &options) {
  Place place;
  if (options.processes || options.backend != "net") {
    if (net::isLaunched())
      place.note = std::string("a launcher has started this process, and it runs all ranks, as "
                               "will each other; ") +
                   (options.processes ? "without --processes each one is a rank"
                                      : "--backend=net makes each one a rank");
    return place;
  }
  if (!net::isLaunched()) {
    place.note = "the ranks are threads of this process; --processes gives each a process";
    return place;
  }
  auto launched = toExpected(rt::network::readLaunchedJob());
  if (!launched)
    return launched.takeError();
  const net::LaunchEnv &env = launched->env;
  if (options.ranks && *options.ranks != env.worldSize)
    return makeError("--ranks=" + llvm::Twine(*options.ranks) + ", but " + env.worldSizeVariable +
                     " is " + llvm::Twine(env.worldSize));
  place.launcher = env.launcher;
  place.job = std::move(launched->job);
  return place;
}

#else

// Executor::create() says that there is no backend net.
llvm::Expected<Place> findPlace(const Options &) { return Place(); }

#endif

ReportOptions describeReport(const Options &options) {
  return {options.report, options.input, options.commandLine, options.backend};
}

void reportError(const Place &place, const std::string &message) {
  if (place.reportFd >= 0) {
    // The supervisor reads to the end; if it has ended, this process ends, too.
    for (llvm::StringRef rest = message; !rest.empty();) {
      ssize_t count = ::write(place.reportFd, rest.data(), rest.size());
      if (count <= 0)
        return;
      rest = rest.drop_front(static_cast<size_t>(count));
    }
    return;
  }
  llvm::outs().flush();
  const std::string who = place.job ? "rank " + std::to_string(place.job->rank) + ": " : "";
  // Written in one call, because launchers mix the output of their processes.
  llvm::errs() << "coll-run: error: " + who + message + "\n";
}

} // namespace coll::run
