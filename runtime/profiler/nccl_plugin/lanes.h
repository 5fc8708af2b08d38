// lanes.h - tracks for slices that may overlap in time: each takes the first lane that is free.

#ifndef COLL_RUNTIME_PROFILER_NCCL_PLUGIN_LANES_H
#define COLL_RUNTIME_PROFILER_NCCL_PLUGIN_LANES_H

#include "runtime/profiler/perfetto/writer.h"

#include <algorithm>
#include <string>
#include <vector>

namespace coll::profiler::plugin {

// Slices must be added in the order of their ends, or nearly so: one that begins before the last
// one of every lane has ended opens another lane. There are at most 64 lanes; if all are taken, the
// slice is cut to begin where a lane is free.
class Lanes {
public:
  Lanes(perfetto::TrackId parent, std::string name, int order)
      : parent_(parent), name_(std::move(name)), order_(order) {}

  // The track of a slice; `startNs` may be moved to the end of the last slice of the track.
  perfetto::TrackId take(perfetto::Writer &writer, uint64_t &startNs, uint64_t endNs) {
    Lane *best = nullptr;
    for (Lane &lane : lanes_) {
      if (lane.endNs <= startNs) {
        lane.endNs = std::max(startNs, endNs);
        return lane.track;
      }
      if (!best || lane.endNs < best->endNs)
        best = &lane;
    }
    if (lanes_.size() < kMost) {
      lanes_.push_back({writer.track(parent_, name_, order_), 0});
      best = &lanes_.back();
    }
    startNs = std::max(startNs, best->endNs);
    best->endNs = std::max(startNs, endNs);
    return best->track;
  }

private:
  static constexpr size_t kMost = 64;
  struct Lane {
    perfetto::TrackId track;
    uint64_t endNs;
  };
  perfetto::TrackId parent_;
  std::string name_;
  int order_;
  std::vector<Lane> lanes_;
};

} // namespace coll::profiler::plugin

#endif // COLL_RUNTIME_PROFILER_NCCL_PLUGIN_LANES_H
