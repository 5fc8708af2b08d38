// simt_stack.h - stacks that the fibers of simt_host.cc run on, told to the sanitizers.
//
// The switch is our own: swapcontext makes a system call each time, for a signal mask that is the
// same on both sides, and AddressSanitizer's forgets what is poisoned on the stack that it enters.
//
// Stacks, and what a sanitizer knows of them, outlive their fibers and serve others, of any host
// thread: ThreadSanitizer takes longer to make a fiber than most kernels to run.

#ifndef COLL_TEST_SUPPORT_EMULATION_SIMT_STACK_H
#define COLL_TEST_SUPPORT_EMULATION_SIMT_STACK_H

#include <cstddef>
#include <vector>

namespace coll::kernels::simt {

// A stack, and where what runs on it has been left.
struct Stack {
  void *top = nullptr; // of the used part, while no fiber runs on it
  char *memory = nullptr;
  size_t bytes = 0;
  void *asanStack = nullptr;
  void *tsanFiber = nullptr;
};

// Unused stacks, until they are given back. A new one begins with `main`, the same in all calls,
// which never returns and calls beginStack() first; one that was given back continues where it was
// left. Any thread may call it. Ends the process if there is no memory.
std::vector<Stack *> takeStacks(size_t count, void (*main)());
void giveStacks(const std::vector<Stack *> &stacks);
void beginStack();

// The calling thread's own stack, so that others may switch to it.
void describeThread(Stack &stack);
// Leaves `from`, on which the caller runs, for `to`; returns when somebody switches to `from`.
void switchStack(Stack &from, Stack &to);

// Ends the process: what can only be a bug.
[[noreturn]] void bug(const char *what);

} // namespace coll::kernels::simt

#endif // COLL_TEST_SUPPORT_EMULATION_SIMT_STACK_H
