#include "plan/reshard.h"

#include "plan/reshard_certificate.h"

#include <algorithm>

namespace coll::plan {

namespace {

void append(std::vector<int64_t> &key, const Layout &layout) {
  for (const Split &split : layout.dims) {
    key.push_back(split.block);
    key.push_back(static_cast<int64_t>(split.axes.size()));
    key.insert(key.end(), split.axes.begin(), split.axes.end());
  }
  key.push_back(static_cast<int64_t>(layout.partial.size()));
  key.insert(key.end(), layout.partial.begin(), layout.partial.end());
}

std::vector<int64_t> keyOf(const Reshard &reshard) {
  std::vector<int64_t> key = {static_cast<int64_t>(reshard.shape.size())};
  key.insert(key.end(), reshard.shape.begin(), reshard.shape.end());
  key.push_back(reshard.elemBytes);
  append(key, reshard.from);
  append(key, reshard.to);
  return key;
}

// No move sends more; INT64_MAX where that cannot be counted.
int64_t mostBytes(const Mesh &mesh, const Reshard &reshard) {
  int64_t bytes = saturatingProduct(2 * reshard.elemBytes, mesh.numRanks());
  for (size_t d = 0; d < reshard.shape.size(); ++d) {
    int64_t extent = std::max<int64_t>(reshard.shape[d], 1);
    for (const Layout *layout : {&reshard.from, &reshard.to})
      extent = std::max(
          extent, saturatingProduct(layout->dims[d].block, mesh.sizeOf(layout->dims[d].axes)));
    bytes = saturatingProduct(bytes, extent);
  }
  return bytes;
}

} // namespace

const MovePlan &ReshardPlanner::planned(const Reshard &reshard) {
  auto [entry, isNew] = plans_.try_emplace(keyOf(reshard));
  if (!isNew)
    return entry->second;
  MovePlan &plan = entry->second;
  plan = searchMoves(mesh_, reshard, cost_);
  if (mesh_.numRanks() <= kMostCheckedRanks && mostBytes(mesh_, reshard) < INT64_MAX)
    plan.fault = checkCertificate(certify(mesh_, reshard, plan));
  return plan;
}

Result<MovePlan> ReshardPlanner::plan(const std::vector<int64_t> &shape, int64_t elemBytes,
                                      const Layout &from, const Layout &to) {
  const Result<Layout> source = checkLayout(mesh_, shape, from);
  if (!source)
    return Error{"source: " + source.error()};
  const Result<Layout> target = checkLayout(mesh_, shape, to);
  if (!target)
    return Error{"target: " + target.error()};
  const MovePlan &plan = planned({shape, elemBytes, *source, *target});
  if (!plan.fault.empty())
    return Error{"the plan is wrong: " + plan.fault};
  return plan;
}

Result<TargetsPlan> ReshardPlanner::planTargets(const std::vector<int64_t> &shape,
                                                int64_t elemBytes, const Layout &from,
                                                const std::vector<Layout> &targets) {
  const Result<Layout> source = checkLayout(mesh_, shape, from);
  if (!source)
    return Error{"source: " + source.error()};
  std::vector<Layout> wanted, bases = {*source};
  for (size_t i = 0; i < targets.size(); ++i) {
    const Result<Layout> target = checkLayout(mesh_, shape, targets[i]);
    if (!target)
      return Error{"target " + std::to_string(i) + ": " + target.error()};
    wanted.push_back(*target);
    // All layouts that the targets' own plans pass through can be a base.
    for (const Move &move : planned({shape, elemBytes, *source, *target}).moves)
      if (std::find(bases.begin(), bases.end(), move.result) == bases.end())
        bases.push_back(move.result);
  }
  auto costFrom = [&](const Layout &base) {
    double cost = planned({shape, elemBytes, *source, base}).cost;
    for (const Layout &target : wanted)
      cost += planned({shape, elemBytes, base, target}).cost;
    return cost;
  };
  TargetsPlan best;
  for (const Layout &base : bases) {
    const double cost = costFrom(base);
    if (&base != &bases.front() && cost >= best.cost)
      continue;
    best.base = base;
    best.cost = cost;
  }
  best.toBase = planned({shape, elemBytes, *source, best.base});
  for (const Layout &target : wanted)
    best.toTargets.push_back(planned({shape, elemBytes, best.base, target}));
  for (const MovePlan &plan : best.toTargets)
    if (const std::string &fault = plan.fault.empty() ? best.toBase.fault : plan.fault;
        !fault.empty())
      return Error{"the plan is wrong: " + fault};
  return best;
}

} // namespace coll::plan
