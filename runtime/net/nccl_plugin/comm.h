// comm.h - the objects that NCCL holds pointers to: listening comms, comms, memory, requests.
//
// Threads are NCCL's (abi.h): one thread posts and tests on a comm; another thread may register its
// memory.

#ifndef COLL_RUNTIME_NET_NCCL_PLUGIN_COMM_H
#define COLL_RUNTIME_NET_NCCL_PLUGIN_COMM_H

#include "runtime/net/nccl_plugin/events.h"
#include "runtime/net/nccl_plugin/network.h"

#include <array>
#include <memory>

namespace coll::net::nccl {

class Comm;

// The result of regMr. `memory` is null if the memory needs no registration.
struct MemoryHandle {
  Memory *memory = nullptr;
  int type = kPtrHost;
};

// The request of NCCL's isend, irecv and iflush.
struct Operation {
  Comm *comm = nullptr;
  Request *inner = nullptr; // null: free
  Status failure;           // of the last message, in case NCCL tests it again
  MessageEvents events;
};

// A connection in one direction. Its destructor closes it, and deregisters its memory.
class Comm {
public:
  // NCCL has at most 32 requests of a comm in flight.
  static constexpr size_t kMaxOperations = 64;

  Comm(std::shared_ptr<Network> network, const Device &device,
       std::unique_ptr<Connection> connection, bool receives, ProfilerHook profiler);
  ~Comm();
  Comm(const Comm &) = delete;
  Comm &operator=(const Comm &) = delete;

  // The handle for NCCL's kernels; null for sends and in HOST mode.
  const DeviceHandle *deviceHandle() const;
  Network &network() { return *network_; }

  // Null if there is no room now. `parent` is NCCL's profiler handle, or null.
  Result<Operation *> isend(void *data, uint64_t bytes, int tag, const MemoryHandle *memory,
                            void *parent);
  Result<Operation *> irecv(void *data, uint64_t bytes, int tag, const MemoryHandle *memory,
                            void *parent);
  // Null if the received data is already visible; kCollInvalidCall if there is no room for a flush.
  Result<Operation *> iflush(void *data, uint64_t bytes, const MemoryHandle *memory);
  Result<Completion> test(Operation &operation);
  void consumed() { connection_->consumed(); }

  Result<MemoryHandle *> registerMemory(const MemoryRegion &region, int type);
  void deregister(MemoryHandle *handle);

private:
  Result<Operation *> begin(Result<Request *> posted, void *parent);
  Operation *findFree();

  std::shared_ptr<Network> network_;
  const Device &device_;
  std::unique_ptr<Connection> connection_;
  const bool receives_;
  const ProfilerHook profiler_;
  const EventSource source_;
  uint64_t messages_ = 0;
  size_t next_ = 0; // where the search for a free operation starts
  std::array<Operation, kMaxOperations> operations_;
};

} // namespace coll::net::nccl

#endif // COLL_RUNTIME_NET_NCCL_PLUGIN_COMM_H
