#include "runtime/profiler/nccl_plugin/plugin.h"

#include "runtime/base/log.h"

#include <cstdlib>
#include <pthread.h>
#include <random>
#include <unistd.h>

namespace coll::profiler::plugin {

namespace {

uint64_t number(const void *handle) { return reinterpret_cast<uint64_t>(handle); }
void *pointer(uint64_t number) { return reinterpret_cast<void *>(number); }

uint64_t entropy() {
  try {
    return std::random_device()();
  } catch (const std::exception &) {
    return perfetto::monotonicNs();
  }
}

} // namespace

Plugin &Plugin::instance() {
  static Plugin *plugin = [] {
    auto *made = new Plugin();
    pthread_atfork(nullptr, nullptr, [] { instance().disable(); });
    std::atexit([] { instance().stopAtExit(); });
    return made;
  }();
  return *plugin;
}

Plugin::Plugin()
    : pid_(getpid()), handles_(entropy() ^ static_cast<uint64_t>(pid_) ^ perfetto::monotonicNs()) {}

// Reads the settings once; returns whether there is anything to do.
bool Plugin::turnOn() {
  if (!rings_) {
    rt::Result<Settings> settings = Settings::fromEnv();
    if (!settings.ok())
      rt::log(rt::LogLevel::Warn, "profiler: " + settings.status().message() + "; it is off");
    else
      settings_ = settings.take();
    rings_ = std::make_unique<Rings>(std::max<size_t>(settings_.ringSlots, 2));
  }
  if (settings_.events == 0)
    return false;
  if (!worker_)
    worker_ = std::make_unique<Worker>(*rings_, communicators_, names_, clock_, settings_);
  return communicators_.count() > 0 || worker_->start();
}

void *Plugin::init(CommunicatorInfo info, uint64_t &mask) {
  std::lock_guard<std::mutex> lock(mutex_);
  mask = 0;
  // A context that does not belong to this plugin: nothing is reported for it.
  void *none = pointer(handles_.make(0, 0, 0));
  if (getpid() != pid_ || !turnOn())
    return none;
  info.mask = settings_.events & abi::allEvents(info.version);
  const uint64_t wanted = info.mask;
  const uint16_t communicator = communicators_.add(std::move(info));
  if (!communicator) {
    rt::log(rt::LogLevel::Warn,
            "profiler: more communicators at once than 4095; this one is left out");
    return none;
  }
  mask = wanted;
  isOn_.store(true, std::memory_order_release);
  return pointer(handles_.make(communicator, 0, 0));
}

void Plugin::finalize(void *context) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!handles_.isOurs(number(context)) ||
      !communicators_.finish(Handles::communicator(number(context))))
    return;
  if (communicators_.count() > 0 || !worker_ || getpid() != pid_)
    return;
  isOn_.store(false, std::memory_order_release);
  worker_->stop();
}

void Plugin::stopAtExit() {
  isOn_.store(false, std::memory_order_release);
  std::lock_guard<std::mutex> lock(mutex_);
  if (worker_ && getpid() == pid_)
    worker_->stop();
}

bool Plugin::begin(const void *context, Place &place, Record &record) {
  if (!isOn_.load(std::memory_order_acquire))
    return false;
  place.ring = rings_->mine();
  if (!place.ring) {
    rings_->lose();
    return false;
  }
  if (handles_.isOurs(number(context))) {
    place.communicator = Handles::communicator(number(context));
    return communicators_.isLive(place.communicator);
  }
  record.flags |= kForeignContext; // if the parent is ours, it identifies the communicator
  return true;
}

void *Plugin::push(const Place &place, uint64_t parent, Record &record) {
  const bool isProxyOp = record.type == bitNumber(abi::kProxyOp);
  if (isProxyOp && record.stamp != static_cast<uint64_t>(pid_))
    record.flags |= kForeignParent;
  else if (handles_.isOurs(parent))
    record.parent = parent;
  uint16_t communicator = place.communicator;
  if (!communicator && record.parent)
    communicator = Handles::communicator(record.parent);
  record.kind = RecordKind::Start;
  record.id =
      handles_.make(communicator, static_cast<uint64_t>(place.ring->number), ++place.ring->counter);
  record.ns = clock_.now();
  place.ring->ring->push(record);
  return pointer(record.id);
}

void Plugin::push(const void *handle, Record &record) {
  if (!isOn_.load(std::memory_order_acquire) || !handles_.isOurs(number(handle)))
    return;
  Rings::Entry *mine = rings_->mine();
  if (!mine)
    return rings_->lose();
  record.id = number(handle);
  const uint16_t communicator = Handles::communicator(record.id);
  if (communicator && !communicators_.isLive(communicator))
    return;
  record.ns = clock_.now();
  mine->ring->push(record);
}

void *Plugin::beginKernel(const void *context, const void *parent, uint8_t channel,
                          uint64_t stamp) {
  if (!isOn_.load(std::memory_order_acquire) || stamp == 0 || !handles_.isOurs(number(context)))
    return nullptr;
  const uint16_t communicator = Handles::communicator(number(context));
  Rings::Entry *mine = rings_->mine();
  if (!mine || !communicators_.isLive(communicator))
    return nullptr;
  const uint64_t id =
      handles_.make(communicator, static_cast<uint64_t>(mine->number), mine->counter + 1);
  const uint64_t above = handles_.isOurs(number(parent)) ? number(parent) : 0;
  if (!mine->kernels->begin(id, above, channel, stamp))
    return nullptr;
  ++mine->counter;
  return pointer(id);
}

bool Plugin::endKernel(const void *handle, uint64_t stamp) {
  const uint64_t id = number(handle);
  if (!isOn_.load(std::memory_order_acquire) || !handles_.isOurs(id) ||
      !communicators_.isLive(Handles::communicator(id)))
    return false;
  Rings::Entry *starter = rings_->ofNumber(Handles::ring(id));
  if (!starter || !starter->kernels->has(id))
    return false;
  Rings::Entry *mine = rings_->mine();
  if (!mine)
    return false;
  EndedKernel kernel;
  kernel.id = id;
  kernel.stopStamp = stamp;
  starter->kernels->end(kernel);
  kernel.ns = clock_.now();
  mine->ring->push(kernel);
  mine->endedKernel = id;
  return true;
}

bool Plugin::hasEndedKernel(const void *handle) {
  const Rings::Entry *mine = isOn_.load(std::memory_order_acquire) ? rings_->mine() : nullptr;
  return mine && mine->endedKernel == number(handle) && handle;
}

} // namespace coll::profiler::plugin
