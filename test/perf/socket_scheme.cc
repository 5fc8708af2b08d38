#include "test/perf/socket_scheme.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace coll::perf {

namespace {

constexpr size_t kLeastTask = 64 << 10;

// Moves as much as the socket accepts or has.
size_t move(bool receives, int fd, uint8_t *data, size_t bytes) {
  size_t moved = 0;
  while (moved < bytes) {
    ssize_t count = receives ? ::recv(fd, data + moved, bytes - moved, MSG_DONTWAIT)
                             : ::send(fd, data + moved, bytes - moved, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count > 0) {
      moved += static_cast<size_t>(count);
      continue;
    }
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
      return moved;
    std::perror("socket scheme");
    std::_Exit(1);
  }
  return moved;
}

} // namespace

SocketScheme::SocketScheme(bool receives, std::vector<net::Fd> sockets, int threads)
    : receives_(receives), sockets_(std::move(sockets)) {
  for (int i = 0; i < threads; ++i) {
    helpers_.push_back(std::make_unique<Helper>());
    Helper &helper = *helpers_.back();
    helper.thread = std::thread([this, &helper] { work(helper); });
  }
}

SocketScheme::~SocketScheme() {
  for (const std::unique_ptr<Helper> &helper : helpers_) {
    {
      std::lock_guard<std::mutex> lock(helper->mutex);
      helper->stop = true;
    }
    helper->posted.notify_one();
    helper->thread.join();
  }
}

SocketScheme::Message *SocketScheme::post(void *data, size_t bytes) {
  auto free = std::find_if(messages_.begin(), messages_.end(),
                           [](const Message &message) { return !message.used; });
  if (free == messages_.end())
    return nullptr;
  free->data = static_cast<uint8_t *>(data);
  free->bytes = bytes;
  free->used = true;
  free->sized = false;
  return &*free;
}

// Works on all its tasks in turn; on several of one socket in their order.
void SocketScheme::work(Helper &helper) const {
  std::vector<Task *> mine;
  for (;;) {
    {
      std::unique_lock<std::mutex> lock(helper.mutex);
      if (mine.empty())
        helper.posted.wait(lock, [&] { return helper.stop || !helper.tasks.empty(); });
      if (helper.stop)
        return;
      mine.insert(mine.end(), helper.tasks.begin(), helper.tasks.end());
      helper.tasks.clear();
    }
    for (size_t i = 0; i < mine.size(); ++i) {
      Task &task = *mine[i];
      auto sameSocket = [&](const Task *other) { return other->fd == task.fd; };
      if (std::any_of(mine.begin(), mine.begin() + static_cast<ptrdiff_t>(i), sameSocket))
        continue;
      size_t at = task.moved.load(std::memory_order_relaxed);
      at += move(receives_, task.fd, task.data + at, task.bytes - at);
      bool whole = at == task.bytes;
      if (whole) // before its owner can see that, and free it
        mine.erase(mine.begin() + static_cast<ptrdiff_t>(i--));
      task.moved.store(at, std::memory_order_release);
    }
  }
}

bool SocketScheme::exchangeSize(Message &message) const {
  int size = static_cast<int>(message.bytes);
  auto *bytes = reinterpret_cast<uint8_t *>(&size);
  size_t moved = move(receives_, sockets_.back().get(), bytes, sizeof(size));
  if (moved == 0)
    return false;
  while (moved < sizeof(size))
    moved += move(receives_, sockets_.back().get(), bytes + moved, sizeof(size) - moved);
  message.bytes = static_cast<size_t>(size);
  return true;
}

void SocketScheme::divide(Message &message) {
  size_t sockets = sockets_.size() - 1;
  size_t piece = std::max(kLeastTask, (message.bytes + sockets - 1) / sockets);
  for (size_t offset = 0; offset < message.bytes; offset += piece) {
    auto *task = new Task();
    task->fd = sockets_[next_].get();
    task->data = message.data + offset;
    task->bytes = std::min(piece, message.bytes - offset);
    message.tasks.push_back(task);
    Helper &helper = *helpers_[next_ % helpers_.size()];
    next_ = (next_ + 1) % sockets;
    std::lock_guard<std::mutex> lock(helper.mutex);
    helper.tasks.push_back(task);
    helper.posted.notify_one();
  }
}

bool SocketScheme::test(Message &message) {
  if (!message.sized) {
    if (!exchangeSize(message))
      return false;
    message.sized = true;
    divide(message);
  }
  for (const Task *task : message.tasks)
    if (task->moved.load(std::memory_order_acquire) < task->bytes)
      return false;
  for (Task *task : message.tasks)
    delete task;
  message.tasks.clear();
  message.used = false;
  return true;
}

std::array<std::vector<net::Fd>, 2> connectedSockets(int sockets) {
  auto must = [](bool good) {
    if (good)
      return;
    std::perror("socket scheme");
    std::exit(1);
  };
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto *generic = reinterpret_cast<sockaddr *>(&address);
  net::Fd listener(::socket(AF_INET, SOCK_STREAM, 0));
  must(::bind(listener.get(), generic, length) == 0 && ::listen(listener.get(), 64) == 0 &&
       ::getsockname(listener.get(), generic, &length) == 0);
  std::array<std::vector<net::Fd>, 2> ends;
  for (int i = 0; i < sockets + 1; ++i) {
    net::Fd out(::socket(AF_INET, SOCK_STREAM, 0));
    must(::connect(out.get(), generic, length) == 0);
    net::Fd in(::accept(listener.get(), nullptr, nullptr));
    must(in.valid());
    int one = 1;
    for (int fd : {out.get(), in.get()})
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    ends[0].push_back(std::move(out));
    ends[1].push_back(std::move(in));
  }
  return ends;
}

} // namespace coll::perf
