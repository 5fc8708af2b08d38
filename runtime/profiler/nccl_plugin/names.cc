#include "runtime/profiler/nccl_plugin/names.h"

#include <cstring>

namespace coll::profiler::plugin {

uint16_t Names::number(const char *text) {
  if (!text || !*text)
    return 0;
  const size_t size = strnlen(text, kBytes - 1);
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < size; ++i)
    hash = (hash ^ static_cast<uint8_t>(text[i])) * 0x100000001b3u;
  // Entry 0 is the empty text's. A few probes are enough for a table that is not nearly full.
  for (size_t probe = 0; probe < 64; ++probe) {
    const size_t place = (hash + probe) % (kMost - 1) + 1;
    Entry &entry = entries_[place];
    uint32_t state = entry.state.load(std::memory_order_acquire);
    if (state == kFree && entry.state.compare_exchange_strong(state, kFilling)) {
      std::memcpy(entry.text, text, size);
      entry.size = static_cast<uint32_t>(size);
      entry.state.store(kReady, std::memory_order_release);
      return static_cast<uint16_t>(place);
    }
    // Another thread is filling the entry: take the next one. So a text may get two numbers.
    if (state == kReady && entry.size == size && std::memcmp(entry.text, text, size) == 0)
      return static_cast<uint16_t>(place);
  }
  return 0;
}

std::string_view Names::text(uint16_t number) const {
  const Entry &entry = entries_[number % kMost];
  if (entry.state.load(std::memory_order_acquire) != kReady)
    return {};
  return {entry.text, entry.size};
}

} // namespace coll::profiler::plugin
