// open_kernels.h - kernel channels that have begun and not ended.
//
// NCCL reports a channel's start, its stop's stamp and its stop, for each channel of each
// collective, on the thread that moves its data. The start is only kept here; at the stop one
// record reports all three. The worker finds channels that take long, for example those of a kernel
// that hangs, here.

#ifndef COLL_RUNTIME_PROFILER_NCCL_PLUGIN_OPEN_KERNELS_H
#define COLL_RUNTIME_PROFILER_NCCL_PLUGIN_OPEN_KERNELS_H

#include "runtime/profiler/nccl_plugin/record.h"

#include <array>
#include <atomic>

namespace coll::profiler::plugin {

// The channels that one thread has begun. Any thread may end one, one at a time; the worker reads.
class OpenKernels {
public:
  // NCCL may be a thousand channels behind the GPU.
  static constexpr size_t kPlaces = 1024;

  // Called by the thread. False if the place of the handle is taken: then report the start itself.
  bool begin(uint64_t id, uint64_t parent, uint8_t channel, uint64_t stamp) {
    Place &place = places_[id % kPlaces];
    if (place.id.load(std::memory_order_relaxed) != 0)
      return false;
    place.parent.store(parent, std::memory_order_relaxed);
    place.stamp.store(stamp, std::memory_order_relaxed);
    place.channel.store(channel, std::memory_order_relaxed);
    place.id.store(id, std::memory_order_release);
    return true;
  }
  // Whether `id` has begun here and not ended.
  bool has(uint64_t id) const {
    return places_[id % kPlaces].id.load(std::memory_order_acquire) == id;
  }
  // Ends `kernel.id`, which has begun here, and fills in the fields of its start.
  void end(EndedKernel &kernel) {
    Place &place = places_[kernel.id % kPlaces];
    kernel.parent = place.parent.load(std::memory_order_acquire);
    kernel.startStamp = place.stamp.load(std::memory_order_acquire);
    kernel.channel = place.channel.load(std::memory_order_acquire);
    place.id.store(0, std::memory_order_release);
  }
  // Called by the worker: reads the start of the channel at the place; false if there is none.
  bool read(size_t number, Record &start) const {
    const Place &place = places_[number];
    start.id = place.id.load(std::memory_order_acquire);
    start.parent = place.parent.load(std::memory_order_acquire);
    start.stamp = place.stamp.load(std::memory_order_acquire);
    start.channel = place.channel.load(std::memory_order_acquire);
    start.type = bitNumber(abi::kKernelCh);
    return start.id != 0 && place.id.load(std::memory_order_acquire) == start.id;
  }

private:
  struct Place {
    std::atomic<uint64_t> id{0}, parent{0}, stamp{0};
    std::atomic<uint8_t> channel{0};
  };
  std::array<Place, kPlaces> places_;
};

} // namespace coll::profiler::plugin

#endif // COLL_RUNTIME_PROFILER_NCCL_PLUGIN_OPEN_KERNELS_H
