// reshard.cc - a tensor from one sharding to another, in host memory of this process.

#include "runtime/exchange/reshard/reshard.h"
#include "embed/c/coll_exchange.h"
#include "embed/c/structs.h"
#include "embed/c/tensor.h"
#include "runtime/base/dtype.h"

#include <numeric>
#include <set>
#include <sstream>

namespace coll::embed {
namespace {

constexpr int64_t kMaxRanks = 1024;

std::string trimmed(const std::string &text) {
  const size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, separator);)
    words.push_back(trimmed(word));
  return words;
}

Outcome readMesh(const std::string &text, std::vector<rt::MeshAxis> &axes) {
  int64_t ranks = 1;
  std::set<std::string> names;
  for (const std::string &word : split(text, ',')) {
    const size_t at = word.find('=');
    const std::string size = at == std::string::npos ? "" : word.substr(at + 1);
    if (at == 0 || size.empty() || size.size() > 4 ||
        size.find_first_not_of("0123456789") != std::string::npos || std::stoi(size) < 1)
      return invalid("mesh \"" + text + "\": expected AXIS=SIZE, as in \"dp=4,tp=2\"");
    axes.push_back({word.substr(0, at), std::stoi(size)});
    ranks *= axes.back().size;
    if (!names.insert(axes.back().name).second || ranks > kMaxRanks)
      return invalid("mesh \"" + text + "\" names an axis twice, or has more than " +
                     std::to_string(kMaxRanks) + " ranks");
  }
  return axes.empty() ? invalid("the mesh is empty: expected \"dp=4\" or the like") : nullptr;
}

Outcome readSharding(const std::string &text, const std::vector<rt::MeshAxis> &axes,
                     rt::TensorInfo &info) {
  const std::string expected = ": expected as many entries as dimensions, each an axis of the "
                               "mesh, several as \"dp+tp\", or -";
  const std::string inner = trimmed(text);
  if (inner.size() < 2 || inner.front() != '[' || inner.back() != ']')
    return invalid("sharding \"" + text + "\"" + expected);
  std::set<std::string> used;
  for (const std::string &word : split(inner.substr(1, inner.size() - 2), ',')) {
    rt::DimSharding dim;
    for (const std::string &axis : word == "-" ? std::vector<std::string>() : split(word, '+')) {
      const bool isKnown = std::any_of(axes.begin(), axes.end(),
                                       [&](const auto &each) { return each.name == axis; });
      if (!isKnown || !used.insert(axis).second)
        return invalid("sharding \"" + text + "\"" + expected);
      dim.axes.push_back(axis);
    }
    info.sharding.push_back(std::move(dim));
  }
  if (info.sharding.size() != info.shape.size())
    return invalid("sharding \"" + text + "\"" + expected);
  return nullptr;
}

// One side of the plan: the tensor's blocks on a mesh, whose rank r is rank r.
struct Side {
  std::vector<rt::MeshAxis> axes;
  rt::TensorInfo info;

  int numRanks() const {
    int64_t ranks = 1;
    for (const rt::MeshAxis &axis : axes)
      ranks *= axis.size;
    return static_cast<int>(ranks);
  }
  std::vector<rt::exchange::Shard> shards() const {
    std::vector<int> ranks(static_cast<size_t>(numRanks()));
    std::iota(ranks.begin(), ranks.end(), 0);
    return rt::exchange::shardsOf(info, axes, ranks);
  }
};

Outcome readPlacement(const coll_placement *given, const char *what, const rt::TensorInfo &tensor,
                      Side &side) {
  coll_placement placement = {};
  COLL_EMBED_TRY(readStruct(given, what, placement));
  side.info = tensor;
  COLL_EMBED_TRY(readMesh(orElse(placement.mesh, ""), side.axes));
  COLL_EMBED_TRY(readSharding(orElse(placement.sharding, ""), side.axes, side.info));
  for (const rt::BlockRange &block : rt::blocksOf(side.info, side.axes, 0))
    side.info.local.push_back(block.extent);
  return nullptr;
}

} // namespace

// A plan never changes; any thread may run it.
class Reshard {
public:
  static constexpr Kind kKind = Kind::Reshard;

  static Outcome create(Side source, Side target, std::shared_ptr<Reshard> &reshard) {
    rt::exchange::ReshardSpec spec;
    spec.dtype = source.info.dtype;
    spec.shape = source.info.shape;
    spec.senders = source.shards();
    spec.receivers = target.shards();
    rt::Result<rt::exchange::ReshardPlan> plan = rt::exchange::planReshard(spec);
    if (!plan)
      return fail(plan.status());
    reshard.reset(new Reshard(std::move(source), std::move(target), plan.take()));
    return nullptr;
  }

  coll_reshard_info describe() const {
    coll_reshard_info info = {};
    info.num_sources = plan_.senders.size();
    info.num_targets = plan_.receivers.size();
    for (const rt::exchange::Transfer &transfer : plan_.transfers)
      info.num_transfers += !transfer.isLocal;
    info.bytes = plan_.wireBytes;
    info.least_bytes = plan_.leastWireBytes;
    return info;
  }

