#include "runtime/dl/ibverbs.h"

#include <atomic>
#include <cerrno>
#include <dlfcn.h>
#include <string>
#include <system_error>

namespace coll::rt::dl {

namespace {

std::atomic<const Ibverbs *> fake{nullptr};

// The library finds its own drivers, so it is loaded once and never unloaded.
struct Library {
  Ibverbs table;
  Status status;
  Library();
};

Library::Library() {
  void *handle = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    status = {kCollUnsupported, "no RDMA library: " + std::string(dlerror())};
    return;
  }
  auto find = [handle](const char *name, auto &function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
  };
  auto need = [&](const char *name, auto &function) {
    find(name, function);
    if (!function && status.ok())
      status = {kCollUnsupported, "libibverbs.so.1 has no " + std::string(name)};
  };
  need("ibv_get_device_list", table.getDeviceList);
  need("ibv_free_device_list", table.freeDeviceList);
  need("ibv_get_device_name", table.getDeviceName);
  need("ibv_open_device", table.openDevice);
  need("ibv_close_device", table.closeDevice);
  need("ibv_get_async_event", table.getAsyncEvent);
  need("ibv_ack_async_event", table.ackAsyncEvent);
  need("ibv_query_device", table.queryDevice);
  need("ibv_query_port", table.queryPort);
  need("ibv_query_gid", table.queryGid);
  find("_ibv_query_gid_ex", table.queryGidEx);
  need("ibv_alloc_pd", table.allocPd);
  need("ibv_dealloc_pd", table.deallocPd);
  need("ibv_reg_mr", table.regMr);
  find("ibv_reg_dmabuf_mr", table.regDmabufMr);
  need("ibv_dereg_mr", table.deregMr);
  need("ibv_create_comp_channel", table.createCompChannel);
  need("ibv_destroy_comp_channel", table.destroyCompChannel);
  need("ibv_create_cq", table.createCq);
  need("ibv_destroy_cq", table.destroyCq);
  need("ibv_get_cq_event", table.getCqEvent);
  need("ibv_ack_cq_events", table.ackCqEvents);
  need("ibv_create_qp", table.createQp);
  need("ibv_modify_qp", table.modifyQp);
  need("ibv_destroy_qp", table.destroyQp);
  // The functions below are not symbols: the header calls the driver directly.
  table.reqNotifyCq = [](ibv_cq *cq, int solicited) { return ibv_req_notify_cq(cq, solicited); };
  table.pollCq = [](ibv_cq *cq, int count, ibv_wc *wc) { return ibv_poll_cq(cq, count, wc); };
  table.postSend = [](ibv_qp *qp, ibv_send_wr *list, ibv_send_wr **bad) {
    return ibv_post_send(qp, list, bad);
  };
  table.postRecv = [](ibv_qp *qp, ibv_recv_wr *list, ibv_recv_wr **bad) {
    return ibv_post_recv(qp, list, bad);
  };
}

} // namespace

Result<const Ibverbs *> ibverbs() {
  if (const Ibverbs *table = fake.load())
    return table;
  static const Library library;
  if (!library.status.ok())
    return library.status;
  return &library.table;
}

void useFakeIbverbs(const Ibverbs *table) { fake = table; }

//===-- errors ------------------------------------------------------------------===//

Status ibverbsError(std::string_view what, int error) {
  // Some calls report -1 and errno, some -errno, some errno.
  error = error < 0 ? -error : error;
  std::string text = std::string(what) + ": " + std::generic_category().message(error);
  switch (error) {
  case EPERM:
    return {kCollDevice, text + " (access to /dev/infiniband is needed)"};
  case ENOMEM:
  case EAGAIN:
    return {kCollDevice, text + " (is the limit of locked memory, `ulimit -l`, too low?)"};
  case EOPNOTSUPP:
  case ENOSYS:
  case EPROTONOSUPPORT:
    return {kCollUnsupported, text};
  case ENETUNREACH:
  case EHOSTUNREACH:
  case ETIMEDOUT:
    return {kCollLink, text + " (no route to the peer's GID)"};
  case EFAULT:
    return {kCollInvalidCall, text + " (the memory is not mapped, or read-only)"};
  default:
    return {kCollDevice, text};
  }
}

namespace {

struct Meaning {
  CollCode code;
  const char *text;
};

Meaning meaningOf(ibv_wc_status status, bool isSoftware) {
  switch (status) {
  case IBV_WC_RETRY_EXC_ERR:
    return {kCollLink, "the peer does not answer (RETRY_EXC)"};
  case IBV_WC_RESP_TIMEOUT_ERR:
    return {kCollLink, "the peer answers too late (RESP_TIMEOUT)"};
  case IBV_WC_WR_FLUSH_ERR:
    return {kCollLink, "the connection has failed before (WR_FLUSH)"};
  case IBV_WC_RNR_RETRY_EXC_ERR:
    return {kCollPeer, "the peer has no receive buffer ready (RNR_RETRY_EXC)"};
  case IBV_WC_REM_ACCESS_ERR:
    return {kCollPeer, "the peer's memory is not registered for this access (REM_ACCESS)"};
  case IBV_WC_REM_INV_REQ_ERR:
    return {kCollPeer, "the peer's device refuses the request (REM_INV_REQ)"};
  case IBV_WC_REM_OP_ERR:
  case IBV_WC_REM_INV_RD_REQ_ERR:
  case IBV_WC_REM_ABORT_ERR:
    return {kCollPeer, "the peer's device failed (REM_OP)"};
  case IBV_WC_LOC_PROT_ERR:
  case IBV_WC_LOC_ACCESS_ERR:
    return {kCollDevice, "a buffer is not registered, or not mapped any more (LOC_PROT)"};
  case IBV_WC_LOC_QP_OP_ERR:
    return isSoftware ? Meaning{kCollLink, "a packet could not leave this device: no route to the "
                                           "peer, or no memory (LOC_QP_OP)"}
                      : Meaning{kCollDevice, "this device finds its queue pair inconsistent "
                                             "(LOC_QP_OP)"};
  case IBV_WC_LOC_LEN_ERR:
    return {kCollDevice, "a message is longer than its buffer or this device allows (LOC_LEN)"};
  case IBV_WC_FATAL_ERR:
    return {kCollDevice, "this device has failed (FATAL)"};
  default:
    return {kCollDevice, "this device reports an error"};
  }
}

} // namespace

Status completionError(ibv_wc_status status, uint32_t vendorError, bool isSoftware) {
  Meaning meaning = meaningOf(status, isSoftware);
  return {meaning.code, std::string(meaning.text) + " [status " + std::to_string(status) +
                            ", vendor " + std::to_string(vendorError) + "]"};
}

Status asyncEventError(ibv_event_type type) {
  switch (type) {
  case IBV_EVENT_DEVICE_FATAL:
    return {kCollDevice, "the RDMA device has failed"};
  case IBV_EVENT_PORT_ERR:
    return {kCollLink, "the port went down"};
  case IBV_EVENT_CQ_ERR:
    return {kCollDevice, "the completion queue overran"};
  case IBV_EVENT_QP_FATAL:
    return {kCollDevice, "the queue pair has failed"};
  case IBV_EVENT_QP_REQ_ERR:
    return {kCollPeer, "the peer sent an invalid request to the device"};
  case IBV_EVENT_QP_ACCESS_ERR:
    return {kCollPeer, "the peer accessed memory without permission"};
  default:
    return {kCollDevice, "the RDMA device reports event " + std::to_string(type)};
  }
}

} // namespace coll::rt::dl
