// bootstrap.h - lets the processes of a job find each other.
//
// Rank 0 listens; every process, including rank 0, connects, proves the job's secret and sends its
// rank. Then they exchange small values, such as transport handles. Connections of unknown
// processes cause a rate-limited log line, and never use more than a bounded number of sockets.
//
// All functions block, with a deadline, and may be called from any thread (one call at a time
// runs). Values and keys are opaque bytes.

#ifndef COLL_RUNTIME_NET_BOOTSTRAP_BOOTSTRAP_H
#define COLL_RUNTIME_NET_BOOTSTRAP_BOOTSTRAP_H

#include "runtime/net/auth.h"
#include "runtime/net/socket.h"
#include "runtime/net/wire.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace coll::net {

class BootstrapServer;

struct BootstrapOptions {
  int rank = 0;
  int worldSize = 1;
  // "host:port" of rank 0. Rank 0 may omit the host (":port", ":0"): it then listens on the first
  // interface of `iface`, and address() returns the address.
  std::string address;
  std::string iface; // as COLL_NET_IFACE; rank 0 only
  // Rank 0: a listening socket, which the bootstrap then owns; -1: it creates one.
  int listenFd = -1;
  int64_t timeoutUs = 60'000'000;
};

class Bootstrap {
public:
  // Returns when this process is admitted. Until timeoutUs it retries while rank 0 does not listen
  // yet, or has too many connections. Other ranks may still be missing: barrier() waits for them.
  static Result<std::unique_ptr<Bootstrap>> create(const BootstrapOptions &options,
                                                   const Secret &secret);
  // Leaves the job. When rank 0 leaves, the exchange ends for all ranks: call barrier() first.
  ~Bootstrap();

  int rank() const { return rank_; }
  int worldSize() const { return worldSize_; }
  // The address that rank 0 listens on.
  const std::string &address() const { return address_; }

  // Keys have at most wire::kMaxKeyBytes, values kMaxValueBytes. A key may be put once: a second
  // put is kCollInvalidCall.
  Status put(std::string_view key, std::string_view value);
  // Waits until a rank has put the key; kCollTimeout if none does.
  Result<std::string> get(std::string_view key, int64_t timeoutUs);
  // Every rank's value, in rank order. All ranks make the same calls in the same order.
  // kCollTimeout names the missing ranks; kCollPeer names a rank that has left. A value has at most
  // 64 KiB, all together at most 64 MiB.
  Result<std::vector<std::string>> allgather(std::string_view value, int64_t timeoutUs);
  Status barrier(int64_t timeoutUs);

private:
  explicit Bootstrap(const BootstrapOptions &options);
  Status join(const Address &address, const Secret &secret, int64_t deadlineUs);
  Result<std::string> call(wire::BootOp op, std::string_view key, std::string_view value,
                           int64_t timeoutUs);

  int rank_, worldSize_;
  std::string address_;
  std::unique_ptr<BootstrapServer> server_; // rank 0
  std::mutex mutex_;
  Fd fd_;
  uint64_t sequence_ = 0; // of requests
  uint64_t gathers_ = 0;
  bool broken_ = false; // a call ended in the middle of a message
};

} // namespace coll::net

#endif // COLL_RUNTIME_NET_BOOTSTRAP_BOOTSTRAP_H
