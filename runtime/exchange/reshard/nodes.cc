#include "runtime/exchange/reshard/nodes.h"

#include "runtime/exchange/flow/box_flow.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace coll::rt::exchange {

namespace {

using kernels::ReshardEntry;
using kernels::ReshardPiece;

// Distinct from the tags of links.
constexpr uint64_t kTag = uint64_t{1} << 62;

} // namespace

//===-- the network -------------------------------------------------------------===//

Result<std::unique_ptr<ReshardNetwork>>
ReshardNetwork::create(std::shared_ptr<dl::GpuContext> gpu, int rank,
                       const ReshardNetworkOptions &options) {
  const auto ranks = static_cast<int>(options.nodes.size());
  if (!options.transport)
    return Status::invalid("a reshard between nodes needs a transport");
  if (rank < 0 || rank >= ranks)
    return Status::invalid("rank " + std::to_string(rank) + " of " + std::to_string(ranks));
  if (options.chunkBytes < 256 || options.chunkBytes % 256)
    return Status::invalid("chunks of " + std::to_string(options.chunkBytes) +
                           " bytes: multiples of 256 are possible");
  std::unique_ptr<ReshardNetwork> network(new ReshardNetwork(std::move(gpu), rank, options));
  COLL_RETURN_IF_ERROR(network->open());
  return network;
}

Status ReshardNetwork::open() {
  const auto ranks = static_cast<int>(options_.nodes.size());
  flows_.resize(options_.nodes.size());
  ChunkPump::Options pumping;
  pumping.slotBytes = options_.chunkBytes;
  pumping.timeoutUs = options_.timeoutUs;
  for (int rank = 0; rank < ranks; ++rank)
    if (!isNear(rank))
      pumping.far.push_back(rank);
  Result<std::unique_ptr<ChunkNetwork>> chunks =
      ChunkNetwork::create(gpu_, *options_.transport, rank_, ranks, pumping);
  if (!chunks)
    return chunks.status();
  chunks_ = chunks.take();
  return {};
}

Status ReshardNetwork::follow(dl::CudaStream stream) {
  COLL_RETURN_IF_ERROR(chunks_->order(stream, chunks_->out()));
  return chunks_->order(stream, chunks_->in());
}

Status ReshardNetwork::run(const std::vector<RankFlow> &flows) {
  std::vector<RankFlow> now = flows;
  for (RankFlow &flow : now)
    flow.tag = kTag + flows_[static_cast<size_t>(flow.rank)][flow.isSend]++;
  RankLinks &links = chunks_->links();
  Status ended = links.poll();
  if (ended.ok())
    ended = chunks_->pump().run(std::move(now), [&links] { return links.poll(); });
  return ended.ok() ? ended : end(ended);
}

Status ReshardNetwork::end(const Status &cause) {
  RankLinks &links = chunks_->links();
  const Status heard = links.poll();
  links.abort(heard.ok() ? cause.annotate("rank " + std::to_string(rank_)) : heard);
  // The network owns only the pinned memory, so afterwards the caller may reuse its buffers.
  chunks_->drain();
  return cause;
}

//===-- a reshard ---------------------------------------------------------------===//

NodesReshard::NodesReshard(const ReshardPlan &plan, ReshardDirection direction,
                           ReshardNetwork &network, const GpuReshardOptions &options,
                           GpuReshard::Launch launch)
    : network_(network), options_(options), launch_(launch),
      fingerprint_(fingerprintOf(plan, direction)),
      others_(plan.senders.begin(), plan.senders.end()) {
  others_.insert(plan.receivers.begin(), plan.receivers.end());
  others_.erase(network.rank_);
}

Status NodesReshard::check(const ReshardPlan &plan, const ReshardNetwork &network) {
  const size_t ranks = network.options_.nodes.size();
  for (const std::vector<int> *side : {&plan.senders, &plan.receivers})
    for (int rank : *side)
      if (rank < 0 || static_cast<size_t>(rank) >= ranks)
        return Status::invalid("the plan has rank " + std::to_string(rank) + ", the network " +
                               std::to_string(ranks) + " ranks");
  return {};
}

