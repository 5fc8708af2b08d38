#include "runtime/exchange/reshard/reshard.h"

#include "runtime/base/fnv.h"
#include "runtime/exchange/flow/one_sided.h"

#include <string>
#include <utility>

namespace coll::rt::exchange {

namespace {

Status checkOwn(const OwnBuffer &buffer, int64_t least, const char *name) {
  if (buffer.bytes < least || (!buffer.data && least > 0))
    return Status::invalid(std::string("its ") + name + " has " +
                           std::to_string(buffer.data ? buffer.bytes : 0) +
                           " bytes; the plan needs " + std::to_string(least));
  return {};
}

// The size of the buffer at the other end of a transfer.
int64_t peerBytes(const ReshardPlan &plan, const Transfer &transfer, ReshardDirection direction) {
  if (direction == ReshardDirection::Pull)
    return plan.senderBytes[static_cast<size_t>(transfer.sender)];
  return plan.strategy == ReshardStrategy::Gather
             ? plan.scratchBytes
             : plan.receiverBytes[static_cast<size_t>(transfer.receiver)];
}

int peerOf(const Transfer &transfer, ReshardDirection direction) {
  return direction == ReshardDirection::Push ? transfer.receiver : transfer.sender;
}

// For example "receiver 1 (rank 5)".
std::string peerName(const ReshardPlan &plan, const Transfer &transfer,
                     ReshardDirection direction) {
  const bool isPush = direction == ReshardDirection::Push;
  const int peer = peerOf(transfer, direction);
  const std::vector<int> &ranks = isPush ? plan.receivers : plan.senders;
  return std::string(isPush ? "receiver " : "sender ") + std::to_string(peer) + " (rank " +
         std::to_string(ranks[static_cast<size_t>(peer)]) + ")";
}

Status checkPeer(const ReshardPlan &plan, const Transfer &transfer, const ReshardBuffers &buffers) {
  const std::string name = peerName(plan, transfer, buffers.direction);
  const auto peer = static_cast<size_t>(peerOf(transfer, buffers.direction));
  if (peer >= buffers.peers.size() ||
      (!buffers.peers[peer].data && !buffers.peers[peer].connection))
    return Status::invalid("cannot reach the buffer of " + name);
  const PeerBuffer &reached = buffers.peers[peer];
  const int64_t least = peerBytes(plan, transfer, buffers.direction);
  const bool isEnough =
      reached.data ? reached.bytes >= least : reached.key.bytes >= static_cast<uint64_t>(least);
  if (isEnough)
    return {};
  return Status::invalid(
      "the buffer of " + name + " has " +
      (reached.data ? std::to_string(reached.bytes) : std::to_string(reached.key.bytes)) +
      " bytes; the plan needs " + std::to_string(least));
}

// FNV-1a, 64 bits (Fowler, Noll, Vo), over integers.
class Fingerprint {
public:
  uint64_t value() const { return value_; }
  void add(int64_t number) { value_ = fnvMixed(value_, static_cast<uint64_t>(number)); }
  template <typename T>
  void add(const std::vector<T> &list) {
    add(static_cast<int64_t>(list.size()));
    for (const T &one : list)
      add(one);
  }
  void add(const StridedBox &box) {
    for (int64_t number : {box.srcOffset, box.dstOffset, box.rowBytes, int64_t{box.numLoops}})
      add(number);
    for (size_t loop = 0; loop < static_cast<size_t>(box.numLoops); ++loop)
      for (int64_t number : {box.count[loop], box.srcStride[loop], box.dstStride[loop]})
        add(number);
  }
  void add(const Transfer &transfer) {
    add(transfer.sender);
    add(transfer.receiver);
    add(transfer.boxes);
  }

private:
  uint64_t value_ = kFnvStart;
};

} // namespace

const char *nameOf(ReshardDirection direction) {
  return direction == ReshardDirection::Push ? "push" : "pull";
}

uint64_t fingerprintOf(const ReshardPlan &plan, ReshardDirection direction) {
  Fingerprint print;
  print.add(static_cast<int64_t>(direction));
  print.add(static_cast<int64_t>(plan.strategy));
  print.add(static_cast<int64_t>(plan.dtype));
  print.add(plan.senders);
  print.add(plan.receivers);
  print.add(plan.senderBytes);
  print.add(plan.receiverBytes);
  print.add(plan.transfers);
  print.add(plan.scratchBytes);
  print.add(plan.slices);
  return print.value();
}

std::vector<const Transfer *> transfersOf(const ReshardPlan &plan, int rank,
                                          ReshardDirection direction) {
  const int sender = plan.senderOf(rank), receiver = plan.receiverOf(rank);
  std::vector<const Transfer *> mine;
  for (const Transfer &transfer : plan.transfers)
    if (transfer.isLocal                      ? transfer.sender == sender
        : direction == ReshardDirection::Push ? transfer.sender == sender
                                              : transfer.receiver == receiver)
      mine.push_back(&transfer);
  return mine;
}

Status checkReshard(const ReshardPlan &plan, int rank, const ReshardBuffers &buffers) {
  const int sender = plan.senderOf(rank), receiver = plan.receiverOf(rank);
  Status status;
  if (sender < 0 && receiver < 0)
    status = Status::invalid("it neither sends nor receives");
  if (status.ok() && sender >= 0)
    status = checkOwn(buffers.source, plan.senderBytes[static_cast<size_t>(sender)], "source");
  if (status.ok() && receiver >= 0)
    status = checkOwn(buffers.target, plan.receiverBytes[static_cast<size_t>(receiver)], "target");
  if (status.ok() && receiver >= 0 && plan.strategy == ReshardStrategy::Gather)
    status = checkOwn(buffers.scratch, plan.scratchBytes, "scratch");
  for (const Transfer *transfer : transfersOf(plan, rank, buffers.direction))
    if (status.ok() && !transfer->isLocal)
      status = checkPeer(plan, *transfer, buffers);
  return status.annotate("rank " + std::to_string(rank));
}

HostReshard::HostReshard(ReshardPlan plan, int rank, const ReshardBuffers &buffers,
                         int64_t timeoutUs)
    : plan_(std::move(plan)), sender_(plan_.senderOf(rank)), receiver_(plan_.receiverOf(rank)),
      buffers_(buffers), timeoutUs_(timeoutUs),
      transfers_(transfersOf(plan_, rank, buffers.direction)) {}

Result<std::unique_ptr<HostReshard>>
HostReshard::create(ReshardPlan plan, int rank, const ReshardBuffers &buffers, int64_t timeoutUs) {
  COLL_RETURN_IF_ERROR(checkReshard(plan, rank, buffers));
  return std::unique_ptr<HostReshard>(new HostReshard(std::move(plan), rank, buffers, timeoutUs));
}

Status HostReshard::run() {
  for (const Transfer *transfer : transfers_)
    if (Status moved = carryOut(*transfer); !moved.ok())
      return moved.annotate(std::string(nameOf(buffers_.direction)) + ", " +
                            peerName(plan_, *transfer, buffers_.direction));
  return {};
}

Status HostReshard::carryOut(const Transfer &transfer) {
  const OwnBuffer &target =
      plan_.strategy == ReshardStrategy::Gather ? buffers_.scratch : buffers_.target;
  const bool isPush = buffers_.direction == ReshardDirection::Push;
  if (transfer.isLocal) {
    for (const StridedBox &box : transfer.boxes)
      copyBox(box, buffers_.source.data, target.data);
    return {};
  }
  const PeerBuffer &peer =
      buffers_.peers[static_cast<size_t>(peerOf(transfer, buffers_.direction))];
  if (peer.data) {
    for (const StridedBox &box : transfer.boxes)
      copyBox(box, isPush ? buffers_.source.data : peer.data, isPush ? peer.data : target.data);
    return {};
  }
  const OwnBuffer &own = isPush ? buffers_.source : target;
  OneSided moves(isPush ? Direction::Write : Direction::Read, *peer.connection, peer.key, own.data,
                 own.memory, peer.maxSegments, timeoutUs_);
  Status started;
  for (const StridedBox &box : transfer.boxes)
    if (started.ok())
      started = moves.move(box);
  Status finished = moves.finish();
  return started.ok() ? finished : started;
}

Status HostReshard::slice() {
  if (plan_.strategy != ReshardStrategy::Gather || receiver_ < 0)
    return {};
  for (const StridedBox &box : plan_.slices[static_cast<size_t>(receiver_)])
    copyBox(box, buffers_.scratch.data, buffers_.target.data);
  return {};
}

} // namespace coll::rt::exchange
