// The moves out of a state (Space::expand).

#include "plan/reshard_space.h"

#include <algorithm>

namespace coll::plan {

void Space::append(State &state, const Lists &lists, size_t dim, const AxisList &axes,
                   size_t pad) const {
  size_t position = lists.dims[dim].count;
  for (uint8_t axis : axes)
    state.places[axis] = placeAt(dim, position++);
  state.pads = (state.pads & ~(3u << (2 * dim))) | static_cast<uint32_t>(pad) << (2 * dim);
}

void Space::dropSuffix(State &state, const Lists &lists, size_t dim, size_t count,
                       Place place) const {
  const AxisList &list = lists.dims[dim];
  for (size_t i = list.count - count; i < list.count; ++i)
    state.places[list.axes[i]] = place;
  if (count == list.count)
    state.pads &= ~(3u << (2 * dim));
}

template <typename F>
void Space::eachSplit(const State &state, const Lists &lists, size_t dim, int64_t n,
                      F visit) const {
  if (lists.dims[dim].count || dims_[dim].prefixShards > 1) {
    if (lists.block[dim] % n == 0)
      visit(padOf(state, dim), lists.block[dim]);
    return;
  }
  for (size_t pad = 0; pad < dims_[dim].pads.size(); ++pad)
    if (dims_[dim].pads[pad] % n == 0)
      visit(pad, dims_[dim].pads[pad]);
}

void Space::expand(const State &state, bool permutes,
                   const std::function<void(const Step &)> &visit) {
  const Lists lists = decode(state);
  expandSplits(state, lists, visit);
  expandJoins(state, lists, visit);
  expandReductions(state, lists, visit);
  if (permutes)
    expandPermutes(state, lists, visit);
}

// Steps that cost nothing: an unused axis that the target uses splits any dimension, so that less
// is moved afterwards, or makes the value partial.
void Space::expandSplits(const State &state, const Lists &lists,
                         const std::function<void(const Step &)> &visit) const {
  for (size_t axis = 0; axis < axes_.size(); ++axis) {
    const Place goal = target_.places[axis];
    if (state.places[axis] != kUnused || goal == kUnused)
      continue;
    Step step;
    step.axes.push(axis);
    step.to = state;
    if (goal == kContributing) {
      step.kind = MoveKind::MakePartial;
      step.to.places[axis] = kContributing;
      visit(step);
      continue;
    }
    step.kind = MoveKind::Slice;
    for (size_t dim = 0; dim < dims_.size(); ++dim) {
      step.split = static_cast<int>(dim);
      eachSplit(state, lists, dim, sizes_[axis], [&](size_t pad, int64_t) {
        step.to = state;
        append(step.to, lists, dim, step.axes, pad);
        visit(step);
      });
    }
  }
}

// The minor axes of a dimension leave it: by a gather, by splitting another dimension, or by
// becoming partial.
void Space::expandJoins(const State &state, const Lists &lists,
                        const std::function<void(const Step &)> &visit) const {
  for (size_t from = 0; from < dims_.size(); ++from) {
    const AxisList &list = lists.dims[from];
    for (size_t count = 1; count <= list.count; ++count) {
      Step step;
      for (size_t i = list.count - count; i < list.count; ++i)
        step.axes.push(list.axes[i]);
      step.join = static_cast<int>(from);
      step.localBytes = saturatingProduct(lists.elems, reshard_.elemBytes);
      State left = state;
      dropSuffix(left, lists, from, count, kUnused);
      step.kind = MoveKind::AllGather;
      step.to = left;
      visit(step);
      if (std::all_of(step.axes.begin(), step.axes.end(),
                      [&](uint8_t axis) { return target_.places[axis] == kContributing; })) {
        Step contribute = step;
        contribute.kind = MoveKind::MakePartial;
        dropSuffix(contribute.to, lists, from, count, kContributing);
        visit(contribute);
      }
      const int64_t n = sizeOf(step.axes);
      for (size_t to = 0; to < dims_.size(); ++to) {
        if (to == from)
          continue;
        eachSplit(state, lists, to, n, [&](size_t pad, int64_t whole) {
          Step exchange = step;
          exchange.kind = MoveKind::AllToAll;
          exchange.split = static_cast<int>(to);
          exchange.to = left;
          append(exchange.to, lists, to, step.axes, pad);
          exchange.localBytes = lists.block[to] == 0
                                    ? 0
                                    : saturatingProduct(step.localBytes / lists.block[to], whole);
          visit(exchange);
        });
      }
    }
  }
}

// Returns the axes whose bit is set in `chosen`, in the order in which the target has them.
AxisList Space::inTargetOrder(const AxisList &axes, unsigned chosen) const {
  AxisList ordered;
  for (size_t i = 0; i < axes.count; ++i) {
    if (!(chosen >> i & 1))
      continue;
    size_t at = ordered.count;
    ordered.push(axes.axes[i]);
    for (; at > 0 && target_.places[ordered.axes[at - 1]] > target_.places[ordered.axes[at]]; --at)
      std::swap(ordered.axes[at - 1], ordered.axes[at]);
  }
  return ordered;
}

// Contributions over any of the pending axes are combined, and scattered over a dimension that the
// target splits by them.
void Space::expandReductions(const State &state, const Lists &lists,
                             const std::function<void(const Step &)> &visit) const {
  AxisList pending;
  for (size_t axis = 0; axis < axes_.size(); ++axis)
    if (state.places[axis] == kPending)
      pending.push(axis);
  const int64_t localBytes = saturatingProduct(lists.elems, reshard_.elemBytes);
  for (unsigned chosen = 1; chosen < (1u << pending.count); ++chosen) {
    Step step;
    step.axes = inTargetOrder(pending, chosen);
    step.kind = MoveKind::AllReduce;
    step.localBytes = localBytes;
    step.to = state;
    for (uint8_t axis : step.axes)
      step.to.places[axis] = kUnused;
    visit(step);
    if (!anySplit_ && std::any_of(step.axes.begin(), step.axes.end(),
                                  [&](uint8_t axis) { return !isInDim(target_.places[axis]); }))
      continue;
    const int64_t n = sizeOf(step.axes);
    for (size_t dim = 0; dim < dims_.size(); ++dim)
      eachSplit(state, lists, dim, n, [&](size_t pad, int64_t whole) {
        Step scatter = step;
        scatter.kind = MoveKind::ReduceScatter;
        scatter.split = static_cast<int>(dim);
        scatter.localBytes =
            lists.block[dim] == 0 ? 0 : saturatingProduct(localBytes / lists.block[dim], whole);
        append(scatter.to, lists, dim, step.axes, pad);
        visit(scatter);
      });
  }
}

// Every other arrangement of axes that gives each dimension as many blocks as it has, and in which
// the axes of a dimension are first a prefix of the target's, then axes that the target has in
// other dimensions: no other arrangement comes nearer to the target.
void Space::expandPermutes(const State &state, const Lists &lists,
                           const std::function<void(const Step &)> &visit) const {
  Step step;
  step.kind = MoveKind::Permute;
  step.localBytes = saturatingProduct(lists.elems, reshard_.elemBytes);
  step.to = state;
  for (size_t axis = 0; axis < axes_.size(); ++axis)
    if (isInDim(state.places[axis]))
      step.to.places[axis] = kUnused;
  // `settled`: the axes of `dim` so far are those of the target.
  std::function<void(size_t, size_t, int64_t, bool)> fill = [&](size_t dim, size_t position,
                                                                int64_t missing, bool settled) {
    if (missing == 1) {
      if (dim + 1 < dims_.size())
        fill(dim + 1, 0, sizeOf(lists.dims[dim + 1]), true);
      else if (!(step.to == state))
        visit(step);
      return;
    }
    for (size_t axis = 0; axis < axes_.size(); ++axis) {
      if (step.to.places[axis] != kUnused || missing % sizes_[axis] != 0)
        continue;
      const Place goal = target_.places[axis], here = placeAt(dim, position);
      const bool isElsewhere = !isInDim(goal) || dimOf(goal) != dim;
      if (!(settled && goal == here) && !isElsewhere)
        continue;
      step.to.places[axis] = here;
      fill(dim, position + 1, missing / sizes_[axis], settled && goal == here);
      step.to.places[axis] = kUnused;
    }
  };
  if (!dims_.empty())
    fill(0, 0, sizeOf(lists.dims[0]), true);
}

} // namespace coll::plan
