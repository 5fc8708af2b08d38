#include "runtime/step/collect.h"

#include "runtime/program/shard.h"

#include <numeric>
#include <set>

namespace coll::rt {

namespace {

constexpr int64_t kMaxTextBytes = int64_t(1) << 30;

Call transferCall(OpKind kind, int peer, int64_t bytes) {
  Call call;
  call.kind = kind;
  call.dtype = kCollI8;
  call.count = bytes;
  call.peer = peer;
  call.site.name = "results";
  return call;
}

} // namespace

Result<std::unique_ptr<Collector>>
Collector::create(int numRanks, const std::vector<std::unique_ptr<RankState>> &ranks) {
  std::unique_ptr<Collector> collector(new Collector(ranks));
  collector->numRanks_ = numRanks;
  if (ranks.size() == static_cast<size_t>(numRanks))
    return collector;
  std::vector<int> all(static_cast<size_t>(numRanks));
  std::iota(all.begin(), all.end(), 0);
  Result<std::unique_ptr<Communicator>> communicator =
      ranks.front()->endpoint().communicator(std::move(all));
  if (!communicator)
    return communicator.status();
  collector->all_ = communicator.take();
  return collector;
}

const RankState *Collector::findLocal(int rank) const {
  for (const std::unique_ptr<RankState> &state : ranks_)
    if (state->context().rank == rank)
      return state.get();
  return nullptr;
}

// The ranks whose blocks are used.
std::vector<int> Collector::sourcesOf(const Item &item) const {
  std::vector<int> sources;
  if (isReplicated(*item.info) && item.isHeldBy(0))
    return {0};
  std::set<std::vector<int64_t>> seen;
  for (int rank = 0; rank < numRanks_; ++rank) {
    if (!item.isHeldBy(rank))
      continue;
    std::vector<int64_t> begins;
    for (const BlockRange &block : blocksOf(*item.info, ranks_.front()->descriptor().axes, rank))
      begins.push_back(block.begin);
    if (seen.insert(std::move(begins)).second)
      sources.push_back(rank);
  }
  return sources;
}

// The answer is the same in every process.
bool Collector::needsOthers(const std::vector<Item> &items) const {
  if (!all_)
    return false;
  for (const Item &item : items)
    if (!isReplicated(*item.info) || !item.isHeldBy(0))
      return true;
  return false;
}

// Places the rank's block, receives it, or sends it.
Status Collector::addBlock(const Item &item, int rank, HostTensor *global) {
  const std::vector<MeshAxis> &axes = ranks_.front()->descriptor().axes;
  const RankState *local = findLocal(rank);
  int64_t bytes = item.info->localBytes();
  if (local && global) {
    placeTensor(*item.info, axes, rank, item.block(*local), global->data.data());
    return {};
  }
  if (local) {
    Call call = transferCall(OpKind::Send, 0, bytes);
    call.src = item.block(*local);
    return all_->run(call);
  }
  if (!global)
    return {};
  std::vector<char> block(static_cast<size_t>(bytes));
  Call call = transferCall(OpKind::Recv, rank, bytes);
  call.dst = block.data();
  COLL_RETURN_IF_ERROR(all_->run(call));
  placeTensor(*item.info, axes, rank, block.data(), global->data.data());
  return {};
}

Result<std::vector<HostTensor>> Collector::collect(const std::vector<Item> &items) {
  Endpoint &endpoint = ranks_.front()->endpoint();
  bool talks = needsOthers(items);
  if (talks)
    endpoint.enter();
  std::vector<HostTensor> tensors;
  Status status;
  for (const Item &item : items) {
    HostTensor *global = nullptr;
    if (isRoot()) {
      Result<HostTensor> zeros = HostTensor::zeros(item.info->dtype, item.info->shape);
      if (!zeros) {
        status = zeros.status();
        break;
      }
      tensors.push_back(zeros.take());
      global = &tensors.back();
    }
    for (int rank : sourcesOf(item))
      if (status.ok())
        status = addBlock(item, rank, global);
    if (!status.ok())
      break;
  }
  if (!status.ok())
    endpoint.abort(status);
  if (talks)
    endpoint.leave();
  if (!status.ok())
    return status;
  return tensors;
}

Status Collector::sendText(int rank, const std::string &text) {
  int64_t bytes = static_cast<int64_t>(text.size());
  Call size = transferCall(OpKind::Send, rank, sizeof(bytes));
  size.src = &bytes;
  COLL_RETURN_IF_ERROR(all_->run(size));
  Call content = transferCall(OpKind::Send, rank, bytes);
  content.src = text.data();
  return all_->run(content);
}

Status Collector::receiveText(int rank, std::string &text) {
  int64_t bytes = 0;
  Call size = transferCall(OpKind::Recv, rank, sizeof(bytes));
  size.dst = &bytes;
  COLL_RETURN_IF_ERROR(all_->run(size));
  if (bytes < 0 || bytes > kMaxTextBytes)
    return Status::internal("rank " + std::to_string(rank) + " announced a text of " +
                            std::to_string(bytes) + " bytes");
  text.resize(static_cast<size_t>(bytes));
  Call content = transferCall(OpKind::Recv, rank, bytes);
  content.dst = text.data();
  return all_->run(content);
}

template <typename Exchange>
Status Collector::talk(Exchange exchange) {
  Endpoint &endpoint = ranks_.front()->endpoint();
  endpoint.enter();
  Status status = exchange();
  if (!status.ok())
    endpoint.abort(status);
  endpoint.leave();
  return status;
}

Result<std::vector<std::string>> Collector::gather(const std::string &text) {
  if (!all_)
    return std::vector<std::string>{text};
  std::vector<std::string> texts;
  COLL_RETURN_IF_ERROR(talk([&]() -> Status {
    if (!isRoot())
      return sendText(0, text);
    texts.resize(static_cast<size_t>(numRanks_));
    texts[0] = text;
    for (int rank = 1; rank < numRanks_; ++rank)
      COLL_RETURN_IF_ERROR(receiveText(rank, texts[static_cast<size_t>(rank)]));
    return {};
  }));
  return texts;
}

Result<std::string> Collector::broadcast(const std::string &text) {
  if (!all_)
    return text;
  std::string received = text;
  COLL_RETURN_IF_ERROR(talk([&]() -> Status {
    if (!isRoot())
      return receiveText(0, received);
    for (int rank = 1; rank < numRanks_; ++rank)
      COLL_RETURN_IF_ERROR(sendText(rank, text));
    return {};
  }));
  return received;
}

} // namespace coll::rt
