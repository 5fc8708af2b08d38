#include "test/plan/simulator.h"

#include <algorithm>
#include <numeric>

namespace coll::plan::test {

int64_t below(Random &random, int64_t bound) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(bound));
}

Mesh meshOf(const std::vector<int64_t> &sizes) {
  Mesh mesh;
  for (size_t i = 0; i < sizes.size(); ++i)
    mesh.axes.push_back({std::string(1, static_cast<char>('a' + i)), sizes[i]});
  return mesh;
}

Layout randomLayout(Random &random, const Mesh &mesh, const std::vector<int64_t> &shape) {
  Layout layout = replicated(shape);
  std::vector<int> axes(mesh.axes.size());
  std::iota(axes.begin(), axes.end(), 0);
  std::shuffle(axes.begin(), axes.end(), random);
  for (int axis : axes) {
    const int64_t choice = below(random, 8);
    if (choice == 0)
      layout.partial.push_back(axis);
    else if (choice < 7 && !shape.empty())
      layout.dims[static_cast<size_t>(below(random, static_cast<int64_t>(shape.size())))]
          .axes.push_back(axis);
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    Split &split = layout.dims[d];
    if (split.axes.empty())
      continue;
    // Sometimes blocks consist of whole units.
    const int64_t unit = below(random, 6) == 0 ? 1 + below(random, 3) : 1;
    split = splitOver(mesh, split.axes, (shape[d] + unit - 1) / unit);
    split.block *= unit;
  }
  return layout;
}

ReshardCase randomCase(Random &random, int axes) {
  ReshardCase result;
  std::vector<int64_t> sizes(static_cast<size_t>(1 + below(random, axes)));
  for (int64_t &size : sizes)
    size = std::vector<int64_t>{1, 2, 2, 2, 3, 4}[static_cast<size_t>(below(random, 6))];
  result.mesh = meshOf(sizes);
  std::vector<int64_t> shape(static_cast<size_t>(below(random, 4)));
  for (int64_t &extent : shape)
    extent = std::vector<int64_t>{0, 1, 7, 12, 24, 4, 8, 16, 30}[static_cast<size_t>(
        below(random, 20) == 0 ? 0 : 1 + below(random, 8))];
  result.reshard.shape = shape;
  result.reshard.elemBytes = 4;
  result.reshard.from = canonical(result.mesh, shape, randomLayout(random, result.mesh, shape));
  result.reshard.to = canonical(result.mesh, shape, randomLayout(random, result.mesh, shape));
  return result;
}

std::string describe(const ReshardCase &reshard) {
  std::string text = "mesh";
  for (const Mesh::Axis &axis : reshard.mesh.axes)
    text += " " + axis.name + "=" + std::to_string(axis.size);
  text += ", shape";
  for (int64_t extent : reshard.reshard.shape)
    text += " " + std::to_string(extent);
  return text + ", " + plan::describe(reshard.mesh, reshard.reshard.from) + " -> " +
         plan::describe(reshard.mesh, reshard.reshard.to);
}

namespace {

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<int64_t> data;
};

