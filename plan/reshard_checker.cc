// Checks certificates from the positions of blocks alone, without the planner's code.

#include "plan/rank_places.h"
#include "plan/reshard_certificate.h"

#include <algorithm>
#include <unordered_set>

namespace coll::plan {

namespace {

class Checker : RankPlaces {
public:
  explicit Checker(const ReshardCertificate &certificate)
      : RankPlaces(certificate.mesh), certificate_(certificate) {}

  std::string check() {
    const Reshard &reshard = certificate_.reshard;
    if (const std::string wrong = checkShape(reshard.from); !wrong.empty())
      return "source: " + wrong;
    if (const std::string wrong = checkShape(reshard.to); !wrong.empty())
      return "target: " + wrong;
    const Layout *before = &reshard.from;
    for (size_t i = 0; i < certificate_.steps.size(); ++i) {
      const Move &step = certificate_.steps[i];
      if (const std::string wrong = checkStep(step, *before); !wrong.empty())
        return "step " + std::to_string(i) + ": " + wrong;
      before = &step.result;
    }
    if (!(*before == reshard.to))
      return "the last step does not give the target";
    return checkTotals();
  }

private:
  // Axes exist and occur once, blocks cover their dimension.
  std::string checkShape(const Layout &layout) const {
    const std::vector<int64_t> &shape = certificate_.reshard.shape;
    std::vector<int> uses(certificate_.mesh.axes.size());
    bool exist = layout.dims.size() == shape.size();
    auto use = [&](const std::vector<int> &axes) {
      for (int axis : axes)
        if (axis < 0 || static_cast<size_t>(axis) >= uses.size())
          exist = false;
        else
          ++uses[static_cast<size_t>(axis)];
    };
    for (const Split &split : layout.dims)
      use(split.axes);
    use(layout.partial);
    if (!exist || std::any_of(uses.begin(), uses.end(), [](int count) { return count > 1; }))
      return "is not a layout of the tensor";
    for (size_t d = 0; d < shape.size(); ++d) {
      const Split &split = layout.dims[d];
      if (split.axes.empty() ? split.block != shape[d]
                             : split.block < 0 || split.block * groupSize(split.axes) < shape[d])
        return "blocks do not cover dimension " + std::to_string(d);
    }
    return {};
  }

  bool isIn(const Layout &layout, int axis) const {
    return contains(layout.partial, axis) ||
           std::any_of(layout.dims.begin(), layout.dims.end(),
                       [&](const Split &split) { return contains(split.axes, axis); });
  }

  std::string checkStep(const Move &step, const Layout &before) const {
    if (const std::string wrong = checkShape(step.result); !wrong.empty())
      return wrong;
    if (step.axes.empty())
      return "is over no axis";
    if ((step.kind == MoveKind::Permute) == step.pairs.empty() ||
        (step.kind == MoveKind::Route) == (step.rounds.empty() && step.sums.empty()))
      return "has pairs or rounds of another kind of step";
    for (int axis : step.axes)
      if (axis < 0 || static_cast<size_t>(axis) >= certificate_.mesh.axes.size() ||
          std::count(step.axes.begin(), step.axes.end(), axis) != 1)
        return "is over axes that do not form a group";
    const auto dims = static_cast<int>(before.dims.size());
    const bool splits = step.kind == MoveKind::Slice || step.kind == MoveKind::AllToAll ||
                        step.kind == MoveKind::ReduceScatter;
    const bool joins = step.kind == MoveKind::AllGather || step.kind == MoveKind::AllToAll;
    const bool mayJoin = joins || step.kind == MoveKind::MakePartial;
    if ((splits ? step.split < 0 : step.split != -1) || step.split >= dims ||
        (joins ? step.join < 0 : !mayJoin && step.join != -1) || step.join < -1 ||
        step.join >= dims || (step.join >= 0 && step.join == step.split))
      return "names the wrong dimensions";
    if (const std::string wrong = checkPartial(step, before); !wrong.empty())
      return wrong;
    if (const std::string wrong = step.kind == MoveKind::Permute ? checkPermute(step, before)
                                  : step.kind == MoveKind::Route
                                      ? checkRoute(*this, certificate_.reshard.shape, step, before)
                                      : checkPlaces(step, before);
        !wrong.empty())
      return wrong;
    const int64_t bytes = bytesOfStep(step, before);
    if (bytes != step.wireBytes)
      return "sends " + std::to_string(bytes) + " bytes, not " + std::to_string(step.wireBytes);
    return {};
  }

