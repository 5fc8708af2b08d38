#include "runtime/net/poller.h"

#include "runtime/base/thread.h"

#include <algorithm>
#include <cerrno>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <vector>

namespace coll::net {

Result<std::unique_ptr<Poller>> Poller::create(int64_t spinUs) {
  Fd epoll(epoll_create1(EPOLL_CLOEXEC));
  Fd wake(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!epoll.valid() || !wake.valid())
    return Status(kCollDevice, linkError("epoll", errno).message());
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u64 = 0;
  epoll_ctl(epoll.get(), EPOLL_CTL_ADD, wake.get(), &event);
  std::unique_ptr<Poller> poller(new Poller(std::move(epoll), std::move(wake), spinUs));
  COLL_RETURN_IF_ERROR(rt::startThread(poller->thread_, "connections of the network",
                                       [raw = poller.get()] { raw->loop(); }));
  return poller;
}

void Poller::stop() {
  stop_ = true;
  wake();
  if (thread_.joinable())
    thread_.join();
}

Poller::~Poller() {
  stop();
  // Handlers may own objects that call this poller, so they are released without the lock.
  std::unordered_map<uint64_t, Entry> entries;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    entries.swap(entries_);
  }
}

void Poller::wake() {
  uint64_t one = 1;
  if (write(wake_.get(), &one, sizeof(one)) < 0 && errno != EAGAIN)
    stop_ = true;
}

Status Poller::add(uint64_t id, int fd, uint32_t events, std::shared_ptr<PollHandler> handler,
                   int64_t deadlineUs) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    entries_[id].handler = std::move(handler);
  }
  if (deadlineUs)
    setDeadline(id, deadlineUs);
  if (fd < 0)
    return {};
  epoll_event event = {};
  event.events = events;
  event.data.u64 = id;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0)
    return {};
  Status failed = linkError("epoll", errno);
  remove(id, -1);
  return failed;
}

void Poller::modify(uint64_t id, int fd, uint32_t events) {
  epoll_event event = {};
  event.events = events;
  event.data.u64 = id;
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void Poller::setDeadline(uint64_t id, int64_t deadlineUs) {
  bool sooner = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = entries_.find(id);
    if (it == entries_.end())
      return;
    it->second.deadlineUs = deadlineUs;
    if (deadlineUs && (!earliestUs_ || deadlineUs < earliestUs_)) {
      earliestUs_ = deadlineUs;
      sooner = true;
    }
  }
  if (sooner && !isOwnThread())
    wake();
}

void Poller::remove(uint64_t id, int fd) {
  if (fd >= 0)
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  std::shared_ptr<PollHandler> last; // destroyed without the lock
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = entries_.find(id);
  if (it == entries_.end())
    return;
  last = std::move(it->second.handler);
  entries_.erase(it);
}

size_t Poller::numHandlers() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return entries_.size();
}

int Poller::timeoutMs() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!posted_.empty())
    return 0;
  sleeping_ = true;
  if (!earliestUs_)
    return -1;
  return static_cast<int>(std::clamp<int64_t>((earliestUs_ - nowUs()) / 1000 + 1, 0, 60'000));
}

void Poller::post(uint64_t id) {
  bool asleep = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = entries_.find(id);
    if (it == entries_.end() || it->second.posted)
      return;
    it->second.posted = true;
    posted_.push_back(id);
    anyPosted_ = true;
    asleep = std::exchange(sleeping_, false);
  }
  if (asleep && !isOwnThread())
    wake();
}

bool Poller::runPosted() {
  std::vector<std::shared_ptr<PollHandler>> due;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    sleeping_ = false;
    for (uint64_t id : posted_) {
      auto it = entries_.find(id);
      if (it == entries_.end())
        continue;
      it->second.posted = false;
      due.push_back(it->second.handler);
    }
    posted_.clear();
    anyPosted_ = false;
  }
  for (const std::shared_ptr<PollHandler> &handler : due)
    handler->onPosted();
  return !due.empty();
}

void Poller::runDeadlines() {
  std::vector<std::shared_ptr<PollHandler>> due;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    int64_t now = nowUs();
    if (!earliestUs_ || now < earliestUs_)
      return;
    earliestUs_ = 0;
    for (auto &[id, entry] : entries_) {
      if (!entry.deadlineUs)
        continue;
      if (entry.deadlineUs <= now) {
        entry.deadlineUs = 0;
        due.push_back(entry.handler);
      } else if (!earliestUs_ || entry.deadlineUs < earliestUs_) {
        earliestUs_ = entry.deadlineUs;
      }
    }
  }
  for (const std::shared_ptr<PollHandler> &handler : due)
    handler->onDeadline();
}

// Waits for events and handles them. Returns whether there were any.
bool Poller::dispatch(int timeoutMs) {
  epoll_event events[64];
  int count = epoll_wait(epoll_.get(), events, 64, timeoutMs);
  for (int i = 0; i < count; ++i) {
    const uint64_t number = events[i].data.u64; // a copy: the kernel's structure is packed
    if (number == 0) {
      uint64_t ignored = 0;
      if (read(wake_.get(), &ignored, sizeof(ignored)) < 0)
        continue;
      continue;
    }
    std::shared_ptr<PollHandler> handler;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      auto it = entries_.find(number);
      if (it != entries_.end())
        handler = it->second.handler;
    }
    if (handler)
      handler->onEvents(events[i].events);
  }
  return count > 0;
}

// Yields the core to its other hardware thread for a moment, unless there is a post.
void Poller::breathe() const {
  for (int i = 0; i < 16 && !anyPosted_.load(std::memory_order_relaxed); ++i) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

void Poller::loop() {
  int64_t workedUs = 0;
  while (!stop_) {
    bool spins = spinUs_ > 0 && nowUs() - workedUs < spinUs_;
    asleep_.store(!spins, std::memory_order_relaxed);
    bool worked = dispatch(spins ? 0 : timeoutMs());
    asleep_.store(false, std::memory_order_relaxed);
    // If the thread slept, posts must be told that it is awake.
    if (!spins || anyPosted_.load(std::memory_order_acquire))
      worked |= runPosted();
    if (worked && spinUs_ > 0)
      workedUs = nowUs();
    if (worked || !spins)
      runDeadlines();
    else
      breathe();
  }
}

} // namespace coll::net