NodesReshard::Parts NodesReshard::split(const ReshardPlan &plan, const ReshardNetwork &network) {
  Parts parts{plan, {}};
  parts.near.transfers.clear();
  for (const Transfer &transfer : plan.transfers) {
    const int from = plan.senders[static_cast<size_t>(transfer.sender)];
    const int to = plan.receivers[static_cast<size_t>(transfer.receiver)];
    if (from != network.rank_ && to != network.rank_)
      continue;
    const bool isSend = from == network.rank_;
    const int other = isSend ? to : from;
    if (network.isNear(other)) {
      parts.near.transfers.push_back(transfer);
      continue;
    }
    std::vector<StridedBox> &boxes = parts.far[{other, isSend}];
    boxes.insert(boxes.end(), transfer.boxes.begin(), transfer.boxes.end());
  }
  return parts;
}

Result<std::unique_ptr<NodesReshard>> NodesReshard::create(const ReshardPlan &plan,
                                                           const ReshardBuffers &buffers,
                                                           ReshardNetwork &network,
                                                           const GpuReshardOptions &options,
                                                           GpuReshard::Launch launch) {
  COLL_RETURN_IF_ERROR(check(plan, network));
  const Parts parts = split(plan, network);
  std::unique_ptr<NodesReshard> made(
      new NodesReshard(plan, buffers.direction, network, options, launch));
  Result<std::unique_ptr<GpuReshard>> near =
      GpuReshard::create(parts.near, network.rank_, buffers, network.gpu_, options, launch);
  if (!near)
    return near.status();
  made->near_ = near.take();
  const OwnBuffer &target =
      plan.strategy == ReshardStrategy::Gather ? buffers.scratch : buffers.target;
  std::vector<ReshardEntry> entries;
  for (const auto &[with, boxes] : parts.far) {
    const auto [rank, isSend] = with;
    COLL_RETURN_IF_ERROR(
        made->addFlow(boxes, isSend ? buffers.source.data : target.data, rank, isSend, entries));
  }
  Result<dl::GpuMemory> table = uploadReshard(network.gpu_, entries);
  if (!table)
    return table.status();
  made->table_ = table.take();
  return made;
}

// The boxes that go to a rank, or come from it, one after the other.
Status NodesReshard::addFlow(const std::vector<StridedBox> &boxes, char *buffer, int rank,
                             bool isSend, std::vector<ReshardEntry> &entries) {
  const int64_t most = network_.options_.chunkBytes;
  auto chunks = std::make_shared<std::vector<Chunk>>();
  std::vector<ReshardPiece> pieces;
  int64_t used = 0; // of the chunk
  auto slot = [&] {
    return network_.chunks_->pump()
        .slotOf(rank, isSend, static_cast<int64_t>(chunks->size()))
        .device;
  };
  for (const StridedBox &box : boxes)
    for (int64_t begin = 0, all = box.bytes(); begin < all;) {
      const int64_t bytes = std::min(all - begin, most - used);
      for (StridedBox part : packedParts(isSend ? box : reversed(box), begin, bytes)) {
        part.dstOffset += used;
        pieces.push_back(isSend ? ReshardPiece{buffer, slot(), part, false}
                                : ReshardPiece{slot(), buffer, reversed(part), false});
      }
      begin += bytes;
      used += bytes;
      if (used < most)
        continue;
      COLL_RETURN_IF_ERROR(addChunk(pieces, *chunks, entries));
      pieces.clear();
      used = 0;
    }
  if (used > 0)
    COLL_RETURN_IF_ERROR(addChunk(pieces, *chunks, entries));
  RankFlow flow;
  flow.rank = rank;
  flow.isSend = isSend;
  flow.stream = isSend ? network_.chunks_->out() : network_.chunks_->in();
  flow.numChunks = static_cast<int64_t>(chunks->size());
  flow.bytes = [chunks](int64_t chunk) { return (*chunks)[static_cast<size_t>(chunk)].bytes; };
  flow.move = [this, chunks, stream = flow.stream](int64_t chunk, const ChunkSlot &) {
    return move((*chunks)[static_cast<size_t>(chunk)], stream);
  };
  flows_.push_back(std::move(flow));
  return {};
}