  // The step adds or removes its own axes as partial axes, and only a reduction removes them.
  std::string checkPartial(const Move &step, const Layout &before) const {
    const bool reduces = step.kind == MoveKind::ReduceScatter || step.kind == MoveKind::AllReduce;
    std::vector<int> partial = before.partial;
    if (step.kind == MoveKind::Route)
      return checkPartialOfRoute(step, before);
    for (int axis : step.axes) {
      if (reduces && !contains(before.partial, axis))
        return "reduces over an axis over which nothing is partial";
      if (!reduces && contains(before.partial, axis))
        return "is over an axis over which the value is partial";
      if (reduces)
        partial.erase(std::find(partial.begin(), partial.end(), axis));
      if (step.kind == MoveKind::MakePartial)
        partial.push_back(axis);
      // Ranks of a group have the same part before it is sliced or contributed.
      const bool needsCopies =
          step.kind == MoveKind::Slice || (step.kind == MoveKind::MakePartial && step.join < 0);
      if (needsCopies && isIn(before, axis))
        return "is over an axis that is in use";
    }
    std::sort(partial.begin(), partial.end());
    return partial == step.result.partial ? "" : "ends partial over the wrong axes";
  }

  // A route combines along those of its axes over which the value is no longer partial.
  static std::string checkPartialOfRoute(const Move &step, const Layout &before) {
    std::vector<int> left;
    for (int axis : before.partial)
      if (contains(step.result.partial, axis) || !contains(step.axes, axis))
        left.push_back(axis);
    for (int axis : step.result.partial)
      if (contains(step.axes, axis))
        return "is over an axis over which the value is partial";
    return left == step.result.partial ? "" : "ends partial over the wrong axes";
  }

  std::string checkPlaces(const Move &step, const Layout &before) const {
    const int64_t n = groupSize(step.axes);
    for (size_t rank = 0; rank < coordinates_.size(); ++rank)
      for (size_t d = 0; d < before.dims.size(); ++d) {
        const Range have = placeOf(rank, before.dims[d]), get = placeOf(rank, step.result.dims[d]);
        const int64_t mine = positionOf(rank, step.axes);
        bool fits = have.begin == get.begin && have.length == get.length;
        if (static_cast<int>(d) == step.split) {
          const bool wasWhole = before.dims[d].axes.empty();
          fits = get.begin == have.begin + mine * get.length &&
                 (wasWhole ? have.length <= n * get.length : have.length == n * get.length);
        } else if (static_cast<int>(d) == step.join) {
          const bool isWhole = step.result.dims[d].axes.empty();
          fits = have.begin == get.begin + mine * have.length &&
                 (isWhole ? get.length <= n * have.length : get.length == n * have.length);
        }
        if (!fits)
          return "rank " + std::to_string(rank) + " has " + textOf(have) + " of dimension " +
                 std::to_string(d) + ", and cannot get " + textOf(get);
      }
    return {};
  }

  std::string checkPermute(const Move &step, const Layout &before) const {
    const int64_t n = groupSize(step.axes);
    std::vector<int64_t> sourceOf(static_cast<size_t>(n), -1), uses(static_cast<size_t>(n));
    if (step.pairs.size() != 2 * static_cast<size_t>(n))
      return "does not pair all positions";
    for (size_t i = 0; i < step.pairs.size(); i += 2) {
      const int64_t source = step.pairs[i], target = step.pairs[i + 1];
      if (source < 0 || source >= n || target < 0 || target >= n ||
          ++uses[static_cast<size_t>(source)] > 1 || sourceOf[static_cast<size_t>(target)] >= 0)
        return "pairs a position twice";
      sourceOf[static_cast<size_t>(target)] = source;
    }
    for (size_t rank = 0; rank < coordinates_.size(); ++rank) {
      const int64_t mine = positionOf(rank, step.axes);
      const size_t source = peerOf(rank, step.axes, sourceOf[static_cast<size_t>(mine)]);
      for (size_t d = 0; d < before.dims.size(); ++d) {
        const Range have = placeOf(source, before.dims[d]);
        const Range get = placeOf(rank, step.result.dims[d]);
        if (have.begin != get.begin || have.length != get.length)
          return "rank " + std::to_string(rank) + " receives " + textOf(have) + " of dimension " +
                 std::to_string(d) + " for " + textOf(get);
      }
    }
    return {};
  }

