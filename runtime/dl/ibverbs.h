// ibverbs.h - libibverbs, found when the program runs.

#ifndef COLL_RUNTIME_DL_IBVERBS_H
#define COLL_RUNTIME_DL_IBVERBS_H

#include "runtime/base/status.h"

#include <infiniband/verbs.h>
#include <string_view>

namespace coll::rt::dl {

// The functions that are used, named after those of <infiniband/verbs.h>. Tests replace them.
// Members marked optional may be null.
struct Ibverbs {
  ibv_device **(*getDeviceList)(int *count) = nullptr;
  void (*freeDeviceList)(ibv_device **list) = nullptr;
  const char *(*getDeviceName)(ibv_device *device) = nullptr;
  ibv_context *(*openDevice)(ibv_device *device) = nullptr;
  int (*closeDevice)(ibv_context *context) = nullptr;
  int (*getAsyncEvent)(ibv_context *context, ibv_async_event *event) = nullptr;
  void (*ackAsyncEvent)(ibv_async_event *event) = nullptr;

  int (*queryDevice)(ibv_context *context, ibv_device_attr *attributes) = nullptr;
  // Fills the fields that the library's first versions had: all but port_cap_flags2 and later ones.
  int (*queryPort)(ibv_context *context, uint8_t port, ibv_port_attr *attributes) = nullptr;
  int (*queryGid)(ibv_context *context, uint8_t port, int index, ibv_gid *gid) = nullptr;
  // Optional (rdma-core 32). ibv_query_gid_ex.
  int (*queryGidEx)(ibv_context *context, uint32_t port, uint32_t index, ibv_gid_entry *entry,
                    uint32_t flags, size_t entryBytes) = nullptr;

  ibv_pd *(*allocPd)(ibv_context *context) = nullptr;
  int (*deallocPd)(ibv_pd *pd) = nullptr;
  ibv_mr *(*regMr)(ibv_pd *pd, void *data, size_t bytes, int access) = nullptr;
  // Optional (rdma-core 34).
  ibv_mr *(*regDmabufMr)(ibv_pd *pd, uint64_t offset, size_t bytes, uint64_t iova, int fd,
                         int access) = nullptr;
  int (*deregMr)(ibv_mr *mr) = nullptr;

  ibv_comp_channel *(*createCompChannel)(ibv_context *context) = nullptr;
  int (*destroyCompChannel)(ibv_comp_channel *channel) = nullptr;
  ibv_cq *(*createCq)(ibv_context *context, int entries, void *cqContext, ibv_comp_channel *channel,
                      int vector) = nullptr;
  int (*destroyCq)(ibv_cq *cq) = nullptr;
  int (*getCqEvent)(ibv_comp_channel *channel, ibv_cq **cq, void **cqContext) = nullptr;
  void (*ackCqEvents)(ibv_cq *cq, unsigned count) = nullptr;
  int (*reqNotifyCq)(ibv_cq *cq, int solicitedOnly) = nullptr;
  int (*pollCq)(ibv_cq *cq, int count, ibv_wc *completions) = nullptr;

  ibv_qp *(*createQp)(ibv_pd *pd, ibv_qp_init_attr *attributes) = nullptr;
  int (*modifyQp)(ibv_qp *qp, ibv_qp_attr *attributes, int mask) = nullptr;
  int (*destroyQp)(ibv_qp *qp) = nullptr;
  int (*postSend)(ibv_qp *qp, ibv_send_wr *list, ibv_send_wr **bad) = nullptr;
  int (*postRecv)(ibv_qp *qp, ibv_recv_wr *list, ibv_recv_wr **bad) = nullptr;
};

// Loads libibverbs.so.1 at the first call. kCollUnsupported, with the reason, if there is none. Any
// thread may call it.
Result<const Ibverbs *> ibverbs();

// Replaces the library by `fake` for this process; null restores the library. Objects of the
// replaced one must not be in use.
void useFakeIbverbs(const Ibverbs *fake);

// A status with a message for a user about a call `what` that failed with `error` (an errno).
Status ibverbsError(std::string_view what, int error);

// The same for work that ended with `status`. kCollLink: the path to the peer is broken; kCollPeer:
// the peer refused; kCollDevice: the fault is here. Not for IBV_WC_SUCCESS. A local queue pair
// error is an inconsistency on hardware (InfiniBand specification, 11.6.2); soft-RoCE
// (`isSoftware`) reports it if it finds no route, or no memory for a packet (rxe_requester() in
// Linux), as while a link is down.
Status completionError(ibv_wc_status status, uint32_t vendorError, bool isSoftware);

// The same for an asynchronous event that ends the object it names.
Status asyncEventError(ibv_event_type type);

} // namespace coll::rt::dl

#endif // COLL_RUNTIME_DL_IBVERBS_H