  Outcome run(const std::vector<std::shared_ptr<Tensor>> &sources,
              std::vector<std::shared_ptr<Tensor>> &targets) const;

private:
  Reshard(Side source, Side target, rt::exchange::ReshardPlan plan)
      : source_(std::move(source)), target_(std::move(target)), plan_(std::move(plan)) {}
  Outcome checkSource(const Tensor &tensor, size_t rank) const;

  const Side source_, target_;
  const rt::exchange::ReshardPlan plan_;
};

Outcome Reshard::checkSource(const Tensor &tensor, size_t rank) const {
  if (tensor.dtype() == source_.info.dtype && tensor.shape() == source_.info.local)
    return nullptr;
  return invalid("sources[" + std::to_string(rank) + "] is " +
                 rt::typeString(tensor.dtype(), tensor.shape()) + "; a block is " +
                 rt::typeString(source_.info.dtype, source_.info.local));
}

Outcome Reshard::run(const std::vector<std::shared_ptr<Tensor>> &sources,
                     std::vector<std::shared_ptr<Tensor>> &targets) const {
  if (sources.size() != plan_.senders.size())
    return invalid("there are " + std::to_string(sources.size()) + " sources; the mesh has " +
                   std::to_string(plan_.senders.size()) + " ranks");
  std::vector<rt::HostTensor> results;
  for (size_t r = 0; r < plan_.receivers.size(); ++r) {
    rt::Result<rt::HostTensor> result =
        rt::HostTensor::zeros(target_.info.dtype, target_.info.local);
    if (!result)
      return fail(result.status());
    results.push_back(result.take());
  }
  for (size_t rank = 0; rank < sources.size(); ++rank) {
    COLL_EMBED_TRY(checkSource(*sources[rank], rank));
    std::vector<char> scratch;
    const rt::TensorView view = sources[rank]->view(scratch);
    rt::exchange::ReshardBuffers buffers;
    buffers.source = {const_cast<char *>(static_cast<const char *>(view.data)),
                      source_.info.localBytes(), nullptr};
    for (size_t r = 0; r < results.size(); ++r)
      buffers.peers.push_back(
          {results[r].data.data(), static_cast<int64_t>(results[r].data.size()), nullptr, {}, 1});
    if (rank < results.size())
      buffers.target = {results[rank].data.data(), static_cast<int64_t>(results[rank].data.size()),
                        nullptr};
    auto mine = rt::exchange::HostReshard::create(plan_, static_cast<int>(rank), buffers);
    if (!mine)
      return fail(mine.status());
    if (rt::Status status = (*mine)->run(); !status.ok())
      return fail(status);
  }
  for (rt::HostTensor &result : results)
    targets.push_back(std::make_shared<Tensor>(std::move(result)));
  return nullptr;
}

} // namespace coll::embed

using namespace coll::embed;

coll_error coll_reshard_plan(int32_t dtype, int32_t num_dims, const int64_t *shape,
                             const coll_placement *source, const coll_placement *target,
                             coll_reshard *reshard) {
  return guarded([&]() -> Outcome {
    if (!reshard)
      return invalid("reshard is null");
    // The type is checked with a placeholder address, from which nothing is read.
    std::shared_ptr<Tensor> checked;
    COLL_EMBED_TRY(Tensor::create(dtype, num_dims, shape, nullptr, reshard, checked));
    coll::rt::TensorInfo tensor;
    tensor.dtype = checked->dtype();
    tensor.shape = checked->shape();
    Side from, to;
    COLL_EMBED_TRY(readPlacement(source, "source", tensor, from));
    COLL_EMBED_TRY(readPlacement(target, "target", tensor, to));
    std::shared_ptr<Reshard> made;
    COLL_EMBED_TRY(Reshard::create(std::move(from), std::move(to), made));
    makeHandle(std::move(made), reshard);
    return nullptr;
  });
}

coll_error coll_reshard_free(coll_reshard reshard) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Reshard> object;
    return freeHandle(reshard, "reshard", object);
  });
}

coll_error coll_reshard_describe(coll_reshard reshard, coll_reshard_info *info) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Reshard> object;
    COLL_EMBED_TRY(findObject(reshard, "reshard", object));
    return writeStruct(object->describe(), "coll_reshard_info", info);
  });
}

coll_error coll_reshard_run(coll_reshard reshard, const coll_tensor *sources, size_t num_sources,
                            coll_tensor *targets, size_t num_targets) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Reshard> object;
    COLL_EMBED_TRY(findObject(reshard, "reshard", object));
    if (!targets || (num_sources > 0 && !sources))
      return invalid(targets ? "sources is null" : "targets is null");
    if (num_targets != object->describe().num_targets)
      return invalid("num_targets is " + std::to_string(num_targets) + "; the mesh has " +
                     std::to_string(object->describe().num_targets) + " ranks");
    std::vector<std::shared_ptr<Tensor>> blocks, results;
    for (size_t i = 0; i < num_sources; ++i)
      COLL_EMBED_TRY(findObject(sources[i], "sources", blocks.emplace_back()));
    COLL_EMBED_TRY(object->run(blocks, results));
    for (size_t i = 0; i < num_targets; ++i)
      makeHandle(std::move(results[i]), &targets[i]);
    return nullptr;
  });
}