  static std::string textOf(Range place) {
    return std::to_string(place.length) + " elements from " + std::to_string(place.begin);
  }

  int64_t volumeOf(const Layout &layout) const {
    int64_t elems = certificate_.reshard.elemBytes;
    for (const Split &split : layout.dims)
      elems *= split.block;
    return elems;
  }

  // Adds up what each rank receives from others.
  int64_t bytesOfStep(const Move &step, const Layout &before) const {
    const int64_t n = groupSize(step.axes), ranks = static_cast<int64_t>(coordinates_.size());
    const int64_t after = volumeOf(step.result);
    switch (step.kind) {
    case MoveKind::Slice:
    case MoveKind::MakePartial:
      return 0;
    case MoveKind::AllGather:
      return ranks * (n - 1) * volumeOf(before);
    case MoveKind::ReduceScatter:
      return ranks * (n - 1) * after;
    case MoveKind::AllReduce: // scattered, and gathered: each of n blocks of a group n - 1 times
      return ranks / n * 2 * (n - 1) * after;
    case MoveKind::AllToAll: {
      // A block of each peer, with the padding that splitting adds and without what joining drops.
      int64_t piece = volumeOf(before) /
                      std::max<int64_t>(1, before.dims[static_cast<size_t>(step.split)].block);
      piece *= step.result.dims[static_cast<size_t>(step.split)].block;
      return ranks * (n - 1) * piece;
    }
    case MoveKind::Permute: {
      int64_t moved = 0;
      for (size_t i = 0; i + 1 < step.pairs.size(); i += 2)
        moved += step.pairs[i] != step.pairs[i + 1];
      return ranks / n * moved * after;
    }
    case MoveKind::Route:
      return ranks / n * sentByRoute(step) * certificate_.reshard.elemBytes;
    }
    return -1;
  }

  bool hasPadding(const Layout &layout) const {
    for (size_t d = 0; d < layout.dims.size(); ++d)
      if (layout.dims[d].block * groupSize(layout.dims[d].axes) != certificate_.reshard.shape[d])
        return true;
    return false;
  }

  // The same without padding: bytes of elements of the tensor.
  int64_t validBytesOfStep(const Move &step, const Layout &before) const {
    // The pieces of a route are inside the tensor.
    if (step.kind == MoveKind::Route || (!hasPadding(before) && !hasPadding(step.result)))
      return step.wireBytes;
    const int64_t n = groupSize(step.axes);
    int64_t elems = 0;
    for (size_t rank = 0; rank < coordinates_.size(); ++rank) {
      const int64_t after = common(rank, step.result, step.result);
      switch (step.kind) {
      case MoveKind::Slice:
      case MoveKind::MakePartial:
      case MoveKind::Route:
        break;
      case MoveKind::AllGather:
      case MoveKind::AllToAll:
        elems += after - common(rank, before, step.result);
        break;
      case MoveKind::ReduceScatter:
        elems += (n - 1) * after;
        break;
      case MoveKind::AllReduce:
        elems += 2 * (n - 1) * after;
        break;
      case MoveKind::Permute:
        for (size_t i = 0; i + 1 < step.pairs.size(); i += 2)
          if (step.pairs[i + 1] == positionOf(rank, step.axes) &&
              step.pairs[i] != step.pairs[i + 1])
            elems += after;
        break;
      }
    }
    return (step.kind == MoveKind::AllReduce ? elems / n : elems) * certificate_.reshard.elemBytes;
  }