Status NodesReshard::addChunk(const std::vector<ReshardPiece> &pieces, std::vector<Chunk> &chunks,
                              std::vector<ReshardEntry> &entries) const {
  Chunk chunk;
  std::vector<ReshardPiece> forKernel;
  for (const ReshardPiece &piece : pieces) {
    chunk.bytes += piece.box.bytes();
    const bool isLong =
        options_.engine != ReshardEngine::Kernel &&
        (piece.box.rowBytes >= kEngineRowBytes || options_.engine == ReshardEngine::Copies);
    (isLong ? chunk.copies : forKernel).push_back(piece);
  }
  Result<kernels::ReshardTable> table = kernels::compileReshard(forKernel);
  if (!table)
    return table.status();
  chunk.first = entries.size();
  chunk.counts = table->counts;
  entries.insert(entries.end(), table->entries.begin(), table->entries.end());
  chunks.push_back(std::move(chunk));
  return {};
}

Status NodesReshard::move(const Chunk &chunk, dl::CudaStream stream) const {
  for (const ReshardPiece &piece : chunk.copies)
    COLL_RETURN_IF_ERROR(copyByEngine(*network_.gpu_, piece.box,
                                      static_cast<const char *>(piece.src),
                                      static_cast<char *>(piece.dst), stream));
  if (chunk.counts.remoteUnits == 0)
    return {};
  kernels::ReshardCopy copy;
  copy.entries = reinterpret_cast<const ReshardEntry *>(table_.device()) + chunk.first;
  copy.counts = chunk.counts;
  copy.blocks = options_.blocks ? options_.blocks : kBlocks;
  return launch_(copy, stream);
}

Status NodesReshard::compare() {
  std::map<int, uint64_t> theirs;
  std::vector<RankFlow> flows;
  for (int rank : others_)
    for (bool isSend : {true, false}) {
      RankFlow flow;
      flow.rank = rank;
      flow.isSend = isSend;
      flow.numChunks = 1;
      flow.bytes = [](int64_t) { return static_cast<int64_t>(sizeof(uint64_t)); };
      flow.move = [this, isSend, &word = theirs[rank]](int64_t, const ChunkSlot &slot) {
        if (isSend)
          std::memcpy(slot.host, &fingerprint_, sizeof fingerprint_);
        else
          std::memcpy(&word, slot.host, sizeof word);
        return Status::okay();
      };
      flows.push_back(std::move(flow));
    }
  COLL_RETURN_IF_ERROR(network_.run(flows));
  for (const auto &[rank, word] : theirs)
    if (word != fingerprint_)
      return network_.end({kCollMismatch, "rank " + std::to_string(rank) +
                                              " has another plan than rank " +
                                              std::to_string(network_.rank_) +
                                              ": their specs, strategies or directions differ"});
  isCompared_ = true;
  return {};
}

Status NodesReshard::run(dl::CudaStream stream) {
  if (!network_.chunks_->links().isConnected())
    return Status::invalid("the network is not connected");
  dl::CudaScope scope(network_.gpu_->cuda(), network_.gpu_->context());
  COLL_RETURN_IF_ERROR(scope.status());
  if (!isCompared_)
    COLL_RETURN_IF_ERROR(compare());
  // Started before the part inside the node, so that both run at the same time.
  Status begun = network_.follow(stream);
  if (begun.ok())
    begun = near_->run(stream);
  // Other ranks' flows wait for this rank.
  return begun.ok() ? network_.run(flows_) : network_.end(begun);
}

} // namespace coll::rt::exchange
