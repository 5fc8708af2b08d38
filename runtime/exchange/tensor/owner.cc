#include "runtime/exchange/tensor/owner.h"

#include "runtime/base/log.h"
#include "runtime/base/thread.h"
#include "runtime/exchange/tensor/memory.h"
#include "runtime/exchange/tensor/wire.h"
#include "runtime/net/auth.h"
#include "runtime/net/node_socket.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace coll::rt::exchange {

namespace {

constexpr size_t kMostName = 100;
constexpr int kBacklog = 64;
// A client that does not finish its question, or does not read the answer, delays others by at most
// this.
constexpr int64_t kPatienceUs = 1'000'000;
// The pause before the next attempt to accept clients, if there is no descriptor for them.
constexpr int kPauseMs = 50;

} // namespace

struct TensorOwner::Published {
  TensorHandle handle;
  uint64_t handleSum = 0;
  const char *data = nullptr;
  TensorAnswer answer;
  int segmentFd = -1;                // Shared: descriptor of a segment
  const gpu::Block *block = nullptr; // Gpu: the block that has a descriptor
  net::Memory *memory = nullptr;     // registration with the transport, if that reaches it
  TensorServer::Tensor served;       // over the transport
};

struct TensorOwner::Client {
  Fd fd;
  uint64_t tensor = 0; // 0: the client has not asked yet
};

TensorOwner::TensorOwner(const TensorOwnerOptions &options) : options_(options) {}

Result<std::unique_ptr<TensorOwner>> TensorOwner::create(const TensorOwnerOptions &options) {
  if (options.name.size() > kMostName)
    return Status::invalid("an owner's name has up to " + std::to_string(kMostName) + " letters");
  std::unique_ptr<TensorOwner> owner(new TensorOwner(options));
  COLL_RETURN_IF_ERROR(owner->listen());
  COLL_RETURN_IF_ERROR(startThread(owner->thread_, "the readers of shared tensors",
                                   [raw = owner.get()] { raw->serve(); }));
  return owner;
}

Status TensorOwner::listen() {
  Result<std::string> name = net::freshNodeName();
  if (!name)
    return name.status();
  socketName_ = name.take();
  Result<Fd> socket = net::listenOnNode(socketName_, kBacklog);
  if (!socket)
    return socket.status();
  socket_ = socket.take();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return net::linkError("a pipe", errno);
  wake_[0] = Fd(ends[0]);
  wake_[1] = Fd(ends[1]);
  if (!options_.transport)
    return {};
  Result<std::unique_ptr<TensorServer>> server =
      TensorServer::create(*options_.transport, options_.device, options_.gpu,
                           [this](const BoxQuestion &question) { return find(question); });
  if (!server)
    return server.status();
  server_ = server.take();
  return {};
}

TensorOwner::~TensorOwner() {
  if (thread_.joinable()) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      leaving_ = true;
    }
    wake();
    thread_.join();
  }
  clients_.clear();
  server_.reset(); // afterwards no peer accesses the memory
  for (auto &[id, tensor] : published_)
    end(tensor);
}

void TensorOwner::wake() { (void)!write(wake_[1].get(), "x", 1); }

//===-- memory ------------------------------------------------------------------===//

Result<void *> TensorOwner::allocate(int64_t bytes) {
  Result<SharedSegment> segment = SharedSegment::create(bytes);
  if (!segment)
    return segment.status();
  std::lock_guard<std::mutex> lock(mutex_);
  segments_.push_back(segment.take());
  return static_cast<void *>(segments_.back().data());
}

Result<void *> TensorOwner::allocateGpu(int64_t bytes) {
  if (!options_.gpu)
    return Status::invalid("this owner has no GPU");
  std::lock_guard<std::mutex> lock(mutex_);
  Result<gpu::Block> block =
      gpu::Block::create(options_.gpu, gpu::Sharing::Vmm, std::max<int64_t>(bytes, 1), nextId_++);
  if (!block)
    return block.status();
  blocks_.push_back(block.take());
  return static_cast<void *>(blocks_.back().data());
}

Status TensorOwner::release(void *data) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto segment = std::find_if(segments_.begin(), segments_.end(),
                              [&](const SharedSegment &s) { return s.data() == data; });
  auto block = std::find_if(blocks_.begin(), blocks_.end(),
                            [&](const gpu::Block &b) { return b.data() == data; });
  if (segment == segments_.end() && block == blocks_.end())
    return Status::invalid("this owner has not allocated the memory");
  const int64_t bytes = segment != segments_.end() ? segment->bytes() : block->bytes();
  for (const auto &[id, tensor] : published_)
    if (tensor.data >= data && tensor.data < static_cast<char *>(data) + bytes)
      return Status::invalid("a tensor in the memory is still published");
  if (segment != segments_.end())
    segments_.erase(segment);
  else
    blocks_.erase(block);
  return {};
}

