#include "tools/coll-trace/files.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace coll::trace {

namespace {

constexpr size_t kFilesPerThread = 16; // fewer are not worth a thread

} // namespace

size_t threadsFor(size_t files) {
  const size_t most = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, 16);
  return std::clamp<size_t>(files / kFilesPerThread, 1, most);
}

void forEachFile(size_t files, size_t threads,
                 const std::function<void(size_t file, size_t thread)> &work) {
  std::atomic<size_t> next{0};
  auto body = [&](size_t thread) {
    for (size_t file = next++; file < files; file = next++)
      work(file, thread);
  };
  std::vector<std::thread> others;
  try {
    for (size_t thread = 1; thread < threads; ++thread)
      others.emplace_back(body, thread);
  } catch (const std::system_error &) {
    // The system gives no more threads; those that exist do the work.
  }
  body(0);
  for (std::thread &other : others)
    other.join();
}

} // namespace coll::trace
