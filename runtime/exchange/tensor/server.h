// server.h - the owner's side of access over a transport.
//
// It takes connections, whose one-sided reads and writes the transport serves by itself. Where that
// does not reach the memory of both sides, the other side asks (wire.h), and the server's
// thread moves the bytes by way of pinned memory, on a stream of its own, several chunks at a time.
//
// While there is something to do the thread is awake; a second after the last access it looks for
// questions, and for connections, every five milliseconds.

#ifndef COLL_RUNTIME_EXCHANGE_TENSOR_SERVER_H
#define COLL_RUNTIME_EXCHANGE_TENSOR_SERVER_H

#include "runtime/exchange/flow/box_flow.h"
#include "runtime/exchange/tensor/wire.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace coll::rt::exchange {

class TensorServer {
public:
  struct Tensor {
    BoxMemory memory;
    int64_t span = 0; // bytes
  };
  // What a question means, or why it is refused. Asked in the server's thread.
  using Find = std::function<Result<Tensor>(const BoxQuestion &question)>;

  // `gpu`: of tensors in GPU memory, or null. The transport outlives the server.
  static Result<std::unique_ptr<TensorServer>>
  create(net::Transport &transport, int device, std::shared_ptr<dl::GpuContext> gpu, Find find);
  ~TensorServer(); // closes; no memory is touched any more

  const net::Handle &handle() const { return listener_->handle(); }
  // Makes what the first access needs.
  Status prepare();
  // Ends accesses to a tensor that is no longer found. Afterwards none touches its memory.
  void end(uint64_t id);

private:
  static constexpr size_t kMostLanes = 16; // accesses at a time; others wait
  // Somebody who connected, and what is said with him.
  struct Guest {
    enum class Step { Asked, Answering, Moving, Ending };
    Step step = Step::Asked;
    BoxQuestion question;
    BoxAnswer answer;
    Tensor tensor;
    net::Request *request = nullptr; // of the question or of an answer
    uint64_t came = 0;               // bytes of the question
    int64_t lastUs = 0;              // when something has moved
    std::unique_ptr<ChunkLane> lane;
    std::optional<ChunkRun> run;
    std::unique_ptr<net::Connection> connection; // ends before the buffers do
  };

  TensorServer(net::Transport &transport, int device, std::shared_ptr<dl::GpuContext> gpu,
               Find find)
      : transport_(transport), device_(device), gpu_(std::move(gpu)), find_(std::move(find)) {}
  void serve();
  bool accept();
  // Whether something has moved.
  bool advanceAll();
  Result<bool> advance(Guest &guest);
  Result<bool> listen(Guest &guest);
  Result<bool> move(Guest &guest);
  Status begin(Guest &guest);
  void say(Guest &guest, const Status &status, Guest::Step step);
  Result<bool> pass(Guest &guest, bool isSend, uint64_t tag, void *data, size_t bytes);
  Status addLane();
  void release(Guest &guest);

  net::Transport &transport_;
  const int device_;
  const std::shared_ptr<dl::GpuContext> gpu_;
  const Find find_;
  std::unique_ptr<net::Listener> listener_;
  std::mutex mutex_; // what follows
  std::condition_variable left_;
  bool leaving_ = false;
  size_t lanes_ = 0;
  std::vector<std::unique_ptr<ChunkLane>> freeLanes_;
  std::vector<std::unique_ptr<Guest>> guests_;
  std::thread thread_;
};

} // namespace coll::rt::exchange

#endif // COLL_RUNTIME_EXCHANGE_TENSOR_SERVER_H
