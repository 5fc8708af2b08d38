#include "test/support/emulation/simt_stack.h"

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

// void coll_simt_switch(void **from, void *to): saves the registers that a call must preserve on
// the stack and the top of that stack in *from, and continues where `to` was left in the same way.
// The control words of floating point are the same everywhere.
#if defined(__x86_64__)
asm(R"(
.text
.p2align 4
.type coll_simt_switch, @function
coll_simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size coll_simt_switch, . - coll_simt_switch
)");
#elif defined(__aarch64__)
asm(R"(
.text
.p2align 4
.type coll_simt_switch, %function
coll_simt_switch:
  stp x29, x30, [sp, #-160]!
  stp x19, x20, [sp, #16]
  stp x21, x22, [sp, #32]
  stp x23, x24, [sp, #48]
  stp x25, x26, [sp, #64]
  stp x27, x28, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #16]
  ldp x21, x22, [sp, #32]
  ldp x23, x24, [sp, #48]
  ldp x25, x26, [sp, #64]
  ldp x27, x28, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  ldp x29, x30, [sp], #160
  ret
.size coll_simt_switch, . - coll_simt_switch
)");
#else
#error "switching stacks is written for x86-64 and AArch64"
#endif
extern "C" void coll_simt_switch(void **from, void *to);

namespace coll::kernels::simt {
namespace {

// Frames are several times larger under AddressSanitizer.
constexpr size_t kStackBytes = 256 << 10;

// The words that the first switch to a stack finds on it, so that it enters `main`.
#if defined(__x86_64__)
constexpr size_t kFirstWords = 8,
                 kMainWord = 6; // 6 registers, the address to return to, and main's
#else
constexpr size_t kFirstWords = 20, kMainWord = 1; // the frame, whose second word is x30
#endif

Stack *makeStack(char *memory, void (*main)()) {
  auto *stack = new Stack;
  stack->memory = memory;
  stack->bytes = kStackBytes;
  // The memory is zero, which ends every stack walk.
  auto *top = reinterpret_cast<void **>(memory + kStackBytes) - kFirstWords;
  top[kMainWord] = reinterpret_cast<void *>(main);
  stack->top = top;
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
  // The next user of these addresses must not find the shadow of our frames.
  __asan_unpoison_memory_region(stack->memory, kStackBytes);
#endif
  munmap(stack->memory, kStackBytes);
  delete stack;
}

// Stacks that are not in use.
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
  // Never destroyed, because its stacks are in the middle of their main. Emptied before a fork,
  // because ThreadSanitizer counts fibers as threads, and does not let a process with threads fork
  // one that creates some.
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
  // The stack of the running thread. A pthread attribute has it, but ASan needs the values that it
  // gave to the first fiber. Null and 0 would be correct only for a thread that never returns.
  pthread_attr_t attributes;
  void *bottom = nullptr;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &bottom, &stack.bytes);
    pthread_attr_destroy(&attributes);
  }
  stack.memory = static_cast<char *>(bottom);
#endif
}

void switchStack(Stack &from, Stack &to) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&from.asanStack, to.memory, to.bytes);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(to.tsanFiber, 0);
#endif
  coll_simt_switch(&from.top, to.top);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(from.asanStack, nullptr, nullptr);
#endif
}

void bug(const char *what) {
  std::fprintf(stderr, "simt: %s\n", what);
  std::abort();
}

} // namespace coll::kernels::simt
