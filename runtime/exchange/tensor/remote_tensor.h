// remote_tensor.h - reads and writes tensors of other processes without action on their side.
//
//   RemoteTensors remote({transport});
//   std::shared_ptr<RemoteTensor> tensor = remote.open(handle).take();  // cached: opened once
//   tensor->readInto(local);                          // local may be a slice of something larger
//   tensor->writeFrom(local, {Via::Rdma, part});      // a part of the tensor, by one way
//
//   auto read = tensor->prepareRead(local).take();    // once
//   read->run();                                      // as often as one likes
//
// *ipc* maps the owner's memory: POSIX shared memory on the host, CUDA IPC or VMM descriptors on
// GPUs. Memory of cudaMalloc whose owner is in this process is addressed directly. *rdma* is any
// transport with one-sided reads and writes. The owner's thread and this one move the bytes through
// pinned memory instead if the transport does not reach the memory of both sides, which happens
// with GPUs, or if there would be many requests of few bytes. `Auto` takes ipc if the tensor has
// it, the owner is on this node and both sides are GPU memory or both host memory; else rdma.
//
// Copies to and from pinned memory wait while another thread loads a kernel (dl/cuda.h): set
// CUDA_MODULE_LOADING=EAGER if kernels wait for data that is accessed.
//
// Calls block until the bytes have arrived. They are not ordered with accesses of the owner or of
// other processes: users have to ensure that order.
//
// When the owner withdraws the tensor or ends, the next call fails with kCollPeer (ipc), or with
// the transport's error, and the mapping or connection is closed.
//
// Threads: a RemoteTensors and its tensors belong to one thread at a time.

#ifndef COLL_RUNTIME_EXCHANGE_TENSOR_REMOTE_TENSOR_H
#define COLL_RUNTIME_EXCHANGE_TENSOR_REMOTE_TENSOR_H

#include "runtime/exchange/tensor/handle.h"
#include "runtime/exchange/tensor/served_access.h"
#include "runtime/exchange/tensor/shared_segment.h"
#include "runtime/gpu/memory.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace coll::rt::exchange {

enum class Via { Auto, Ipc, Rdma };

struct TensorAccess {
  Via via = Via::Auto;
  std::optional<Region> part; // of the remote tensor; none: all of it
};

struct RemoteTensorsOptions {
  // The owner's transport; it outlives the object. Null: no rdma.
  net::Transport *transport = nullptr;
  int device = 0;
  // For local GPU memory: its GPU.
  std::shared_ptr<dl::GpuContext> gpu;
  int64_t timeoutUs = 60'000'000;
};

// The connections of a transport, by the owner's listener, and resources that accesses over them
// share.
class OwnerConnections {
public:
  explicit OwnerConnections(const RemoteTensorsOptions &options) : options_(options) {}
  Result<OwnerLink *> get(const net::Handle &listener);
  void drop(const net::Handle &listener) { open_.erase(listener.bytes); }
  // For accesses that the owner serves.
  Result<ChunkLane *> lane();

private:
  const RemoteTensorsOptions options_;
  std::unique_ptr<ChunkLane> lane_; // outlives the connections
  std::map<std::array<uint8_t, net::Handle::kBytes>, OwnerLink> open_;
};

class PreparedAccess;

class RemoteTensor : public std::enable_shared_from_this<RemoteTensor> {
public:
  const TensorHandle &handle() const { return handle_; }

  // kCollInvalidCall, with owner and argument, if dtype or shape differ from the tensor's, or the
  // part is outside; kCollUnsupported if there is no such way. `Auto` gives the reason for both
  // ways.
  Status readInto(const TensorView &local, const TensorAccess &access = {});
  Status writeFrom(const TensorView &local, const TensorAccess &access = {});
  // The same, to be run later. The local tensor must stay where it is.
  Result<std::unique_ptr<PreparedAccess>> prepareRead(const TensorView &local,
                                                      const TensorAccess &access = {});
  Result<std::unique_ptr<PreparedAccess>> prepareWrite(const TensorView &local,
                                                       const TensorAccess &access = {});

  // Whether the memory is mapped. For tests and statistics.
  bool isMapped() const { return mapping_ != nullptr; }

private:
  friend class RemoteTensors;
  friend class PreparedAccess;
  struct Mapping;

  RemoteTensor(TensorHandle handle, uint64_t handleSum, const RemoteTensorsOptions &options,
               std::shared_ptr<OwnerConnections> connections);

  Result<std::unique_ptr<PreparedAccess>> prepare(const TensorView &local,
                                                  const TensorAccess &access, bool reads);
  Status map();
  Status named(const Status &status, bool reads) const;

  const TensorHandle handle_;
  const uint64_t handleSum_;
  const RemoteTensorsOptions options_;
  const std::shared_ptr<OwnerConnections> connections_;
  std::shared_ptr<Mapping> mapping_;
};

// An access whose checks, plan, mapping or connection, and registration are done. It keeps the
// tensor open.
class PreparedAccess {
public:
  ~PreparedAccess();
  PreparedAccess(const PreparedAccess &) = delete;
  PreparedAccess &operator=(const PreparedAccess &) = delete;

  Via via() const { return via_; }            // the way that was taken
  bool isServed() const { return isServed_; } // Rdma: by the owner's thread
  // Blocks. Allocates nothing and needs no agreement, except that the owner's thread is asked each
  // time if it serves the access. After its connection has failed, the next call connects again.
  Status run();

private:
  friend class RemoteTensor;

  PreparedAccess(std::shared_ptr<RemoteTensor> tensor, std::vector<StridedBox> boxes,
                 const CheckedView &local, bool reads);
  Status choose(Via wanted);
  Status prepareIpc();
  Status prepareRdma();
  bool isBetterServed() const;
  Status byIpc();
  Status byRdma();
  Status byOneSided(OwnerLink &link);
  Status byOwner(OwnerLink &link);

  const std::shared_ptr<RemoteTensor> tensor_;
  const std::vector<StridedBox> boxes_;
  const CheckedView local_;
  const bool reads_;
  const BoxMemory own_;
  Via via_ = Via::Auto;
  const net::Memory *memory_ = nullptr; // registration of the local tensor
  net::Memory *registered_ = nullptr;   // registered by this object
  bool isServed_ = false;
};

class RemoteTensors {
public:
  explicit RemoteTensors(const RemoteTensorsOptions &options);

  // The same object for the same bytes, as long as one is held. The first access
  // connects.
  Result<std::shared_ptr<RemoteTensor>> open(std::string_view handle);

private:
  const RemoteTensorsOptions options_;
  std::shared_ptr<OwnerConnections> connections_;
  std::map<std::string, std::weak_ptr<RemoteTensor>, std::less<>> open_;
};

} // namespace coll::rt::exchange

#endif // COLL_RUNTIME_EXCHANGE_TENSOR_REMOTE_TENSOR_H
