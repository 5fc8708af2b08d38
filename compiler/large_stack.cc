//===- large_stack.cc - room for deep recursion ----------------------------------===//

#include "compiler/large_stack.h"

#include "llvm/ADT/Twine.h"

#include <cstring>
#include <pthread.h>

static void *runBody(void *body) {
  (*static_cast<llvm::function_ref<void()> *>(body))();
  return nullptr;
}

// Not llvm::thread: it aborts where there is no room for the stack (ulimit -v).
llvm::Error mlir::coll::callOnLargeStack(llvm::function_ref<void()> body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kLargeStackBytes);
  pthread_t thread;
  const int code = pthread_create(&thread, &attributes, runBody, &body);
  pthread_attr_destroy(&attributes);
  if (code != 0)
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   llvm::Twine("cannot start a thread with a stack of ") +
                                       llvm::Twine(kLargeStackBytes >> 20) +
                                       " MiB: " + strerror(code));
  pthread_join(thread, nullptr);
  return llvm::Error::success();
}
