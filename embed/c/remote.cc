#include "embed/c/remote.h"

#include "embed/c/structs.h"
#include "runtime/backend/net/transports.h"
#include "runtime/base/dtype.h"

namespace coll::embed {
namespace {

constexpr int64_t kDefaultTimeoutUs = 60'000'000;

int64_t timeoutOf(const coll_exchange_options &options) {
  return options.timeout_us > 0 ? options.timeout_us : kDefaultTimeoutUs;
}

// Null if the options name none.
Outcome openTransport(const coll_exchange_options &options,
                      std::unique_ptr<net::Transport> &transport) {
  if (options.timeout_us < 0)
    return invalid("timeout_us is " + std::to_string(options.timeout_us) + ": expected 0 or more");
  if (!options.transport)
    return nullptr;
  if (!options.secret)
    return invalid("a transport needs coll_exchange_options.secret");
  rt::Result<net::Secret> secret = net::Secret::create(options.secret);
  if (!secret)
    return fail(secret.status());
  rt::network::TransportOptions transportOptions;
  transportOptions.iface = orElse(options.interface, "");
  transportOptions.timeoutUs = timeoutOf(options);
  auto made = rt::network::createTransport(options.transport, transportOptions, *secret);
  if (!made)
    return fail(made.status());
  transport = made.take();
  return nullptr;
}

rt::exchange::TensorView viewOf(const Tensor &tensor) {
  rt::exchange::TensorView view;
  view.dtype = tensor.dtype();
  view.shape = tensor.shape();
  view.strides = tensor.strides();
  view.data = const_cast<void *>(tensor.data());
  return view;
}

} // namespace

Outcome Owner::create(const coll_exchange_options &options, std::shared_ptr<Owner> &owner) {
  auto made = std::make_shared<Owner>();
  COLL_EMBED_TRY(openTransport(options, made->transport_));
  rt::exchange::TensorOwnerOptions ownerOptions;
  ownerOptions.name = orElse(options.name, "owner");
  ownerOptions.transport = made->transport_.get();
  auto started = rt::exchange::TensorOwner::create(ownerOptions);
  if (!started)
    return fail(started.status());
  made->owner_ = started.take();
  owner = std::move(made);
  return nullptr;
}

Outcome Owner::allocate(int32_t dtype, int32_t numDims, const int64_t *shape,
                        std::shared_ptr<Tensor> &tensor) {
  // The type is checked with a placeholder address, from which nothing is read.
  std::shared_ptr<Tensor> checked;
  COLL_EMBED_TRY(Tensor::create(dtype, numDims, shape, nullptr, this, checked));
  int64_t bytes = rt::dtypeSize(checked->dtype());
  for (int64_t extent : checked->shape())
    bytes *= extent;
  rt::Result<void *> memory = owner_->allocate(std::max<int64_t>(bytes, 1));
  if (!memory)
    return fail(memory.status());
  COLL_EMBED_TRY(Tensor::create(dtype, numDims, shape, nullptr, *memory, tensor));
  // Tensors that are still published are withdrawn with the owner.
  tensor->setDeleter(
      [owner = shared_from_this(), data = *memory] { (void)owner->owner_->release(data); });
  return nullptr;
}

Outcome Owner::publish(std::shared_ptr<Tensor> tensor, std::string &handle) {
  rt::exchange::TensorWays ways;
  ways.rdma = transport_ != nullptr;
  rt::Result<std::string> made = owner_->publish(viewOf(*tensor), ways);
  if (!made && ways.rdma) { // memory of the caller's, which others cannot map
    ways.ipc = false;
    made = owner_->publish(viewOf(*tensor), ways);
  }
  if (!made)
    return fail(made.status());
  handle = made.take();
  std::lock_guard lock(mutex_);
  published_[handle] = std::move(tensor);
  return nullptr;
}

Outcome Owner::withdraw(const std::string &handle) {
  if (rt::Status status = owner_->withdraw(handle); !status.ok())
    return fail(status);
  std::shared_ptr<Tensor> tensor; // ends after the lock
  std::lock_guard lock(mutex_);
  const auto found = published_.find(handle);
  if (found != published_.end()) {
    tensor = std::move(found->second);
    published_.erase(found);
  }
  return nullptr;
}

void Owner::end() {
  std::map<std::string, std::shared_ptr<Tensor>> all;
  {
    std::lock_guard lock(mutex_);
    all.swap(published_);
  }
  for (const auto &[handle, tensor] : all)
    (void)owner_->withdraw(handle);
}

Outcome Remote::open(const coll_exchange_options &options, std::string handle,
                     std::shared_ptr<Remote> &remote) {
  auto made = std::make_shared<Remote>();
  COLL_EMBED_TRY(openTransport(options, made->transport_));
  rt::exchange::RemoteTensorsOptions remoteOptions;
  remoteOptions.transport = made->transport_.get();
  remoteOptions.timeoutUs = timeoutOf(options);
  made->remotes_ = std::make_unique<rt::exchange::RemoteTensors>(remoteOptions);
  auto opened = made->remotes_->open(handle);
  if (!opened)
    return fail(opened.status());
  made->tensor_ = opened.take();
  remote = std::move(made);
  return nullptr;
}

Outcome Remote::read(const int64_t *begin, const int64_t *extent, std::shared_ptr<Tensor> &tensor) {
  if (!begin != !extent)
    return invalid("begin and extent are given together, or neither");
  rt::exchange::TensorAccess access;
  std::vector<int64_t> wanted = shape();
  if (begin) {
    wanted.assign(extent, extent + shape().size());
    access.part = rt::exchange::Region{{begin, begin + shape().size()}, wanted};
  }
  rt::Result<rt::HostTensor> local = rt::HostTensor::zeros(dtype(), wanted);
  if (!local)
    return fail(local.status());
  rt::exchange::TensorView view;
  view.dtype = dtype();
  view.shape = wanted;
  view.data = local->data.data();
  {
    std::lock_guard lock(mutex_);
    if (rt::Status status = tensor_->readInto(view, access); !status.ok())
      return fail(status);
  }
  tensor = std::make_shared<Tensor>(local.take());
  return nullptr;
}

Outcome Remote::write(const int64_t *begin, const Tensor &tensor) {
  if (tensor.shape().size() != shape().size())
    return invalid("the tensor has " + std::to_string(tensor.shape().size()) +
                   " dimensions, the remote one " + std::to_string(shape().size()));
  rt::exchange::TensorAccess access;
  const std::vector<int64_t> zeros(shape().size(), 0);
  const int64_t *from = begin ? begin : zeros.data();
  access.part = rt::exchange::Region{{from, from + shape().size()}, tensor.shape()};
  std::lock_guard lock(mutex_);
  return fail(tensor_->writeFrom(viewOf(tensor), access));
}

} // namespace coll::embed

