// simt_stack.h - the stacks on which the fibers of simt_host.cc run, described to the sanitizers.
//
// The switch is implemented here, because swapcontext makes a system call each time, for a signal
// mask that is the same on both sides, and AddressSanitizer's version forgets what is poisoned on
// the stack that it enters.
//
// Stacks, and what a sanitizer knows about them, outlive their fibers and are used for others, on
// any host thread: ThreadSanitizer takes longer to make a fiber than most kernels take to run.

#ifndef COLL_TEST_SUPPORT_EMULATION_SIMT_STACK_H
#define COLL_TEST_SUPPORT_EMULATION_SIMT_STACK_H

#include <cstddef>
#include <vector>

namespace coll::kernels::simt {

// A stack, and the point at which its code was left.
struct Stack {
  void *top = nullptr; // of the used part, while no fiber runs on it
  char *memory = nullptr;
  size_t bytes = 0;
  void *asanStack = nullptr;
  void *tsanFiber = nullptr;
};

// Takes unused stacks, until they are given back. A new one begins with `main`, which is the same
// in all calls, never returns, and calls beginStack() first; one that was given back continues
// where it was left. Any thread may call it. Ends the process if there is no memory.
std::vector<Stack *> takeStacks(size_t count, void (*main)());
void giveStacks(const std::vector<Stack *> &stacks);
void beginStack();

// Describes the calling thread's own stack, so that others may switch to it.
void describeThread(Stack &stack);
// Switches from `from`, on which the caller runs, to `to`; returns when another switch leads to
// `from`.
void switchStack(Stack &from, Stack &to);

// Ends the process because of something that can only be a bug.
[[noreturn]] void bug(const char *what);

} // namespace coll::kernels::simt

#endif // COLL_TEST_SUPPORT_EMULATION_SIMT_STACK_H
