// span_table.h - the open spans of a rank's trace: a map from a span's id to a value.
//
// Open addressing without allocation per span. Ids of one thread count upwards, so spans that begin
// together are close together. The table grows up to kMaxSpans; then insert() fails.

#ifndef COLL_RUNTIME_PROFILER_HOST_SPAN_TABLE_H
#define COLL_RUNTIME_PROFILER_HOST_SPAN_TABLE_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace coll::profiler {

// One thread at a time may use it. `Value` can be copied and has a default.
template <typename Value>
class SpanTable {
public:
  static constexpr size_t kMaxSpans = 1 << 16;

  SpanTable() : entries_(64) {}

  // Null if there is no room. `id` is not 0, and not in the table. The address is valid until the
  // next insert() or erase().
  Value *insert(uint64_t id) {
    if (2 * (count_ + 1) > entries_.size() && !grow())
      return nullptr;
    Entry &entry = entries_[placeFor(id)];
    entry = {id, Value()};
    ++count_;
    return &entry.value;
  }

  Value *find(uint64_t id) {
    if (id == 0)
      return nullptr;
    Entry &entry = entries_[placeFor(id)];
    return entry.id == id ? &entry.value : nullptr;
  }

  void erase(uint64_t id) {
    size_t hole = placeFor(id);
    if (id == 0 || entries_[hole].id != id)
      return;
    // Entries that were pushed past the hole move into it, so that no search ends too early.
    const size_t mask = entries_.size() - 1;
    for (size_t next = (hole + 1) & mask; entries_[next].id != 0; next = (next + 1) & mask) {
      const size_t home = entries_[next].id & mask;
      if (((next - home) & mask) < ((next - hole) & mask))
        continue;
      entries_[hole] = entries_[next];
      hole = next;
    }
    entries_[hole] = {};
    --count_;
  }

  size_t size() const { return count_; }

private:
  struct Entry {
    uint64_t id = 0; // 0: free
    Value value;
  };

  // The place of the id, or the free place where it belongs.
  size_t placeFor(uint64_t id) const {
    const size_t mask = entries_.size() - 1;
    size_t place = id & mask;
    while (entries_[place].id != 0 && entries_[place].id != id)
      place = (place + 1) & mask;
    return place;
  }

  bool grow() {
    if (count_ >= kMaxSpans)
      return false;
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry &entry : old)
      if (entry.id != 0)
        entries_[placeFor(entry.id)] = entry;
    return true;
  }

  std::vector<Entry> entries_; // a power of two, at most half full
  size_t count_ = 0;
};

} // namespace coll::profiler

#endif // COLL_RUNTIME_PROFILER_HOST_SPAN_TABLE_H
