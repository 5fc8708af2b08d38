// net_events.h - the layouts of the data that net plugins report through NetPlugin events, by the
// event's id, which is network type << 16 | version.

#ifndef COLL_RUNTIME_PROFILER_ABI_NET_EVENTS_H
#define COLL_RUNTIME_PROFILER_ABI_NET_EVENTS_H

#include <cstddef>
#include <cstdint>

namespace coll::profiler::abi {

inline constexpr int64_t kNetIbV1 = 1 << 16 | 1;                 // NCCL's own InfiniBand transport
inline constexpr int64_t kNetSocketV1 = 2 << 16 | 1;             // NCCL's own sockets
inline constexpr int64_t kNetCollV1 = int64_t(0x636c) << 16 | 1; // libnccl-net-coll.so

struct NetIbEventV1 {
  uint8_t type; // 1: queue pair
  struct {
    int device;
    uint64_t workRequest;
    int opcode;
    int number;
    size_t length;
  } queuePair;
};

struct NetSocketEventV1 {
  uint8_t type; // 1: socket
  struct {
    alignas(8) int fd;
    int op;
    size_t length;
  } socket;
};

// CollNetEvent of runtime/net/nccl_plugin/net_event.h; later versions only append.
struct NetCollEventV1 {
  uint32_t bytesOfStruct;
  uint32_t direction; // 0: send
  const char *transport;
  const char *device;
  uint64_t connection;
  uint64_t message;
  uint64_t messageBytes;
  uint32_t stream;
  uint32_t failed;
  uint64_t bytes;
  int64_t startNs;
  int64_t endNs;
};

} // namespace coll::profiler::abi

#endif // COLL_RUNTIME_PROFILER_ABI_NET_EVENTS_H