//===-- tensors -----------------------------------------------------------------===//

Result<std::string> TensorOwner::publish(const TensorView &tensor, const TensorWays &ways) {
  Result<CheckedView> checked = checkView(tensor, /*written=*/true);
  if (!checked)
    return checked.status();
  if (!ways.ipc && !ways.rdma)
    return Status::invalid("a tensor has to be reachable by ipc, by rdma or by both");
  Published made;
  made.data = static_cast<char *>(tensor.data);
  made.handle.owner = options_.name;
  made.handle.dtype = tensor.dtype;
  made.handle.shape = tensor.shape;
  made.handle.strides = checked->view.strides;
  COLL_RETURN_IF_ERROR(net::fillRandom(&made.handle.key, sizeof(made.handle.key)));
  if (ways.rdma)
    COLL_RETURN_IF_ERROR(expose(made, *checked).annotate("rdma"));
  std::lock_guard<std::mutex> lock(mutex_);
  made.handle.id = nextId_++;
  if (ways.ipc)
    if (Status shared = share(made, *checked); !shared.ok()) {
      end(made);
      return shared.annotate("ipc");
    }
  std::string bytes = made.handle.serialize();
  made.handleSum = sumOf(bytes);
  published_.emplace(made.handle.id, std::move(made));
  return bytes;
}

// Publishes the tensor inside the node.
Status TensorOwner::share(Published &tensor, const CheckedView &checked) {
  auto *data = static_cast<char *>(checked.view.data);
  for (const SharedSegment &segment : segments_)
    if (segment.holds(data)) {
      if (data + checked.span > segment.data() + segment.bytes())
        return Status::invalid("the tensor is larger than the memory that it is in");
      tensor.segmentFd = segment.fd().get();
      tensor.answer.memory = TensorMemory::Shared;
      tensor.answer.offset = data - segment.data();
      tensor.handle.socket = socketName_;
      return {};
    }
  if (!options_.gpu || !dl::cudaPointerInfo(options_.gpu->cuda(), data).device)
    return {kCollUnsupported, "host memory that other processes can map comes from allocate()"};
  tensor.answer.memory = TensorMemory::Gpu;
  for (const gpu::Block &block : blocks_)
    if (data >= block.data() && data < block.data() + block.bytes()) {
      if (data + checked.span > block.data() + block.bytes())
        return Status::invalid("the tensor is larger than the memory that it is in");
      tensor.block = &block;
      tensor.answer.exported = block.exported();
      tensor.answer.exported.offset += data - block.data();
    }
  if (!tensor.block) {
    Result<gpu::Block> block = gpu::Block::of(options_.gpu, gpu::Sharing::Ipc, data, checked.span);
    if (!block)
      return block.status();
    tensor.answer.exported = block->exported();
  }
  tensor.handle.socket = socketName_;
  return {};
}

// Publishes the tensor over the transport.
Status TensorOwner::expose(Published &tensor, const CheckedView &checked) {
  if (!server_)
    return {kCollUnsupported, "this owner has no transport"};
  tensor.served = {memoryAt(options_.gpu, checked.view.data), checked.span};
  Result<net::Memory *> memory =
      registerReached(*options_.transport, options_.device, tensor.served.memory, checked.span);
  if (!memory)
    return memory.status();
  tensor.memory = *memory;
  tensor.handle.transport = options_.transport->name();
  tensor.handle.listener = server_->handle();
  if (!tensor.memory)
    return server_->prepare();
  tensor.handle.memory = tensor.memory->remoteKey();
  return {};
}

Result<TensorServer::Tensor> TensorOwner::find(const BoxQuestion &question) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto at = published_.find(question.id);
  if (at == published_.end())
    return Status(kCollPeer, "the tensor has been withdrawn");
  const Published &tensor = at->second;
  if (tensor.handle.key != question.key || tensor.handleSum != question.handleSum ||
      tensor.handle.transport.empty())
    return Status::invalid("the handle is not the one that was published");
  return tensor.served;
}

