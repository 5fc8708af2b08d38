#include "runtime/net/verbs/queue_pair.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace coll::net::verbs {

using rt::dl::ibverbsError;

namespace {

// 0.64 ms: how long a sender waits if its peer has posted no receive.
constexpr uint8_t kMinRnrTimer = 12;
constexpr uint8_t kHopLimit = 64;

ibv_ah_attr pathTo(const Port &mine, uint8_t portNumber, const SetupInfo &peer, int trafficClass) {
  ibv_ah_attr path = {};
  path.port_num = portNumber;
  path.dlid = peer.lid;
  path.is_global = mine.isEthernet() || peer.lid == 0;
  if (path.is_global) {
    std::memcpy(path.grh.dgid.raw, peer.gid.data(), peer.gid.size());
    path.grh.sgid_index = static_cast<uint8_t>(mine.gidIndex);
    path.grh.hop_limit = kHopLimit;
    path.grh.traffic_class = static_cast<uint8_t>(trafficClass);
  }
  return path;
}

} // namespace

Result<std::unique_ptr<QueuePair>> QueuePair::create(Device &device, uint8_t port, ibv_cq *cq,
                                                     uint64_t userNumber, const Limits &limits) {
  const rt::dl::Ibverbs &api = device.api();
  ibv_qp_init_attr wanted = {};
  wanted.qp_context = reinterpret_cast<void *>(static_cast<uintptr_t>(userNumber));
  wanted.send_cq = wanted.recv_cq = cq;
  wanted.qp_type = IBV_QPT_RC;
  wanted.sq_sig_all = 1;
  wanted.cap.max_send_wr = limits.sends;
  wanted.cap.max_recv_wr = limits.recvs;
  wanted.cap.max_send_sge = limits.sendSegments;
  wanted.cap.max_recv_sge = 1;
  wanted.cap.max_inline_data = limits.inlineBytes;
  errno = 0;
  ibv_qp_init_attr given = wanted;
  ibv_qp *qp = api.createQp(device.pd(), &given);
  if (!qp && limits.inlineBytes > 0) {
    given = wanted;
    given.cap.max_inline_data = 0;
    errno = 0;
    qp = api.createQp(device.pd(), &given);
  }
  if (!qp)
    return ibverbsError("a queue pair on " + device.name(), errno ? errno : ENOMEM);
  std::unique_ptr<QueuePair> self(new QueuePair(device, qp));
  self->inlineBytes_ = std::min(given.cap.max_inline_data, limits.inlineBytes);
  COLL_RETURN_IF_ERROR(fillRandom(&self->firstPacket_, sizeof(self->firstPacket_)));
  self->firstPacket_ &= 0xffffff;
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = port;
  attributes.qp_access_flags =
      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  if (int error = api.modifyQp(
          qp, &attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
    return ibverbsError("preparing a queue pair on " + device.name(), error);
  return self;
}

QueuePair::~QueuePair() { device_.api().destroyQp(qp_); }

Status QueuePair::connect(const Port &mine, uint8_t portNumber, const SetupInfo &peer, int queue,
                          const VerbsOptions &options, uint8_t peerReads, uint8_t ownReads) {
  const rt::dl::Ibverbs &api = device_.api();
  const SetupInfo::Queue &other = peer.queue[static_cast<size_t>(queue)];
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = std::min(mine.attributes.active_mtu, static_cast<ibv_mtu>(peer.mtu));
  attributes.dest_qp_num = other.number;
  attributes.rq_psn = other.firstPacket;
  attributes.max_dest_rd_atomic = peerReads;
  attributes.min_rnr_timer = kMinRnrTimer;
  attributes.ah_attr = pathTo(mine, portNumber, peer, options.trafficClass);
  if (int error =
          api.modifyQp(qp_, &attributes,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                           IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
    return ibverbsError("connecting a queue pair on " + device_.name(), error);
  attributes = {};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = firstPacket_;
  attributes.timeout = static_cast<uint8_t>(options.retryTimeout);
  attributes.retry_cnt = static_cast<uint8_t>(options.retryCount);
  attributes.rnr_retry = static_cast<uint8_t>(options.rnrRetryCount);
  attributes.max_rd_atomic = ownReads;
  if (int error = api.modifyQp(qp_, &attributes,
                               IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                   IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
    return ibverbsError("starting a queue pair on " + device_.name(), error);
  return {};
}

Status QueuePair::postSend(ibv_send_wr &request) {
  ibv_send_wr *bad = nullptr;
  if (int error = device_.api().postSend(qp_, &request, &bad))
    return ibverbsError("sending on " + device_.name(), error);
  return {};
}

Status QueuePair::postRecv(ibv_recv_wr &request) {
  ibv_recv_wr *bad = nullptr;
  if (int error = device_.api().postRecv(qp_, &request, &bad))
    return ibverbsError("receiving on " + device_.name(), error);
  return {};
}

} // namespace coll::net::verbs