using namespace coll::embed;

static Outcome readOptions(const coll_exchange_options *given, coll_exchange_options &options) {
  options = {};
  return given ? readStruct(given, "coll_exchange_options", options) : nullptr;
}

// The bytes of a handle that another process has sent.
static Outcome readHandle(const void *handle, size_t bytes, std::string &text) {
  if (!handle || bytes == 0 || bytes > COLL_EXCHANGE_HANDLE_BYTES)
    return invalid("these are not the bytes of a handle");
  text.assign(static_cast<const char *>(handle), bytes);
  return nullptr;
}

coll_error coll_owner_create(const coll_exchange_options *given, coll_owner *owner) {
  return guarded([&]() -> Outcome {
    if (!owner)
      return invalid("owner is null");
    coll_exchange_options options;
    COLL_EMBED_TRY(readOptions(given, options));
    std::shared_ptr<Owner> made;
    COLL_EMBED_TRY(Owner::create(options, made));
    makeHandle(std::move(made), owner);
    return nullptr;
  });
}

coll_error coll_owner_free(coll_owner owner) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Owner> object;
    COLL_EMBED_TRY(freeHandle(owner, "owner", object));
    if (object)
      object->end();
    return nullptr;
  });
}

coll_error coll_owner_allocate(coll_owner owner, int32_t dtype, int32_t num_dims,
                               const int64_t *shape, coll_tensor *tensor) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Owner> object;
    COLL_EMBED_TRY(findObject(owner, "owner", object));
    if (!tensor)
      return invalid("tensor is null");
    std::shared_ptr<Tensor> made;
    COLL_EMBED_TRY(object->allocate(dtype, num_dims, shape, made));
    makeHandle(std::move(made), tensor);
    return nullptr;
  });
}

