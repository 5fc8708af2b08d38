#include "runtime/profiler/nccl_plugin/open_events.h"

namespace coll::profiler::plugin {

uint32_t OpenEvents::add(const Record &start) {
  uint32_t place = static_cast<uint32_t>(pool_.size());
  if (!free_.empty()) {
    place = free_.back();
    free_.pop_back();
    pool_[place] = OpenEvent();
  } else {
    pool_.emplace_back();
  }
  OpenEvent &event = pool_[place];
  event.start = start;
  event.lastActivityNs = start.ns;
  event.older = newest_;
  if (newest_)
    pool_[newest_].newer = place;
  else
    oldest_ = place;
  newest_ = place;
  byId_[start.id] = place;
  return place;
}

void OpenEvents::remove(uint32_t place) {
  OpenEvent &event = pool_[place];
  (event.older ? pool_[event.older].newer : oldest_) = event.newer;
  (event.newer ? pool_[event.newer].older : newest_) = event.older;
  if (auto found = byId_.find(event.start.id); found != byId_.end() && found->second == place)
    byId_.erase(found);
  free_.push_back(place);
}

} // namespace coll::profiler::plugin
