#include "runtime/profiler/host/multiplexer.h"

#include "runtime/base/log.h"
#include "runtime/base/trace.h"
#include "runtime/profiler/host/translate.h"

#include <algorithm>
#include <thread>
#include <unistd.h>

namespace coll::profiler {

using namespace abi;

namespace {

// A handle or a context: place and turn, mixed with the process's salt. The lowest bit is unused.
constexpr uint64_t kOver = 1; // of an event's key
constexpr int kPlaceBits = 16;

uint64_t number(uint64_t turn, uint64_t place) { return (turn << kPlaceBits | place) << 1; }
uint64_t placeOf(uint64_t number) { return (number >> 1) & ((uint64_t{1} << kPlaceBits) - 1); }
uint64_t turnOf(uint64_t number) { return number >> (kPlaceBits + 1); }

// Multiplying by an odd number and mixing with the clock protects against accidents, not attacks.
uint64_t saltOfProcess() {
  uint64_t salt = static_cast<uint64_t>(rt::traceClockNs()) * 0x9e3779b97f4a7c15u;
  salt ^= static_cast<uint64_t>(getpid()) * 0xbf58476d1ce4e5b9u;
  return salt & ~uint64_t{1};
}

void *disguise(uint64_t number, uint64_t salt) { return reinterpret_cast<void *>(number ^ salt); }
uint64_t undisguise(void *handle, uint64_t salt) {
  return handle ? reinterpret_cast<uint64_t>(handle) ^ salt : 0;
}

} // namespace

// While the object exists, finalize() of the communicator waits.
class Multiplexer::Visit {
public:
  Visit(const Multiplexer &multiplexer, uint64_t context)
      : communicator_(multiplexer.find(context)) {
    if (!communicator_)
      return;
    communicator_->callers.fetch_add(1, std::memory_order_seq_cst);
    if (communicator_->generation.load(std::memory_order_seq_cst) == turnOf(context))
      return;
    communicator_->callers.fetch_sub(1, std::memory_order_release);
    communicator_ = nullptr;
  }
  ~Visit() {
    if (communicator_)
      communicator_->callers.fetch_sub(1, std::memory_order_release);
  }
  Visit(const Visit &) = delete;
  Visit &operator=(const Visit &) = delete;

