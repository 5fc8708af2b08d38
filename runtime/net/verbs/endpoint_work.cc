// Completions of the device, and the work that is posted to it.

#include "runtime/net/verbs/endpoint.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>

namespace coll::net::verbs {

namespace {

// Smaller parts are not worth another queue pair.
constexpr uint64_t kPartBytes = 64 << 10;
// Limit of one work request; every device accepts a GiB.
constexpr uint64_t kMaxWorkBytes = 1 << 30;
// The most messages that a correct peer makes this side send: an answer to each request of either
// side, and some credit.
constexpr size_t kMaxOutgoing = 4 * size_t(kMaxRequests) + 64;

} // namespace

//===-- completions -------------------------------------------------------------===//

// Handles completions and posts what can be sent now. True if there was something to do.
bool Endpoint::progress() {
  bool any = false;
  Status broken;
  ibv_wc completions[32];
  for (int turn = 0; turn < 16 && !over_; ++turn) {
    int count = api_.pollCq(cq_, 32, completions);
    if (count < 0)
      broken = {kCollDevice, device_.name() + ": the completion queue cannot be read"};
    any |= count > 0;
    for (int i = 0; i < count; ++i) {
      Status outcome = onCompletion(completions[i]);
      // The reason is the first failure that is not a consequence of another one. Complete messages
      // from before the end are still received.
      if (!outcome.ok() && (broken.ok() || completions[i].status != IBV_WC_WR_FLUSH_ERR))
        broken = outcome;
    }
    if (count < 32)
      break;
  }
  if (over_)
    return any;
  if (!broken.ok())
    lingering_ ? teardown() : fail(broken);
  else
    flush();
  if (ending_ && !over_ && underWay_ == 0)
    fail({kCollPeer, "the peer closed the connection"});
  return any;
}

Status Endpoint::onCompletion(const ibv_wc &completion) {
  auto kind = static_cast<WorkKind>(completion.wr_id >> 56);
  auto index = static_cast<uint32_t>(completion.wr_id);
  uint64_t queue = completion.wr_id >> 32 & 0xff;
  if (kind == WorkKind::ControlSend || kind == WorkKind::DataSend)
    --underWay_;
  if (completion.status != IBV_WC_SUCCESS)
    return device_.completionError(completion);
  switch (kind) {
  case WorkKind::ControlSend:
    if (VerbsRequest *request = slotRequest_[index]; request && !closed_)
      request->finish();
    slotRequest_[index] = nullptr;
    freeSlots_.push_back(index);
    return {};
  case WorkKind::ControlRecv: {
    if (completion.opcode != IBV_WC_RECV)
      return {kCollPeer, "protocol: an immediate instead of a message"};
    Status taken = onMessage(buffers_ + index * kSlotBytes, completion.byte_len);
    if (!taken.ok() || over_)
      return taken;
    ++toReturn_;
    return postSlot(index);
  }
  case WorkKind::DataSend: {
    --(queue == kMirrorQueue ? mirror_ : data_[queue]).underWay;
    bool isInbound = index >= kMaxRequests;
    VerbsRequest &request = (isInbound ? inbound_ : outbound_)[index % kMaxRequests];
    if (!closed_)
      request.finishPart();
    return {};
  }
  case WorkKind::DataRecv:
    if (completion.opcode != IBV_WC_RECV_RDMA_WITH_IMM)
      return {kCollPeer, "protocol: a message instead of an immediate"};
    return closed_ ? Status() : onImmediate(queue, ntohl(completion.imm_data));
  }
  return {kCollInternal, "a completion of unknown work"};
}

Status Endpoint::postSlot(uint32_t slot) {
  ibv_sge place = {reinterpret_cast<uintptr_t>(buffers_ + slot * kSlotBytes), kSlotBytes,
                   bufferMr_->lkey};
  ibv_recv_wr recv = {};
  recv.wr_id = workId(WorkKind::ControlRecv, 0, slot);
  recv.sg_list = &place;
  recv.num_sge = 1;
  return control_->postRecv(recv);
}

//===-- control messages --------------------------------------------------------===//

// False if the peer has made more requests than it may.
bool Endpoint::push(Outgoing outgoing) {
  if (out_.size() >= kMaxOutgoing)
    return false;
  out_.push_back(std::move(outgoing));
  return true;
}

void Endpoint::flush() {
  if (over_ || closed_ || ending_)
    return;
  Status posted = flushControl();
  for (size_t i = 0; i < data_.size() && posted.ok(); ++i)
    posted = flushData(data_[i], i);
  if (posted.ok() && mirror_.pair)
    posted = flushData(mirror_, kMirrorQueue);
  if (!posted.ok())
    fail(posted);
}

// The last credit and the last slot are reserved for the message that returns credits, so neither
// side can wait for the other for ever.
Status Endpoint::flushControl() {
  if (toReturn_ >= kSlots / 2 && credits_ >= 1 && !freeSlots_.empty()) {
    Outgoing credit;
    credit.message.type = MessageType::Credit;
    COLL_RETURN_IF_ERROR(sendControl(credit));
  }
  while (!out_.empty() && credits_ >= 2 && freeSlots_.size() >= 2) {
    Outgoing outgoing = std::move(out_.front());
    out_.pop_front();
    COLL_RETURN_IF_ERROR(sendControl(outgoing));
  }
  return {};
}

Status Endpoint::sendControl(Outgoing &outgoing) {
  uint32_t slot = freeSlots_.back();
  freeSlots_.pop_back();
  uint8_t *at = buffers_ + slot * kSlotBytes;
  outgoing.message.credits = static_cast<uint16_t>(toReturn_);
  toReturn_ = 0;
  --credits_;
  encode(outgoing.message, at);
  uint8_t *end = at + Message::kBytes;
  for (const RemoteSegment &segment : outgoing.segments) {
    encode(segment, end);
    end += RemoteSegment::kBytes;
  }
  ibv_sge pieces[kMaxSegments + 1];
  int used = 1;
  if (VerbsRequest *request = outgoing.request) {
    request->isBusy = outgoing.byReference;
    request->forEachPiece(
        0, request->total, kMaxSegments, [&](size_t segment, uint8_t *from, uint64_t count) {
          if (outgoing.byReference) {
            pieces[used++] = {reinterpret_cast<uintptr_t>(from), static_cast<uint32_t>(count),
                              request->keys.lkeys[segment]};
          } else {
            std::memcpy(end, from, count);
            end += count;
          }
        });
  }
  slotRequest_[slot] = outgoing.request;
  pieces[0] = {reinterpret_cast<uintptr_t>(at), static_cast<uint32_t>(end - at), bufferMr_->lkey};
  ibv_send_wr send = {};
  send.wr_id = workId(WorkKind::ControlSend, 0, slot);
  send.sg_list = pieces;
  send.num_sge = used;
  send.opcode = IBV_WR_SEND;
  send.send_flags = IBV_SEND_SIGNALED;
  if (used == 1 && pieces[0].length <= control_->inlineBytes())
    send.send_flags |= IBV_SEND_INLINE;
  ++underWay_;
  return control_->postSend(send);
}

//===-- data --------------------------------------------------------------------===//

// At most one part per queue pair.
std::vector<Extent> Endpoint::parts(uint64_t bytes) const {
  return equalParts(bytes, kPartBytes, data_.size());
}

// Creates work requests that stay within one queue pair, one remote buffer and the device's number
// of local buffers. The last of each part has the immediate, if any.
void Endpoint::split(VerbsRequest &request, ibv_wr_opcode opcode,
                     const std::vector<RemoteSegment> &remote, size_t firstQueue) {
  bool hasImmediate = opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  size_t queue = firstQueue % data_.size(), target = 0;
  uint64_t used = 0; // of remote[target]
  request.isBusy = true;
  for (const Extent &part : parts(request.total)) {
    DataQueue &data = data_[queue];
    queue = (queue + 1) % data_.size();
    for (uint64_t offset = part.offset, end = part.offset + part.bytes; offset < end;) {
      while (used == remote[target].bytes) {
        ++target;
        used = 0;
      }
      Work work;
      work.request = &request;
      work.opcode = hasImmediate ? IBV_WR_RDMA_WRITE : opcode;
      work.offset = offset;
      work.address = remote[target].address + used;
      work.rkey = remote[target].rkey;
      uint64_t most = std::min({end - offset, remote[target].bytes - used, kMaxWorkBytes});
      work.bytes =
          request.forEachPiece(offset, most, maxSegments_, [](size_t, uint8_t *, uint64_t) {});
      offset += work.bytes;
      used += work.bytes;
      data.waiting.push_back(work);
      ++request.parts;
    }
    data.waiting.back().opcode = opcode;
  }
}

Status Endpoint::flushData(DataQueue &queue, uint64_t number) {
  while (!queue.waiting.empty() && queue.underWay < kDataSends) {
    Work work = queue.waiting.front();
    queue.waiting.pop_front();
    VerbsRequest &request = *work.request;
    ibv_sge pieces[kMaxSegments];
    int used = 0;
    if (work.staged)
      pieces[used++] = {reinterpret_cast<uintptr_t>(work.staged), static_cast<uint32_t>(work.bytes),
                        mirrorMr_->lkey};
    else
      request.forEachPiece(
          work.offset, work.bytes, maxSegments_, [&](size_t segment, uint8_t *at, uint64_t count) {
            pieces[used++] = {reinterpret_cast<uintptr_t>(at), static_cast<uint32_t>(count),
                              request.keys.lkeys[segment]};
          });
    ibv_send_wr send = {};
    send.wr_id = workId(WorkKind::DataSend, number,
                        request.index + (request.isInbound() ? kMaxRequests : 0));
    send.sg_list = pieces;
    send.num_sge = used;
    send.opcode = work.opcode;
    send.send_flags = IBV_SEND_SIGNALED;
    send.imm_data = htonl(static_cast<uint32_t>(request.tag));
    send.wr.rdma.remote_addr = work.address;
    send.wr.rdma.rkey = work.rkey;
    ++queue.underWay;
    ++underWay_;
    COLL_RETURN_IF_ERROR(queue.pair->postSend(send));
  }
  return {};
}

} // namespace coll::net::verbs
