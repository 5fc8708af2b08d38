// remote.h - tensors that other processes reach, and tensors of other processes.

#ifndef COLL_EMBED_C_REMOTE_H
#define COLL_EMBED_C_REMOTE_H

#include "embed/c/coll_exchange.h"
#include "embed/c/tensor.h"
#include "runtime/exchange/tensor/owner.h"
#include "runtime/exchange/tensor/remote_tensor.h"

#include <map>
#include <mutex>
#include <string>

namespace coll::embed {

// Publishes tensors of this process. From any thread.
class Owner : public std::enable_shared_from_this<Owner> {
public:
  static constexpr Kind kKind = Kind::Owner;

  static Outcome create(const coll_exchange_options &options, std::shared_ptr<Owner> &owner);

  // The tensor keeps the owner, whose memory it is.
  Outcome allocate(int32_t dtype, int32_t numDims, const int64_t *shape,
                   std::shared_ptr<Tensor> &tensor);
  Outcome publish(std::shared_ptr<Tensor> tensor, std::string &handle);
  Outcome withdraw(const std::string &handle);
  // Withdraws all that is published.
  void end();

private:
  std::unique_ptr<net::Transport> transport_; // null: within the machine alone
  std::unique_ptr<rt::exchange::TensorOwner> owner_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Tensor>> published_; // by handle
};

// A tensor of another process. From any thread; accesses run one after another.
class Remote {
public:
  static constexpr Kind kKind = Kind::Remote;

  static Outcome open(const coll_exchange_options &options, std::string handle,
                      std::shared_ptr<Remote> &remote);

  CollDtype dtype() const { return tensor_->handle().dtype; }
  const std::vector<int64_t> &shape() const { return tensor_->handle().shape; }

  Outcome read(const int64_t *begin, const int64_t *extent, std::shared_ptr<Tensor> &tensor);
  Outcome write(const int64_t *begin, const Tensor &tensor);

private:
  std::unique_ptr<net::Transport> transport_; // outlives the rest
  std::unique_ptr<rt::exchange::RemoteTensors> remotes_;
  std::shared_ptr<rt::exchange::RemoteTensor> tensor_;
  std::mutex mutex_;
};

} // namespace coll::embed

#endif // COLL_EMBED_C_REMOTE_H
