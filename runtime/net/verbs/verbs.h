// verbs.h - the transport over RDMA devices (libibverbs, reliable connections).

#ifndef COLL_RUNTIME_NET_VERBS_VERBS_H
#define COLL_RUNTIME_NET_VERBS_VERBS_H

#include "runtime/net/auth.h"
#include "runtime/net/transport.h"

#include <memory>
#include <optional>
#include <string>

namespace coll::net {

struct VerbsOptions {
  // As COLL_NET_RDMA_DEVICES: names in order of preference, with or without a port
  // ("mlx5_0,mlx5_1:2"). Empty: every port that is up.
  std::string devices;
  // As COLL_NET_IFACE, for the TCP connection besides the queue pairs. Empty: the address of the
  // RDMA port itself if it has one.
  std::string iface;
  int gidIndex = -1;     // in the port's table; -1: chosen
  int queuePairs = 2;    // for the data of one connection, 1 to 16; one more for control
  int threads = 1;       // progress threads, 1 to 64
  int retryCount = 6;    // how often the device sends again without an answer, 0 to 6
  int retryTimeout = 14; // it waits 4.096 us * 2^retryTimeout (at least) each time, 1 to 31
  int rnrRetryCount = 6; // the same if the peer has no receive buffer ready, 0 to 6
  int trafficClass = 0;  // of the packets, 0 to 255
  // Bytes of host memory whose registrations are kept although no request uses them. Only safe in
  // programs that never unmap memory from which they have sent or into which they have received.
  uint64_t cacheBytes = 0;
  int64_t spinUs = 20;            // time for which a progress thread polls before it sleeps
  int64_t timeoutUs = 60'000'000; // for setting up a connection
  // How long an incoming connection may take to prove the secret and to answer.
  int64_t proofTimeoutUs = 5'000'000;
  // How long a port may be down before its connections end.
  int64_t portGraceUs = 1'000'000;

  // From COLL_NET_RDMA_DEVICES, COLL_NET_IFACE, COLL_NET_GID_INDEX, COLL_NET_QPS,
  // COLL_NET_THREADS, COLL_NET_RDMA_RETRY, COLL_NET_RDMA_TIMEOUT,
  // COLL_NET_REG_CACHE_BYTES, COLL_SPIN_US and COLL_TIMEOUT_US.
  static VerbsOptions fromEnv();
};

// One device per port. `secret` as for createTcpTransport(). kCollUnsupported, with the reason, if
// the machine has no RDMA library or no port that is up.
Result<std::unique_ptr<Transport>> createVerbsTransport(const VerbsOptions &options,
                                                        const std::optional<Secret> &secret);

} // namespace coll::net

#endif // COLL_RUNTIME_NET_VERBS_VERBS_H
