// queue_pair.h - one reliable connection of the device.

#ifndef COLL_RUNTIME_NET_VERBS_QUEUE_PAIR_H
#define COLL_RUNTIME_NET_VERBS_QUEUE_PAIR_H

#include "runtime/net/verbs/device.h"
#include "runtime/net/verbs/message.h"
#include "runtime/net/verbs/verbs.h"

#include <memory>

namespace coll::net::verbs {

// One thread at a time may call it.
class QueuePair {
public:
  struct Limits {
    uint32_t sends = 0, recvs = 0; // in flight at once
    uint32_t sendSegments = 1;
    uint32_t inlineBytes = 0; // requested; see inlineBytes()
  };

  // Creates a queue pair on which receives can be posted.
  static Result<std::unique_ptr<QueuePair>> create(Device &device, uint8_t port, ibv_cq *cq,
                                                   uint64_t userNumber, const Limits &limits);
  // Returns when the device no longer accesses memory for this queue pair.
  ~QueuePair();

  uint32_t number() const { return qp_->qp_num; }
  uint32_t firstPacket() const { return firstPacket_; }
  // A send of at most this many bytes may be inline.
  uint32_t inlineBytes() const { return inlineBytes_; }

  // Afterwards it receives and sends. `reads`: the limit of reads in flight, the peer's and this
  // end's.
  Status connect(const Port &mine, uint8_t portNumber, const SetupInfo &peer, int queue,
                 const VerbsOptions &options, uint8_t peerReads, uint8_t ownReads);

  Status postSend(ibv_send_wr &request);
  Status postRecv(ibv_recv_wr &request);

private:
  QueuePair(Device &device, ibv_qp *qp) : device_(device), qp_(qp) {}
  Device &device_;
  ibv_qp *qp_;
  uint32_t firstPacket_ = 0, inlineBytes_ = 0;
};

} // namespace coll::net::verbs

#endif // COLL_RUNTIME_NET_VERBS_QUEUE_PAIR_H