coll_error coll_owner_publish(coll_owner owner, coll_tensor tensor, void *handle, size_t capacity,
                              size_t *bytes) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Owner> object;
    COLL_EMBED_TRY(findObject(owner, "owner", object));
    std::shared_ptr<Tensor> published;
    COLL_EMBED_TRY(findObject(tensor, "tensor", published));
    if (!handle || !bytes)
      return invalid(handle ? "bytes is null" : "handle is null");
    std::string text;
    COLL_EMBED_TRY(object->publish(std::move(published), text));
    if (text.size() > capacity) {
      COLL_EMBED_TRY(object->withdraw(text));
      return invalid("the handle has " + std::to_string(text.size()) + " bytes; capacity is " +
                     std::to_string(capacity));
    }
    std::memcpy(handle, text.data(), text.size());
    *bytes = text.size();
    return nullptr;
  });
}

coll_error coll_owner_withdraw(coll_owner owner, const void *handle, size_t bytes) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Owner> object;
    COLL_EMBED_TRY(findObject(owner, "owner", object));
    std::string text;
    COLL_EMBED_TRY(readHandle(handle, bytes, text));
    return object->withdraw(text);
  });
}

coll_error coll_remote_open(const coll_exchange_options *given, const void *handle, size_t bytes,
                            coll_remote *remote) {
  return guarded([&]() -> Outcome {
    if (!remote)
      return invalid("remote is null");
    coll_exchange_options options;
    COLL_EMBED_TRY(readOptions(given, options));
    std::string text;
    COLL_EMBED_TRY(readHandle(handle, bytes, text));
    std::shared_ptr<Remote> made;
    COLL_EMBED_TRY(Remote::open(options, std::move(text), made));
    makeHandle(std::move(made), remote);
    return nullptr;
  });
}

coll_error coll_remote_free(coll_remote remote) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Remote> object;
    return freeHandle(remote, "remote", object);
  });
}

coll_error coll_remote_describe(coll_remote remote, coll_tensor_view *view) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Remote> object;
    COLL_EMBED_TRY(findObject(remote, "remote", object));
    coll_tensor_view filled = {};
    filled.dtype = object->dtype();
    filled.num_dims = static_cast<int32_t>(object->shape().size());
    filled.shape = object->shape().data();
    return writeStruct(filled, "coll_tensor_view", view);
  });
}

coll_error coll_remote_read(coll_remote remote, const int64_t *begin, const int64_t *extent,
                            coll_tensor *tensor) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Remote> object;
    COLL_EMBED_TRY(findObject(remote, "remote", object));
    if (!tensor)
      return invalid("tensor is null");
    std::shared_ptr<Tensor> made;
    COLL_EMBED_TRY(object->read(begin, extent, made));
    makeHandle(std::move(made), tensor);
    return nullptr;
  });
}

coll_error coll_remote_write(coll_remote remote, const int64_t *begin, coll_tensor tensor) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Remote> object;
    COLL_EMBED_TRY(findObject(remote, "remote", object));
    std::shared_ptr<Tensor> written;
    COLL_EMBED_TRY(findObject(tensor, "tensor", written));
    return object->write(begin, *written);
  });
}
