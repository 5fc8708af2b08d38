#include "tools/coll-trace/order_parts.h"

#include <algorithm>
#include <tuple>

namespace coll::trace {

namespace {

// Consecutive parts of one rank in a list.
struct Stretch {
  const Part *begin, *end;
};

std::vector<Stretch> stretchesOf(const std::vector<std::vector<Part>> &lists) {
  std::vector<Stretch> stretches;
  for (const std::vector<Part> &list : lists)
    for (const Part *at = list.data(), *end = at + list.size(); at != end;) {
      const Part *next = at;
      while (next != end && next->rank == at->rank)
        ++next;
      stretches.push_back({at, next});
      at = next;
    }
  // The result must not depend on which thread has read which file.
  std::sort(stretches.begin(), stretches.end(), [](const Stretch &a, const Stretch &b) {
    auto key = [](const Part &part) {
      return std::make_tuple(part.rank, part.enqueuedNs, part.endNs, part.seq);
    };
    return key(*a.begin) < key(*b.begin);
  });
  return stretches;
}

// If a rank calls AllReduce 0, Broadcast 0, AllReduce 1, these become 0, 1, 2. The counts are added
// up rather than the positions, so that a rank whose first events were lost is numbered like the
// others.
void numberOneRank(std::vector<Part *> &parts, const std::vector<uint32_t> &functions) {
  std::sort(parts.begin(), parts.end(),
            [](const Part *a, const Part *b) { return a->enqueuedNs < b->enqueuedNs; });
  std::map<uint32_t, uint64_t> counts;
  uint64_t sum = 0;
  for (Part *part : parts) {
    uint64_t &count = counts[functions[part->what]];
    const uint64_t now = std::max(count, part->seq + 1);
    sum += now - count;
    count = now;
    part->seq = sum - 1;
  }
}

void numberAcrossFunctions(std::vector<std::vector<Part>> &lists,
                           const std::vector<uint32_t> &functions) {
  std::map<int32_t, std::vector<Part *>> byRank;
  for (std::vector<Part> &list : lists)
    for (Part &part : list)
      byRank[part.rank].push_back(&part);
  for (auto &[rank, parts] : byRank)
    numberOneRank(parts, functions);
}

bool isBefore(const Part &a, const Part &b) {
  return std::tie(a.seq, a.rank, a.enqueuedNs) < std::tie(b.seq, b.rank, b.enqueuedNs);
}

} // namespace

std::vector<Part> orderParts(UnorderedParts parts, const std::vector<uint32_t> &functions) {
  if (parts.isNumberedByFunction)
    numberAcrossFunctions(parts.lists, functions);
  size_t count = 0;
  uint64_t first = UINT64_MAX, last = 0;
  for (const std::vector<Part> &list : parts.lists)
    for (const Part &part : list) {
      ++count;
      first = std::min(first, part.seq);
      last = std::max(last, part.seq);
    }
  std::vector<Part> ordered;
  ordered.reserve(count);
  const std::vector<Stretch> stretches = stretchesOf(parts.lists);
  // Numbers of real collectives are dense, but a file may contain any numbers.
  if (count == 0 || last - first > 4 * count) {
    for (const Stretch &stretch : stretches)
      ordered.insert(ordered.end(), stretch.begin, stretch.end);
    std::sort(ordered.begin(), ordered.end(), isBefore);
    return ordered;
  }
  // places[n]: where the next part of collective first + n goes.
  std::vector<size_t> places(last - first + 2);
  for (const Stretch &stretch : stretches)
    for (const Part *part = stretch.begin; part != stretch.end; ++part)
      ++places[part->seq - first + 1];
  for (size_t i = 1; i < places.size(); ++i)
    places[i] += places[i - 1];
  ordered.resize(count);
  for (const Stretch &stretch : stretches)
    for (const Part *part = stretch.begin; part != stretch.end; ++part)
      ordered[places[part->seq - first]++] = *part;
  return ordered;
}

} // namespace coll::trace
