// greatest.h - keeps the greatest value of each key.

#ifndef COLL_TOOLS_COLL_TRACE_GREATEST_H
#define COLL_TOOLS_COLL_TRACE_GREATEST_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace coll::trace {

// A hash table in one block of memory, because it is used once for each part of each collective.
class Greatest {
public:
  struct Entry {
    uint64_t key = 0;
    int64_t ns = 0;
    bool isUsed = false;
  };
  Greatest() : entries_(1024) {}
  void add(uint64_t key, int64_t ns) {
    Entry &entry = find(key);
    count_ += !entry.isUsed;
    entry = {key, entry.isUsed ? std::max(entry.ns, ns) : ns, true};
    if (2 * count_ > entries_.size())
      grow();
  }
  std::vector<Entry> entries() const {
    std::vector<Entry> used;
    for (const Entry &entry : entries_)
      if (entry.isUsed)
        used.push_back(entry);
    return used;
  }

private:
  Entry &find(uint64_t key) {
    const size_t mask = entries_.size() - 1;
    size_t place = (key * 0x9e3779b97f4a7c15u >> 32) & mask;
    while (entries_[place].isUsed && entries_[place].key != key)
      place = (place + 1) & mask;
    return entries_[place];
  }
  void grow() {
    std::vector<Entry> before(2 * entries_.size());
    before.swap(entries_);
    for (const Entry &entry : before)
      if (entry.isUsed)
        find(entry.key) = entry;
  }

  std::vector<Entry> entries_; // a power of two of them
  size_t count_ = 0;
};

} // namespace coll::trace

#endif // COLL_TOOLS_COLL_TRACE_GREATEST_H
