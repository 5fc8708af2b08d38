#include "runtime/kernels/root_update/plan.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace coll::kernels {

using rt::Result;
using rt::Status;

namespace {

// 64 TiB in f32: far below where sums of bytes, or numbers of chunks, would wrap.
constexpr uint64_t kMaxElems = uint64_t{1} << 44;

uint64_t toGrain(uint64_t count) {
  return (count + kUpdateGrain - 1) / kUpdateGrain * kUpdateGrain;
}

Status checkRanks(int ranks) {
  if (ranks >= 1 && static_cast<uint32_t>(ranks) <= kMaxPeers)
    return Status::okay();
  return Status::invalid("root update: " + std::to_string(ranks) + " ranks; 1 to " +
                         std::to_string(kMaxPeers) + " are possible");
}

Status checkParameter(const RootedParameter &parameter, size_t index, int ranks) {
  const std::string name = "root update: parameter " + std::to_string(index);
  if (parameter.root < 0 || parameter.root >= ranks)
    return Status::invalid(name + " has root " + std::to_string(parameter.root) + " of " +
                           std::to_string(ranks) + " ranks");
  if (parameter.count > kMaxElems || parameter.gradient > kMaxElems ||
      parameter.parameter > kMaxElems)
    return Status::invalid(name + " has a count or an offset that is too large");
  return Status::okay();
}

} // namespace

Result<RootPlan> planRoots(const std::vector<RootedParameter> &parameters, int ranks) {
  COLL_RETURN_IF_ERROR(checkRanks(ranks));
  for (size_t i = 0; i < parameters.size(); ++i)
    COLL_RETURN_IF_ERROR(checkParameter(parameters[i], i, ranks));
  if (parameters.size() > UINT32_MAX)
    return Status::invalid("root update: too many parameters");
  RootPlan plan;
  for (int root = 0; root < ranks; ++root) {
    uint64_t position = 0;
    for (const RootedParameter &parameter : parameters) {
      if (parameter.root != root || parameter.count == 0)
        continue;
      plan.spans.push_back(
          {position, parameter.count, parameter.gradient, parameter.parameter, position});
      position += toGrain(parameter.count);
      if (position > kMaxElems)
        return Status::invalid("root update: root " + std::to_string(root) +
                               " has too many elements");
    }
    plan.table.first[root + 1] = static_cast<uint32_t>(plan.spans.size());
    plan.table.elems[root] = position;
  }
  return plan;
}

Result<RootPlan> planShards(uint64_t count, int ranks) {
  COLL_RETURN_IF_ERROR(checkRanks(ranks));
  if (count > kMaxElems)
    return Status::invalid("root update: too many elements");
  RootPlan plan;
  const uint64_t n = static_cast<uint64_t>(ranks);
  const uint64_t share = toGrain((count + n - 1) / n);
  for (uint32_t rank = 0; rank < n; ++rank) {
    const uint64_t begin = std::min(count, share * rank), end = std::min(count, begin + share);
    plan.table.shards[rank] = {0, end - begin, begin, begin, 0};
    plan.table.first[rank] = rank;
    plan.table.first[rank + 1] = rank + 1;
    plan.table.elems[rank] = toGrain(end - begin);
  }
  return plan;
}

namespace {

// Parameters from `begin` to `end`, of span `index` of the plan.
struct Owned {
  uint64_t begin, end;
  size_t index;
};

Status wrongSpan(size_t index, const std::string &why) {
  return Status::invalid("root update: span " + std::to_string(index) + " of the plan " + why);
}

bool isInside(uint64_t first, uint64_t count, uint64_t total) {
  return first <= total && count <= total - first;
}

// Checks the spans of one root, and adds their parameters to `owned`.
Status checkSpans(const RootPlan &plan, int root, uint64_t gradients, uint64_t parameters,
                  std::vector<Owned> &owned) {
  const RootTable &table = plan.table;
  const UpdateSpan *spans = plan.spans.empty() ? table.shards : plan.spans.data();
  uint64_t next = 0;
  for (uint32_t i = table.first[root]; i < table.first[root + 1]; ++i) {
    const UpdateSpan &span = spans[i];
    if (span.position < next || span.position % kUpdateGrain ||
        !isInside(span.position, span.count, table.elems[root]))
      return wrongSpan(i, "is not at its place in the list of root " + std::to_string(root));
    next = toGrain(span.position + span.count);
    if (!isInside(span.state, span.count, table.elems[root]))
      return wrongSpan(i, "is outside its root's state");
    if (!isInside(span.gradient, span.count, gradients) ||
        !isInside(span.parameter, span.count, parameters))
      return wrongSpan(i, "is outside " + std::to_string(gradients) + " gradients and " +
                              std::to_string(parameters) + " parameters");
    if (span.count != 0)
      owned.push_back({span.parameter, span.parameter + span.count, i});
  }
  return Status::okay();
}

} // namespace

Status checkPlan(const RootPlan &plan, int ranks, uint64_t gradients, uint64_t parameters) {
  COLL_RETURN_IF_ERROR(checkRanks(ranks));
  const size_t most = plan.spans.empty() ? kMaxPeers : plan.spans.size();
  const uint32_t *first = plan.table.first;
  if (first[0] != 0 || !std::is_sorted(first, first + ranks + 1) || first[ranks] > most)
    return Status::invalid("root update: the plan's spans are not those of " +
                           std::to_string(ranks) + " roots, in order");
  std::vector<Owned> owned;
  for (int root = 0; root < ranks; ++root)
    COLL_RETURN_IF_ERROR(checkSpans(plan, root, gradients, parameters, owned));
  std::sort(owned.begin(), owned.end(),
            [](const Owned &a, const Owned &b) { return a.begin < b.begin; });
  for (size_t i = 1; i < owned.size(); ++i)
    if (owned[i].begin < owned[i - 1].end)
      return wrongSpan(owned[i].index,
                       "has parameters of span " + std::to_string(owned[i - 1].index));
  return Status::okay();
}

std::vector<int> balanceRoots(const std::vector<uint64_t> &counts, int ranks) {
  std::vector<size_t> order(counts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return counts[a] > counts[b]; });
  std::vector<uint64_t> load(static_cast<size_t>(ranks));
  std::vector<int> roots(counts.size());
  for (size_t index : order) {
    const auto least = std::min_element(load.begin(), load.end());
    roots[index] = static_cast<int>(least - load.begin());
    *least += counts[index];
  }
  return roots;
}

} // namespace coll::kernels
