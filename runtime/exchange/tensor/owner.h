// owner.h - publishes tensors of this process for other processes (remote_tensor.h).
//
//   auto owner = TensorOwner::create({"rank 3", transport}).take();
//   void *data = owner->allocate(bytes).take();                       // others can map it
//   std::string handle = owner->publish({kCollF32, {n}, {}, data}, {true, true}).take();
//   …the bytes of the handle reach another process…
//   owner->withdraw(handle);                                          // or at the owner's end
//
// A thread of the owner answers processes that open its tensors inside the node. With a transport,
// another thread accepts its connections and serves accesses that the transport cannot do by itself
// (server.h). The owner is not notified of accesses. If this process has no descriptors left,
// processes that open a tensor wait; the log says so.
//
// After withdraw() no access begins: the next one fails because the tensor is withdrawn. An access
// inside the node that is in progress may continue, in memory that stays mapped in that process.
// Memory of cudaMalloc may be freed only when readers have closed it. Over a transport, withdraw()
// waits for accesses.
//
// Any thread may call it.

#ifndef COLL_RUNTIME_EXCHANGE_TENSOR_OWNER_H
#define COLL_RUNTIME_EXCHANGE_TENSOR_OWNER_H

#include "runtime/exchange/tensor/handle.h"
#include "runtime/exchange/tensor/server.h"
#include "runtime/exchange/tensor/shared_segment.h"
#include "runtime/gpu/memory.h"

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace coll::rt::exchange {

struct TensorOwnerOptions {
  std::string name = "owner"; // for messages; up to 100 letters
  // For access over a network; it outlives the owner.
  net::Transport *transport = nullptr;
  int device = 0;
  // For tensors of GPU memory.
  std::shared_ptr<dl::GpuContext> gpu;
};

// The ways by which others may access a tensor.
struct TensorWays {
  bool ipc = true;
  bool rdma = false;
};

class TensorOwner {
public:
  static Result<std::unique_ptr<TensorOwner>> create(const TensorOwnerOptions &options);
  ~TensorOwner(); // withdraws all, and frees what was allocated
  TensorOwner(const TensorOwner &) = delete;
  TensorOwner &operator=(const TensorOwner &) = delete;

  // Host memory, all 0, that other processes can map.
  Result<void *> allocate(int64_t bytes);
  // The same on the GPU: physical memory with a descriptor (VMM). Memory of cudaMalloc can be
  // published without it.
  Result<void *> allocateGpu(int64_t bytes);
  // Frees memory of allocate() or allocateGpu(); no published tensor may be in it.
  Status release(void *data);

  // Returns the handle's bytes. kCollInvalidCall or kCollUnsupported say why the tensor cannot be
  // reached in one of the requested ways.
  Result<std::string> publish(const TensorView &tensor, const TensorWays &ways);
  // Withdraws the tensor for all processes. kCollInvalidCall if the tensor is not this owner's, or
  // was already withdrawn.
  Status withdraw(std::string_view handle);

private:
  struct Published;
  struct Client;

  explicit TensorOwner(const TensorOwnerOptions &options);
  Status listen();
  Status share(Published &tensor, const CheckedView &checked);
  Status expose(Published &tensor, const CheckedView &checked);
  Result<TensorServer::Tensor> find(const BoxQuestion &question);
  void serve();
  void answer(Client &client);
  void wake();
  bool accept();
  void complain(int error); // logs it once
  void end(Published &tensor);

  const TensorOwnerOptions options_;
  std::string socketName_;
  Fd socket_, wake_[2];
  // protects the members below, except the server, which calls with a lock of its own held
  std::mutex mutex_;
  bool leaving_ = false;
  uint64_t nextId_ = 1;
  std::list<SharedSegment> segments_;
  std::list<gpu::Block> blocks_; // tensors point to them
  std::map<uint64_t, Published> published_;
  std::vector<Client> clients_;
  std::unique_ptr<TensorServer> server_; // null without a transport
  std::thread thread_;
  bool hasComplained_ = false; // used by the thread alone
};

} // namespace coll::rt::exchange

#endif // COLL_RUNTIME_EXCHANGE_TENSOR_OWNER_H
