//===- large_stack.h - room for deep recursion ---------------------------*- C++ -*-===//

#ifndef COLL_COMPILER_LARGE_STACK_H
#define COLL_COMPILER_LARGE_STACK_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <cstddef>

namespace mlir::coll {

inline constexpr size_t kLargeStackBytes = size_t(512) << 20;

/// Runs `body` on a thread with a stack of that size, of which only what is used takes memory, and
/// blocks until it returns. An error if there is no room for such a stack.
llvm::Error callOnLargeStack(llvm::function_ref<void()> body);

/// Runs body(0) here and body(1) to body(count - 1) on threads with such stacks, and blocks until
/// all have returned. Where no further thread can be started, those that were share the work: each
/// body takes from what is left.
void shareOnLargeStacks(unsigned count, llvm::function_ref<void(unsigned)> body);

} // namespace mlir::coll

#endif // COLL_COMPILER_LARGE_STACK_H
