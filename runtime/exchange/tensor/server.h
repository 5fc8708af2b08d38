// server.h - the owner's side of access over a transport.
//
// It accepts connections, whose one-sided reads and writes the transport serves by itself. If the
// transport does not reach the memory of both sides, the client asks (wire.h), and the server's
// thread moves the bytes through pinned memory, on its own stream, several chunks at a time.
//
// The thread is awake while there is work. From one second after the last access on, it only polls
// for questions and connections every five milliseconds.

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
  // The tensor of a question, or why it is refused. Called in the server's thread.
  using Find = std::function<Result<Tensor>(const BoxQuestion &question)>;

  // `gpu`: for tensors in GPU memory, or null. The transport outlives the server.
  static Result<std::unique_ptr<TensorServer>>
  create(net::Transport &transport, int device, std::shared_ptr<dl::GpuContext> gpu, Find find);
  ~TensorServer(); // closes; afterwards no memory is accessed

  const net::Handle &handle() const { return listener_->handle(); }
  // Creates the resources that the first access needs.
  Status prepare();
  // Ends accesses to a tensor that was withdrawn. Afterwards its memory is not accessed.
  void end(uint64_t id);

private:
  static constexpr size_t kMostLanes = 16; // accesses at the same time; others wait
  // A connected client, and the state of the exchange with it.
  struct Guest {
    enum class Step { Asked, Answering, Moving, Ending };
    Step step = Step::Asked;
    BoxQuestion question;
    BoxAnswer answer;
    Tensor tensor;
    net::Request *request = nullptr; // of the question or of an answer
    uint64_t came = 0;               // bytes of the question that have arrived
    int64_t lastUs = 0;              // time of the last progress
    std::unique_ptr<ChunkLane> lane;
    std::optional<ChunkRun> run;
    std::unique_ptr<net::Connection> connection; // destroyed before the buffers
  };

  TensorServer(net::Transport &transport, int device, std::shared_ptr<dl::GpuContext> gpu,
               Find find)
      : transport_(transport), device_(device), gpu_(std::move(gpu)), find_(std::move(find)) {}
  void serve();
  bool accept();
  // Whether there was progress.
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
  std::mutex mutex_; // protects the members below
  std::condition_variable left_;
  bool leaving_ = false;
  size_t lanes_ = 0;
  std::vector<std::unique_ptr<ChunkLane>> freeLanes_;
  std::vector<std::unique_ptr<Guest>> guests_;
  std::thread thread_;
};

} // namespace coll::rt::exchange

#endif // COLL_RUNTIME_EXCHANGE_TENSOR_SERVER_H
