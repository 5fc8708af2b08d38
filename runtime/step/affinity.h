// affinity.h - assigns rank threads to processors.
//
// The kernel places memory on the NUMA node of the thread that writes it first. So the buffers of a
// pinned rank are local if the rank's thread is the first to write them.

#ifndef COLL_RUNTIME_STEP_AFFINITY_H
#define COLL_RUNTIME_STEP_AFFINITY_H

#include "runtime/base/status.h"

#include <string>
#include <vector>

namespace coll::rt {

// A logical processor and its place.
struct Processor {
  int cpu = 0;
  int node = 0;    // NUMA node
  int package = 0; // socket
  int core = 0;    // inside the package
};

// The processors that this process may use, as /sys describes them, ascending.
std::vector<Processor> availableProcessors();

class Affinity {
public:
  // `spec`: "none" (no rank is pinned); "compact" (ranks fill one NUMA node after the other, one
  // rank a core before any core gets a second); "spread" (ranks take turns over the NUMA nodes); or
  // processor numbers, "0,2,4-7": rank i gets the i-th. If there are more ranks than processors,
  // assignment starts again at the first. Fails if the text is none of these or names a processor
  // that this process may not use.
  static Result<Affinity> create(const std::string &spec);
  // Like create() above, but with the given processors.
  static Result<Affinity> create(const std::string &spec, std::vector<Processor> processors);

  // The processor of a rank, or -1 if ranks are not pinned.
  int processorOf(int rank) const;
  // Keeps the calling thread on its rank's processor.
  Status pinThisThread(int rank) const;

private:
  std::vector<int> cpus_; // by rank, repeated; empty: no pinning
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_AFFINITY_H
