// owner.h - tensors of this process that others may read and write (remote_tensor.h).
//
//   auto owner = TensorOwner::create({"rank 3", transport}).take();
//   void *data = owner->allocate(bytes).take();                       // others can map it
//   std::string handle = owner->publish({kCollF32, {n}, {}, data}, {true, true}).take();
//   …the bytes of the handle reach another process…
//   owner->withdraw(handle);                                          // or at the owner's end
//
// A thread of the owner answers those who open its tensors inside the node; where it has a
// transport, another takes connections of that, and serves those whose accesses the transport
// cannot do by itself (server.h). What others do with a tensor is not told to the owner.
// Where this process has no descriptors left, who opens one waits until there are; the log says so.
//
// After withdraw() no access begins: the next one is told that the tensor is gone. One inside the
// node that is under way may go on for its length, in memory that stays mapped there; memory of
// cudaMalloc may only be freed when readers have closed it. Over a transport withdraw() waits for
// it.
//
// Threads: any.

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

// By which ways others may come.
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
  // The same of the GPU: physical memory with a descriptor (VMM). Memory of cudaMalloc needs
  // nothing.
  Result<void *> allocateGpu(int64_t bytes);
  // Frees what these have given; no tensor in it is published any more.
  Status release(void *data);

  // The handle's bytes. kCollInvalidCall, kCollUnsupported: why the tensor cannot be reached that
  // way.
  Result<std::string> publish(const TensorView &tensor, const TensorWays &ways);
  // Ends it for everyone. kCollInvalidCall where it is none of this owner's, or was withdrawn.
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
  void complain(int error); // once
  void end(Published &tensor);

  const TensorOwnerOptions options_;
  std::string socketName_;
  Fd socket_, wake_[2];
  std::mutex mutex_; // what follows, but for the server, which asks with a lock of its own held
  bool leaving_ = false;
  uint64_t nextId_ = 1;
  std::list<SharedSegment> segments_;
  std::list<gpu::Block> blocks_; // tensors point at them
  std::map<uint64_t, Published> published_;
  std::vector<Client> clients_;
  std::unique_ptr<TensorServer> server_; // null without a transport
  std::thread thread_;
  bool hasComplained_ = false; // of the thread alone
};

} // namespace coll::rt::exchange

#endif // COLL_RUNTIME_EXCHANGE_TENSOR_OWNER_H
