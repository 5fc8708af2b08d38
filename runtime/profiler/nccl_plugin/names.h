// names.h - numbers for short texts in records: lock-free, and never freed.

#ifndef COLL_RUNTIME_PROFILER_NCCL_PLUGIN_NAMES_H
#define COLL_RUNTIME_PROFILER_NCCL_PLUGIN_NAMES_H

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace coll::profiler::plugin {

// Compares the content, not the pointer: the caller's text may be gone after the call. Texts are
// cut after 63 bytes. Number 0 is the empty text, and any text if the table of 4,096 texts is full.
class Names {
public:
  // Any thread. `text` may be null.
  uint16_t number(const char *text);
  // Any thread, of a number that number() has returned.
  std::string_view text(uint16_t number) const;

private:
  static constexpr size_t kMost = 4096, kBytes = 64;
  enum : uint32_t { kFree, kFilling, kReady };
  struct Entry {
    std::atomic<uint32_t> state{kFree};
    uint32_t size = 0;
    char text[kBytes];
  };
  std::array<Entry, kMost> entries_;
};

} // namespace coll::profiler::plugin

#endif // COLL_RUNTIME_PROFILER_NCCL_PLUGIN_NAMES_H