Status TensorOwner::withdraw(std::string_view bytes) {
  Result<TensorHandle> handle = TensorHandle::parse(bytes);
  if (!handle)
    return handle.status();
  Published gone;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto at = published_.find(handle->id);
    if (at == published_.end() || at->second.handleSum != sumOf(bytes))
      return Status::invalid("owner \"" + options_.name +
                             "\" has no such tensor, or has withdrawn it");
    gone = std::move(at->second);
    published_.erase(at);
    // Closing the socket is not enough: it stays open while the thread polls it.
    for (Client &client : clients_)
      if (client.tensor == handle->id)
        (void)shutdown(client.fd.get(), SHUT_RDWR);
  }
  if (server_)
    server_->end(handle->id);
  end(gone);
  return {};
}

void TensorOwner::end(Published &tensor) {
  if (tensor.memory)
    options_.transport->deregMr(std::exchange(tensor.memory, nullptr));
}

//===-- the thread --------------------------------------------------------------===//

void TensorOwner::serve() {
  bool mayAccept = true;
  while (true) {
    // If there is no descriptor for waiting clients, the listening socket would stay readable.
    std::vector<pollfd> waited = {{wake_[0].get(), POLLIN, 0},
                                  {mayAccept ? socket_.get() : -1, POLLIN, 0}};
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (leaving_)
        return;
      for (const Client &client : clients_)
        waited.push_back({client.fd.get(), POLLIN, 0});
    }
    const int ready = poll(waited.data(), waited.size(), mayAccept ? -1 : kPauseMs);
    mayAccept = true;
    if (ready < 0) {
      // EINVAL: more descriptors are polled than are allowed.
      if (errno != EINTR)
        complain(errno == EINVAL ? EMFILE : errno);
      std::this_thread::sleep_for(std::chrono::milliseconds(kPauseMs));
      continue;
    }
    char drained[64];
    while (read(wake_[0].get(), drained, sizeof(drained)) > 0) {
    }
    std::lock_guard<std::mutex> lock(mutex_);
    for (size_t i = 2; i < waited.size(); ++i)
      for (Client &client : clients_)
        if (waited[i].revents && client.fd.get() == waited[i].fd)
          answer(client);
    clients_.erase(std::remove_if(clients_.begin(), clients_.end(),
                                  [](const Client &client) { return !client.fd.valid(); }),
                   clients_.end());
    if (waited[1].revents)
      mayAccept = accept();
  }
}

// Accepts waiting clients; false if that fails for lack of descriptors or memory.
bool TensorOwner::accept() {
  Result<Fd> fd = net::acceptOnNode(socket_, /*blocking=*/true);
  if (!fd)
    return true; // the connection did not come from this user, and is closed
  if (!fd->valid()) {
    complain(errno);
    return false;
  }
  net::limitWaiting(*fd, kPatienceUs);
  clients_.push_back({fd.take(), 0});
  return true;
}

void TensorOwner::complain(int error) {
  if (!std::exchange(hasComplained_, true))
    log(LogLevel::Warn,
        "owner \"" + options_.name + "\": opening its tensors is delayed: " + std::strerror(error));
}

// Answers one question; further input, or the end of input, ends the client.
void TensorOwner::answer(Client &client) {
  TensorQuestion question;
  if (client.tensor != 0 ||
      !net::receiveFromNode(client.fd.get(), &question, sizeof(question)).ok() ||
      question.magic != TensorQuestion::kMagic) {
    client.fd.reset();
    return;
  }
  TensorAnswer answer;
  Fd descriptor;
  int given = -1;
  const auto at = published_.find(question.id);
  Status refused;
  if (at == published_.end())
    refused = Status(kCollPeer, "the tensor has been withdrawn");
  else if (at->second.handle.key != question.key || at->second.handleSum != question.handleSum)
    refused = Status::invalid("the handle is not the one that was published");
  else
    answer = at->second.answer;
  if (refused.ok() && at->second.segmentFd >= 0)
    given = at->second.segmentFd;
  if (refused.ok() && at->second.block) {
    Result<Fd> made = at->second.block->descriptor();
    if (made)
      descriptor = made.take();
    else
      refused = made.status();
    given = descriptor.get();
  }
  answer.code = refused.code();
  std::strncpy(answer.text, refused.message().c_str(), sizeof(answer.text) - 1);
  if (net::sendToNode(client.fd.get(), &answer, sizeof(answer), refused.ok() ? given : -1).ok() &&
      refused.ok())
    client.tensor = question.id;
  else
    client.fd.reset();
}

} // namespace coll::rt::exchange