  std::string checkTotals() const {
    int64_t bytes = 0, valid = 0;
    std::vector<ReshardCertificate::Link> links;
    const Layout *before = &certificate_.reshard.from;
    for (const Move &step : certificate_.steps) {
      bytes += step.wireBytes;
      valid += validBytesOfStep(step, *before);
      before = &step.result;
      if (step.wireBytes == 0)
        continue;
      auto same = std::find_if(links.begin(), links.end(),
                               [&](const auto &link) { return link.axes == step.axes; });
      if (same == links.end())
        links.push_back({step.axes, step.wireBytes});
      else
        same->bytes += step.wireBytes;
    }
    if (bytes != certificate_.wireBytes)
      return "the steps send " + std::to_string(bytes) + " bytes, not " +
             std::to_string(certificate_.wireBytes);
    if (bytes - valid != certificate_.paddingBytes)
      return "the steps send " + std::to_string(bytes - valid) + " bytes of padding, not " +
             std::to_string(certificate_.paddingBytes);
    const bool same = std::equal(
        links.begin(), links.end(), certificate_.links.begin(), certificate_.links.end(),
        [](const auto &a, const auto &b) { return a.axes == b.axes && a.bytes == b.bytes; });
    if (!same)
      return "the links do not carry what the steps send";
    const int64_t least = leastBytes();
    if (least != certificate_.leastBytes)
      return "every plan sends " + std::to_string(least) + " bytes, not " +
             std::to_string(certificate_.leastBytes);
    if (bytes < least)
      return "the steps send less than every plan";
    if ((bytes > least) == certificate_.reason.empty())
      return bytes > least ? "no reason is given for bytes above the bound"
                           : "a reason is given for bytes at the bound";
    return {};
  }

  // Valid elements that a rank has in both layouts.
  int64_t common(size_t rank, const Layout &a, const Layout &b) const {
    int64_t elems = 1;
    for (size_t d = 0; d < a.dims.size(); ++d) {
      const Range x = placeOf(rank, a.dims[d]), y = placeOf(rank, b.dims[d]);
      const int64_t end =
          std::min({x.begin + x.length, y.begin + y.length, certificate_.reshard.shape[d]});
      elems *= std::max<int64_t>(0, end - std::max(x.begin, y.begin));
    }
    return elems;
  }

  // reshard_bound.h, counted rank by rank.
  int64_t leastBytes() const {
    const Layout &from = certificate_.reshard.from, &to = certificate_.reshard.to;
    int64_t combined = 1, kept = 1, sharers = 1, copies = 1;
    for (size_t i = 0; i < certificate_.mesh.axes.size(); ++i) {
      const auto axis = static_cast<int>(i);
      const int64_t size = certificate_.mesh.axes[i].size;
      const bool was = contains(from.partial, axis), is = contains(to.partial, axis);
      combined *= was && !is ? size : 1;
      kept *= was && is ? size : 1;
      sharers *= is && !was ? size : 1;
      copies *= is && !was && !isIn(from, axis) ? size : 1;
    }
    int64_t wanted = 0, held = 0;
    for (size_t rank = 0; rank < coordinates_.size(); ++rank) {
      wanted += common(rank, to, to);
      held += common(rank, from, to);
    }
    int64_t elems = wanted / sharers - held / copies;
    if (combined > 1) {
      elems = wanted / sharers - metByTargets();
      int64_t all = kept;
      for (int64_t extent : certificate_.reshard.shape)
        all *= extent;
      elems += all * (combined - 1);
    }
    return elems * certificate_.reshard.elemBytes;
  }

  // Elements to which a rank that wants the sum holds a contribution.
  int64_t metByTargets() const {
    const Layout &from = certificate_.reshard.from, &to = certificate_.reshard.to;
    std::vector<int> kept;
    for (int axis : from.partial)
      if (contains(to.partial, axis))
        kept.push_back(axis);
    std::unordered_set<int64_t> known; // what a rank holds and wants, as digits of one number
    int64_t elems = 0;
    for (size_t rank = 0; rank < coordinates_.size(); ++rank) {
      int64_t number = 0;
      auto append = [&](const std::vector<int> &axes) {
        number = number * groupSize(axes) + positionOf(rank, axes);
      };
      for (size_t d = 0; d < to.dims.size(); ++d) {
        append(from.dims[d].axes);
        append(to.dims[d].axes);
      }
      append(kept);
      if (known.insert(number).second)
        elems += common(rank, from, to);
    }
    return elems;
  }

  const ReshardCertificate &certificate_;
};

} // namespace

std::string checkCertificate(const ReshardCertificate &certificate) {
  return Checker(certificate).check();
}

} // namespace coll::plan