  explicit operator bool() const { return communicator_; }
  Communicator *operator->() const { return communicator_; }

private:
  Communicator *communicator_;
};

Multiplexer::Multiplexer(std::vector<std::shared_ptr<Plugin>> plugins)
    : plugins_(std::move(plugins)), salt_(saltOfProcess()),
      communicators_(new Communicator[kMaxCommunicators]), events_(new Event[kMaxEvents]) {
  static_assert(kMaxEvents <= uint64_t{1} << kPlaceBits);
  if (plugins_.size() > kMaxPlugins)
    plugins_.resize(kMaxPlugins);
}

// Finalizes the communicators that the caller has not finalized.
Multiplexer::~Multiplexer() {
  for (uint64_t place = 0; place < kMaxCommunicators; ++place) {
    const uint32_t generation = communicators_[place].generation.load(std::memory_order_acquire);
    if (generation % 2 == 1)
      finalize(disguise(number(generation, place), salt_));
  }
}

//===-- communicators -----------------------------------------------------------===//

Multiplexer::Communicator *Multiplexer::find(uint64_t context) const {
  if (context == 0 || (context & 1) || placeOf(context) >= kMaxCommunicators)
    return nullptr;
  Communicator &communicator = communicators_[placeOf(context)];
  const uint32_t generation = communicator.generation.load(std::memory_order_acquire);
  return generation % 2 == 1 && generation == turnOf(context) ? &communicator : nullptr;
}

// Masks are never freed: a plugin keeps their addresses.
void *Multiplexer::init(const CommunicatorInfo &info) {
  std::lock_guard<std::mutex> lock(mutex_);
  uint64_t place = 0;
  while (place < kMaxCommunicators &&
         communicators_[place].generation.load(std::memory_order_relaxed) % 2 == 1)
    ++place;
  if (place == kMaxCommunicators) {
    droppedEvents_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  Communicator &communicator = communicators_[place];
  masks_.emplace_back(new std::atomic<int>[kMaxPlugins]());
  bool isTaken = false;
  for (size_t i = 0; i < plugins_.size(); ++i) {
    Seat &seat = communicator.seats[i];
    seat.isTaken = false;
    seat.context = nullptr;
    seat.mask = &masks_.back()[i];
    if (isRefused_[i].load(std::memory_order_relaxed))
      continue;
    static_assert(sizeof(std::atomic<int>) == sizeof(int));
    seat.isTaken = plugins_[i]->init(&seat.context, reinterpret_cast<int *>(seat.mask), info);
    isTaken |= seat.isTaken;
    if (!seat.isTaken && !isRefused_[i].exchange(true))
      rt::log(rt::LogLevel::Warn,
              "profiler plugin " + plugins_[i]->name() + " is not used: its init has failed");
  }
  if (!isTaken)
    return nullptr;
  const uint32_t generation = communicator.generation.load(std::memory_order_relaxed) + 1;
  communicator.generation.store(generation, std::memory_order_seq_cst);
  return disguise(number(generation, place), salt_);
}

uint64_t Multiplexer::requestedEvents(const Seat &seat, const Plugin &plugin) const {
  if (!seat.isTaken)
    return 0;
  const int mask = seat.mask->load(std::memory_order_relaxed);
  return mask == 0 ? 0 : closedUpwards(plugin.version(), static_cast<uint32_t>(mask));
}

bool Multiplexer::wants(void *context, uint64_t type) const {
  Visit communicator(*this, undisguise(context, salt_));
  for (size_t i = 0; communicator && i < plugins_.size(); ++i)
    if (requestedEvents(communicator->seats[i], *plugins_[i]) & type)
      return true;
  return false;
}

uint64_t Multiplexer::mask() const {
  uint64_t all = 0;
  for (uint64_t place = 0; place < kMaxCommunicators; ++place) {
    const uint32_t generation = communicators_[place].generation.load(std::memory_order_acquire);
    Visit communicator(*this, generation % 2 == 1 ? number(generation, place) : 0);
    for (size_t i = 0; communicator && i < plugins_.size(); ++i)
      all |= requestedEvents(communicator->seats[i], *plugins_[i]);
  }
  return all;
}

void Multiplexer::finalize(void *handle) {
  const uint64_t context = undisguise(handle, salt_);
  std::lock_guard<std::mutex> lock(mutex_);
  Communicator *communicator = find(context);
  if (!communicator)
    return;
  stopAllOf(context);
  communicator->generation.fetch_add(1, std::memory_order_seq_cst);
  // No call to a plugin begins any more; those in progress are short.
  while (communicator->callers.load(std::memory_order_seq_cst) > 0)
    std::this_thread::yield();
  for (size_t i = 0; i < plugins_.size(); ++i)
    if (communicator->seats[i].isTaken)
      plugins_[i]->finalize(communicator->seats[i].context);
}

// The latest first, so that children stop before their parents.
void Multiplexer::stopAllOf(uint64_t context) {
  std::vector<uint64_t> inFlight;
  for (uint64_t place = 0; place < kMaxEvents; ++place) {
    const uint64_t key = events_[place].key.load(std::memory_order_acquire);
    if (key != 0 && !(key & kOver) &&
        events_[place].context.load(std::memory_order_relaxed) == context)
      inFlight.push_back(key);
  }
  std::sort(inFlight.begin(), inFlight.end(),
            [](uint64_t a, uint64_t b) { return turnOf(a) > turnOf(b); });
  for (uint64_t key : inFlight)
    stop(disguise(key, salt_));
}

//===-- events ------------------------------------------------------------------===//

Multiplexer::Event *Multiplexer::eventOf(uint64_t handle) const {
  if (handle == 0 || (handle & 1) || placeOf(handle) >= kMaxEvents)
    return nullptr;
  return &events_[placeOf(handle)];
}

// The key is read again after the handles, because the place may have been reused.
Multiplexer::Handles Multiplexer::lookUp(void *opaque) const {
  Handles handles = {};
  const uint64_t handle = undisguise(opaque, salt_);
  const Event *event = eventOf(handle);
  if (!event || (event->key.load(std::memory_order_acquire) & ~kOver) != handle)
    return handles;
  for (size_t i = 0; i < plugins_.size(); ++i)
    handles[i] = event->handles[i].load(std::memory_order_acquire);
  if ((event->key.load(std::memory_order_relaxed) & ~kOver) != handle)
    return {};
  return handles;
}

// The next place whose event is over, or null.
Multiplexer::Event *Multiplexer::claim(uint64_t &handle) {
  constexpr int kTries = 64;
  for (int i = 0; i < kTries; ++i) {
    const uint64_t turn = nextEvent_.fetch_add(1, std::memory_order_relaxed) + 1;
    handle = number(turn, turn % kMaxEvents);
    Event &event = events_[turn % kMaxEvents];
    uint64_t key = event.key.load(std::memory_order_relaxed);
    if (key != 0 && !(key & kOver))
      continue; // in flight
    if (event.key.compare_exchange_strong(key, handle, std::memory_order_acq_rel))
      return &event;
  }
  return nullptr;
}

namespace {

// The parent that an event names; of a proxy op only if this process has made the parent.
void *parentOf(const EventDescriptorV7 &event) {
  return event.type == kProxyOp && event.proxyOp.pid != getpid() ? nullptr : event.parent;
}
void *groupOf(const EventDescriptorV7 &event) {
  if (event.type == kColl)
    return event.coll.parentGroup;
  return event.type == kP2p ? event.p2p.parentGroup : nullptr;
}

} // namespace

void *Multiplexer::start(void *context, const EventDescriptorV7 &event) {
  const uint64_t number = undisguise(context, salt_);
  Visit communicator(*this, number);
  if (!communicator) {
    droppedEvents_.fetch_add(context != nullptr, std::memory_order_relaxed);
    return nullptr;
  }
  const Handles parents = lookUp(parentOf(event)), groups = lookUp(groupOf(event));
  Handles handles = {};
  bool isTaken = false;
  for (size_t i = 0; i < plugins_.size(); ++i) {
    const Seat &seat = communicator->seats[i];
    if (!(requestedEvents(seat, *plugins_[i]) & event.type))
      continue;
    EventDescriptorV7 own = event;
    own.parent = parents[i];
    if (event.type == kColl)
      own.coll.parentGroup = groups[i];
    else if (event.type == kP2p)
      own.p2p.parentGroup = groups[i];
    handles[i] = plugins_[i]->start(seat.context, own);
    isTaken |= handles[i] != nullptr;
  }
  if (!isTaken)
    return nullptr;
  uint64_t handle = 0;
  Event *place = claim(handle);
  if (!place) {
    // No later call will name it, so the plugins are told that it has ended.
    droppedEvents_.fetch_add(1, std::memory_order_relaxed);
    for (size_t i = 0; i < plugins_.size(); ++i)
      if (handles[i])
        plugins_[i]->stop(handles[i]);
    return nullptr;
  }
  place->context.store(number, std::memory_order_relaxed);
  for (size_t i = 0; i < plugins_.size(); ++i)
    place->handles[i].store(handles[i], std::memory_order_release);
  return disguise(handle, salt_);
}

void Multiplexer::stop(void *opaque) {
  if (!opaque)
    return;
  const uint64_t handle = undisguise(opaque, salt_);
  Event *event = eventOf(handle);
  const Handles handles = lookUp(opaque);
  Visit communicator(*this, event ? event->context.load(std::memory_order_relaxed) : 0);
  uint64_t key = handle;
  if (!event ||
      !event->key.compare_exchange_strong(key, handle | kOver, std::memory_order_acq_rel) ||
      !communicator) {
    lateChanges_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  for (size_t i = 0; i < plugins_.size(); ++i)
    if (handles[i])
      plugins_[i]->stop(handles[i]);
}

void Multiplexer::record(void *opaque, EventState state, const StateArgsV7 &args) {
  if (!opaque)
    return;
  const uint64_t handle = undisguise(opaque, salt_);
  Event *event = eventOf(handle);
  const Handles handles = lookUp(opaque);
  Visit communicator(*this, event ? event->context.load(std::memory_order_relaxed) : 0);
  if (!communicator || event->key.load(std::memory_order_acquire) != handle) {
    lateChanges_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  for (size_t i = 0; i < plugins_.size(); ++i)
    if (handles[i])
      plugins_[i]->record(handles[i], state, args);
}

Multiplexer::Drops Multiplexer::drops() const {
  return {droppedEvents_.load(std::memory_order_relaxed),
          lateChanges_.load(std::memory_order_relaxed)};
}

} // namespace coll::profiler