int64_t volumeOf(const std::vector<int64_t> &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

Tensor filled(std::vector<int64_t> shape, int64_t value) {
  Tensor tensor{std::move(shape), {}};
  tensor.data.assign(static_cast<size_t>(volumeOf(tensor.shape)), value);
  return tensor;
}

// Calls visit(index) for all indices of a shape, row-major.
template <typename F>
void eachIndex(const std::vector<int64_t> &shape, F visit) {
  std::vector<int64_t> index(shape.size());
  for (int64_t left = volumeOf(shape); left > 0; --left) {
    visit(index);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

int64_t &at(Tensor &tensor, const std::vector<int64_t> &index) {
  int64_t offset = 0;
  for (size_t d = 0; d < index.size(); ++d)
    offset = offset * tensor.shape[d] + index[d];
  return tensor.data[static_cast<size_t>(offset)];
}

// Copies all of `source` so that its index `begin` along `dim` becomes index 0 of the target, as
// far as both extend.
void place(Tensor &source, Tensor &target, size_t dim, int64_t begin) {
  eachIndex(source.shape, [&](std::vector<int64_t> index) {
    const int64_t value = at(source, index);
    index[dim] -= begin;
    if (index[dim] >= 0 && index[dim] < target.shape[dim])
      at(target, index) = value;
  });
}

constexpr int64_t kJunk = 1'000'000'007;

class Simulator {
public:
  Simulator(const ReshardCase &reshard, Random &random)
      : mesh_(reshard.mesh), shape_(reshard.reshard.shape), layout_(reshard.reshard.from),
        elemBytes_(reshard.reshard.elemBytes) {
    value_ = filled(shape_, 0);
    for (int64_t &element : value_.data)
      element = below(random, 1000);
    // Contributions are random, except for the last coordinate, which completes the sum.
    const int64_t parts = mesh_.sizeOf(layout_.partial);
    std::vector<Tensor> contributions(static_cast<size_t>(parts), value_);
    for (size_t part = 0; part + 1 < contributions.size(); ++part)
      for (size_t i = 0; i < value_.data.size(); ++i) {
        contributions[part].data[i] = below(random, 1000);
        contributions.back().data[i] -= contributions[part].data[i];
      }
    for (int64_t rank = 0; rank < mesh_.numRanks(); ++rank)
      locals_.push_back(
          blockOf(contributions[static_cast<size_t>(position(rank, layout_.partial))], rank));
  }

  std::string run(const Move &move) {
    const int64_t n = mesh_.sizeOf(move.axes);
    const Layout before = layout_;
    layout_ = move.result;
    std::vector<Tensor> results(locals_.size());
    for (int64_t rank = 0; rank < mesh_.numRanks(); ++rank) {
      const std::vector<int64_t> group = groupOf(rank, move.axes);
      Tensor &result = results[static_cast<size_t>(rank)];
      result = filled(localShape(), kJunk);
      if (std::string error = one(move, before, rank, group, n, result); !error.empty())
        return plan::describe(mesh_, move) + ": " + error;
    }
    locals_ = std::move(results);
    return {};
  }

  std::string compare(const Layout &target) {
    if (layout_ != target)
      return "ends as " + plan::describe(mesh_, layout_);
    for (int64_t rank = 0; rank < mesh_.numRanks(); ++rank) {
      Tensor wanted = blockOf(value_, rank), sum = filled(localShape(), 0);
      for (int64_t peer : groupOf(rank, layout_.partial))
        for (size_t i = 0; i < sum.data.size(); ++i)
          sum.data[i] += locals_[static_cast<size_t>(peer)].data[i];
      for (size_t i = 0; i < sum.data.size(); ++i)
        if (wanted.data[i] != kJunk && sum.data[i] != wanted.data[i])
          return "rank " + std::to_string(rank) + ", element " + std::to_string(i) + ": " +
                 std::to_string(sum.data[i]) + " for " + std::to_string(wanted.data[i]);
    }
    return {};
  }

  int64_t wireBytes = 0;

private:
  std::vector<int64_t> localShape() const {
    std::vector<int64_t> shape;
    for (const Split &split : layout_.dims)
      shape.push_back(split.block);
    return shape;
  }

  int64_t position(int64_t rank, const std::vector<int> &axes) const {
    int64_t index = 0;
    for (int axis : axes)
      index = index * mesh_.axes[static_cast<size_t>(axis)].size + mesh_.coordinate(rank, axis);
    return index;
  }

  std::vector<int64_t> groupOf(int64_t rank, const std::vector<int> &axes) const {
    std::vector<int64_t> group(static_cast<size_t>(mesh_.sizeOf(axes)));
    for (int64_t peer = 0; peer < mesh_.numRanks(); ++peer) {
      bool isPeer = true;
      for (size_t axis = 0; axis < mesh_.axes.size(); ++axis)
        if (std::find(axes.begin(), axes.end(), static_cast<int>(axis)) == axes.end())
          isPeer &= mesh_.coordinate(peer, static_cast<int>(axis)) ==
                    mesh_.coordinate(rank, static_cast<int>(axis));
      if (isPeer)
        group[static_cast<size_t>(position(peer, axes))] = peer;
    }
    return group;
  }

  // Returns the rank's block of a whole tensor by the current layout, with junk as padding.
  Tensor blockOf(Tensor &whole, int64_t rank) {
    Tensor local = filled(localShape(), kJunk);
    eachIndex(local.shape, [&](const std::vector<int64_t> &index) {
      std::vector<int64_t> global = index;
      for (size_t d = 0; d < global.size(); ++d) {
        global[d] += position(rank, layout_.dims[d].axes) * layout_.dims[d].block;
        if (global[d] >= shape_[d])
          return;
      }
      at(local, index) = at(whole, global);
    });
    return local;
  }

  Tensor &local(int64_t rank) { return locals_[static_cast<size_t>(rank)]; }

  std::string one(const Move &move, const Layout &before, int64_t rank,
                  const std::vector<int64_t> &group, int64_t n, Tensor &result) {
    const int64_t mine = position(rank, move.axes);
    const auto split = static_cast<size_t>(move.split), join = static_cast<size_t>(move.join);
    const int64_t bytes = static_cast<int64_t>(result.data.size()) * elemBytes_;
    switch (move.kind) {
    case MoveKind::Slice:
      place(local(rank), result, split, mine * result.shape[split]);
      return {};
    case MoveKind::MakePartial:
      result = filled(result.shape, 0);
      if (move.join >= 0)
        place(local(rank), result, join, -mine * before.dims[join].block);
      else if (mine == 0)
        result = local(rank);
      return {};
    case MoveKind::AllGather:
      for (int64_t i = 0; i < n; ++i)
        place(local(group[static_cast<size_t>(i)]), result, join, -i * before.dims[join].block);
      // Each rank sends its block to all others.
      wireBytes += (n - 1) * static_cast<int64_t>(local(rank).data.size()) * elemBytes_;
      return {};
    case MoveKind::AllToAll:
      for (int64_t i = 0; i < n; ++i) {
        Tensor &theirs = local(group[static_cast<size_t>(i)]);
        Tensor part = filled(theirs.shape, kJunk);
        part.shape[split] = result.shape[split];
        part = filled(part.shape, kJunk);
        place(theirs, part, split, mine * part.shape[split]);
        place(part, result, join, -i * before.dims[join].block);
        wireBytes += i == mine ? 0 : static_cast<int64_t>(part.data.size()) * elemBytes_;
      }
      return {};
    case MoveKind::Permute:
      for (size_t i = 0; i + 1 < move.pairs.size(); i += 2) {
        if (move.pairs[i + 1] != mine)
          continue;
        result = local(group[static_cast<size_t>(move.pairs[i])]);
        wireBytes += move.pairs[i] == mine ? 0 : bytes;
        return {};
      }
      return "rank " + std::to_string(rank) + " receives nothing";
    case MoveKind::Route:
      return route(move, before, group, mine, result);
    case MoveKind::ReduceScatter:
    case MoveKind::AllReduce: {
      const bool scatters = move.kind == MoveKind::ReduceScatter;
      result = filled(result.shape, 0);
      for (int64_t peer : group) {
        Tensor part = filled(result.shape, kJunk);
        if (scatters)
          place(local(peer), part, split, mine * part.shape[split]);
        else
          part = local(peer);
        for (size_t i = 0; i < part.data.size(); ++i)
          result.data[i] += part.data[i];
      }
      // For each block n - 1 of n contributions are sent; an all_reduce sends the results, too.
      wireBytes += scatters ? (n - 1) * bytes : 0;
      if (!scatters && mine == 0)
        wireBytes += 2 * (n - 1) * bytes;
      return {};
    }
    }
    return "is no move";
  }

  static std::vector<int64_t> shifted(std::vector<int64_t> index,
                                      const std::vector<int64_t> &start) {
    for (size_t d = 0; d < index.size(); ++d)
      index[d] += start[d];
    return index;
  }

  // Calls visit(round, piece) for the pieces to position `target`.
  template <typename F>
  static void eachPiece(const std::vector<RouteRound> &rounds, int64_t target, F visit) {
    for (const RouteRound &round : rounds)
      for (const RoutePiece &piece : round.pieces)
        if (piece.target == target)
          visit(round, piece);
  }

  std::string route(const Move &move, const Layout &before, const std::vector<int64_t> &group,
                    int64_t mine, Tensor &result) {
    auto peer = [&](int64_t position) { return group[static_cast<size_t>(position)]; };
    auto count = [&](const RouteRound &round, const RoutePiece &piece) {
      wireBytes += piece.source == piece.target ? 0 : volumeOf(round.extent) * elemBytes_;
    };
    eachPiece(move.rounds, mine, [&](const RouteRound &round, const RoutePiece &piece) {
      count(round, piece);
      eachIndex(round.extent, [&](const std::vector<int64_t> &index) {
        at(result, shifted(index, piece.targetStart)) =
            at(local(peer(piece.source)), shifted(index, piece.sourceStart));
      });
    });
    std::vector<int> ended;
    for (int axis : before.partial)
      if (std::find(move.result.partial.begin(), move.result.partial.end(), axis) ==
          move.result.partial.end())
        ended.push_back(axis);
    for (const RoutedSum &sum : move.sums) {
      eachPiece(sum.in, mine, count);
      eachPiece(sum.out, mine, [&](const RouteRound &round, const RoutePiece &piece) {
        count(round, piece);
        eachIndex(round.extent, [&](const std::vector<int64_t> &index) {
          // The source's cell: contributions that are there, by number.
          std::vector<int64_t> contributions(static_cast<size_t>(mesh_.sizeOf(ended)), kJunk);
          eachPiece(sum.in, piece.source, [&](const RouteRound &, const RoutePiece &in) {
            if (in.targetStart[1] == piece.sourceStart[0])
              contributions[static_cast<size_t>(in.targetStart[0])] =
                  at(local(peer(in.source)), shifted(index, in.sourceStart));
          });
          at(result, shifted(index, piece.targetStart)) =
              std::accumulate(contributions.begin(), contributions.end(), int64_t{0});
        });
      });
    }
    return {};
  }

  const Mesh &mesh_;
  const std::vector<int64_t> &shape_;
  Layout layout_;
  int64_t elemBytes_;
  Tensor value_;
  std::vector<Tensor> locals_;
};

} // namespace

std::string simulate(const ReshardCase &reshard, const std::vector<Move> &moves, Random &random,
                     int64_t &wireBytes) {
  Simulator simulator(reshard, random);
  for (const Move &move : moves)
    if (std::string error = simulator.run(move); !error.empty())
      return error;
  wireBytes = simulator.wireBytes;
  return simulator.compare(reshard.reshard.to);
}

} // namespace coll::plan::test
