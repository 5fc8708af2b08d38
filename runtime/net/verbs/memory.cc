#include "runtime/net/verbs/memory.h"

#include "runtime/net/verbs/device.h"

#include <cerrno>
#include <string>
#include <unistd.h>

namespace coll::net::verbs {

namespace {

constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

uintptr_t pageBytes() {
  static const uintptr_t bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

} // namespace

//===-- cache -------------------------------------------------------------------===//

void RegistrationCache::clear() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto &[begin, entry] : entries_)
    api_.deregMr(entry->mr);
  entries_.clear();
  idle_.clear();
  idleBytes_ = 0;
}

// Checks only the nearest few entries; if it misses a registration, the buffer is registered twice.
RegistrationCache::Entry *RegistrationCache::find(uintptr_t begin, uintptr_t end, bool isSource) {
  auto it = entries_.upper_bound(begin);
  for (int turn = 0; turn < 4 && it != entries_.begin(); ++turn) {
    Entry &entry = *(--it)->second;
    if (entry.end >= end && (isSource || entry.isWritable))
      return &entry;
  }
  return nullptr;
}

Result<RegistrationCache::Lease> RegistrationCache::acquire(const void *data, uint64_t bytes,
                                                            bool isSource) {
  uintptr_t first = reinterpret_cast<uintptr_t>(data), page = pageBytes();
  uintptr_t begin = first & ~(page - 1), end = (first + bytes + page - 1) & ~(page - 1);
  std::lock_guard<std::mutex> lock(mutex_);
  if (Entry *entry = find(begin, end, isSource)) {
    if (entry->users++ == 0) {
      idle_.erase(entry->idle);
      idleBytes_ -= entry->end - entry->begin;
    }
    return Lease(this, entry);
  }
  auto entry = std::make_unique<Entry>();
  entry->begin = begin;
  entry->end = end;
  auto tryAccess = [&](int access) {
    errno = 0;
    entry->mr = api_.regMr(pd_, reinterpret_cast<void *>(begin), end - begin, access);
    return entry->mr != nullptr;
  };
  entry->isWritable = tryAccess(kAccess);
  if (!entry->mr && (errno == ENOMEM || errno == EAGAIN)) {
    trim(0);
    entry->isWritable = tryAccess(kAccess);
  }
  if (!entry->mr && isSource && (errno == EFAULT || errno == EACCES))
    tryAccess(0);
  if (!entry->mr)
    return rt::dl::ibverbsError("registering a buffer of " + std::to_string(bytes) + " bytes",
                                errno ? errno : ENOMEM);
  entry->users = 1;
  Entry *raw = entry.get();
  entries_.emplace(begin, std::move(entry));
  return Lease(this, raw);
}

void RegistrationCache::release(Entry *entry) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (--entry->users > 0)
    return;
  entry->idle = idle_.insert(idle_.end(), entry);
  idleBytes_ += entry->end - entry->begin;
  trim(idleLimit_);
}

void RegistrationCache::trim(uint64_t limit) {
  while (idleBytes_ > limit) {
    Entry *oldest = idle_.front();
    idle_.pop_front();
    idleBytes_ -= oldest->end - oldest->begin;
    api_.deregMr(oldest->mr);
    auto [it, last] = entries_.equal_range(oldest->begin);
    while (it != last && it->second.get() != oldest)
      ++it;
    entries_.erase(it);
  }
}

// ===-- the application's registrations ------------------------------------------===//

Result<MemoryKeys> Region::on(Device &device) {
  constexpr int kRemote = kAccess | IBV_ACCESS_REMOTE_READ;
  std::lock_guard<std::mutex> lock(mutex_);
  if (gone_)
    return Status::invalid("the memory was deregistered");
  if (memory_.bytes == 0)
    return MemoryKeys();
  auto it = registrations_.find(&device);
  if (it != registrations_.end())
    return MemoryKeys{it->second->lkey, it->second->rkey};
  const rt::dl::Ibverbs &api = device.api();
  ibv_mr *mr = nullptr;
  errno = 0;
  if (isHost()) {
    mr = api.regMr(device.pd(), memory_.data, memory_.bytes, kRemote);
  } else {
    if (!registrations_.empty())
      return Status(kCollUnsupported, "dmabuf memory is registered on another RDMA device");
    if (!api.regDmabufMr)
      return Status(kCollUnsupported,
                    "this libibverbs cannot register dmabuf memory (rdma-core 34 can)");
    mr = api.regDmabufMr(device.pd(), memory_.dmabufOffset, memory_.bytes, key_.address,
                         memory_.dmabufFd, kRemote);
  }
  if (!mr)
    return rt::dl::ibverbsError("registering " + std::to_string(memory_.bytes) + " bytes of " +
                                    (isHost() ? "host" : "dmabuf") + " memory on " + device.name(),
                                errno ? errno : ENOMEM);
  registrations_[&device] = mr;
  return MemoryKeys{mr->lkey, mr->rkey};
}

void Region::deregister() {
  std::lock_guard<std::mutex> lock(mutex_);
  gone_ = true;
  for (auto &[device, mr] : registrations_)
    device->api().deregMr(mr);
  registrations_.clear();
}

} // namespace coll::net::verbs
