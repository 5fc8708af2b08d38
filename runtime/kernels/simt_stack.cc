#include "runtime/kernels/simt_stack.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace coll::kernels::simt {
namespace {

// Frames are several times larger under AddressSanitizer.
constexpr size_t kStackBytes = 256 << 10;

// Of its own, since getcontext may return twice as far as the compiler knows.
Stack *makeStack(char *memory, void (*main)()) {
  auto *stack = new Stack;
  stack->memory = memory;
  getcontext(&stack->context);
  stack->context.uc_stack.ss_sp = memory;
  stack->context.uc_stack.ss_size = kStackBytes;
  makecontext(&stack->context, main, 0);
#if defined(__SANITIZE_THREAD__)
  stack->tsanFiber = __tsan_create_fiber(0);
#endif
  return stack;
}

void destroyStack(Stack *stack) {
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(stack->tsanFiber);
#endif
#if defined(__SANITIZE_ADDRESS__)
  // Whoever gets these addresses next must not find the marks of our frames.
  __asan_unpoison_memory_region(stack->memory, kStackBytes);
#endif
  munmap(stack->memory, kStackBytes);
  delete stack;
}

// Stacks that nobody runs on at present.
class StackPool {
public:
  static StackPool &instance();

  std::vector<Stack *> take(size_t count, void (*main)());
  void give(const std::vector<Stack *> &stacks);

private:
  void clear();

  static constexpr size_t kMaxIdle = 2048;
  std::mutex mutex_;
  std::vector<Stack *> idle_;
};

StackPool &StackPool::instance() {
  // Never destroyed: its stacks are in the middle of their main. Emptied before a fork, since
  // ThreadSanitizer counts fibers as threads, and lets no process with threads fork one that makes
  // some.
  static StackPool *pool = [] {
    if (pthread_atfork([] { instance().clear(); }, nullptr, nullptr) != 0)
      bug("no handler for forks");
    return new StackPool;
  }();
  return *pool;
}

void StackPool::clear() {
  std::vector<Stack *> all;
  {
    std::lock_guard lock(mutex_);
    all.swap(idle_);
  }
  for (Stack *stack : all)
    destroyStack(stack);
}

std::vector<Stack *> StackPool::take(size_t count, void (*main)()) {
  std::vector<Stack *> taken;
  {
    std::lock_guard lock(mutex_);
    const size_t old = std::min(count, idle_.size());
    taken.assign(idle_.end() - static_cast<ptrdiff_t>(old), idle_.end());
    idle_.resize(idle_.size() - old);
  }
  if (const size_t missing = count - taken.size()) {
    void *memory = mmap(nullptr, missing * kStackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      bug("no memory for the stacks");
    for (size_t i = 0; i < missing; ++i)
      taken.push_back(makeStack(static_cast<char *>(memory) + i * kStackBytes, main));
  }
  return taken;
}

void StackPool::give(const std::vector<Stack *> &stacks) {
  size_t kept = 0;
  {
    std::lock_guard lock(mutex_);
    kept = std::min(stacks.size(), kMaxIdle - idle_.size());
    idle_.insert(idle_.end(), stacks.begin(), stacks.begin() + static_cast<ptrdiff_t>(kept));
  }
  for (size_t i = kept; i < stacks.size(); ++i)
    destroyStack(stacks[i]);
}

} // namespace

std::vector<Stack *> takeStacks(size_t count, void (*main)()) {
  return StackPool::instance().take(count, main);
}

void giveStacks(const std::vector<Stack *> &stacks) { StackPool::instance().give(stacks); }

void beginStack() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

void describeThread([[maybe_unused]] Stack &stack) {
#if defined(__SANITIZE_THREAD__)
  stack.tsanFiber = __tsan_get_current_fiber();
#endif
#if defined(__SANITIZE_ADDRESS__)
  // The stack of the thread that runs: a pthread attribute would say; ASan wants what it
  // told the first fiber. Null and 0 would do only for a thread that never returns.
  pthread_attr_t attributes;
  void *bottom = nullptr;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &bottom, &bytes);
    pthread_attr_destroy(&attributes);
  }
  stack.memory = static_cast<char *>(bottom);
  stack.context.uc_stack.ss_size = bytes;
#endif
}

void switchStack(Stack &from, Stack &to) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&from.asanStack, to.memory, to.context.uc_stack.ss_size);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(to.tsanFiber, 0);
#endif
  // Whoever left `from` may be gone when it is used again.
  swapcontext(&from.context, &to.context);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(from.asanStack, nullptr, nullptr);
#endif
}

void bug(const char *what) {
  std::fprintf(stderr, "simt: %s\n", what);
  std::abort();
}

} // namespace coll::kernels::simt
