//===- large_stack.cc - room for deep recursion ----------------------------------===//

#include "compiler/large_stack.h"

#include "llvm/ADT/Twine.h"

#include <cstring>
#include <deque>
#include <pthread.h>

static void *runBody(void *body) {
  (*static_cast<llvm::function_ref<void()> *>(body))();
  return nullptr;
}

// Not llvm::thread: it aborts where there is no room for the stack (ulimit -v).
static int startOnLargeStack(pthread_t &thread, llvm::function_ref<void()> &body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, mlir::coll::kLargeStackBytes);
  const int code = pthread_create(&thread, &attributes, runBody, &body);
  pthread_attr_destroy(&attributes);
  return code;
}

llvm::Error mlir::coll::callOnLargeStack(llvm::function_ref<void()> body) {
  pthread_t thread;
  if (const int code = startOnLargeStack(thread, body))
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   llvm::Twine("cannot start a thread with a stack of ") +
                                       llvm::Twine(kLargeStackBytes >> 20) +
                                       " MiB: " + strerror(code));
  pthread_join(thread, nullptr);
  return llvm::Error::success();
}

void mlir::coll::shareOnLargeStacks(unsigned count, llvm::function_ref<void(unsigned)> body) {
  struct Helper {
    unsigned number;
    llvm::function_ref<void(unsigned)> body;
    pthread_t thread = {};
    void operator()() const { body(number); }
  };
  std::deque<Helper> helpers;                        // which stay where they are
  std::deque<llvm::function_ref<void()>> references; // to the helpers, for the threads
  for (unsigned i = 1; i < count; ++i) {
    Helper &helper = helpers.emplace_back(Helper{i, body});
    if (startOnLargeStack(helper.thread, references.emplace_back(helper)) != 0) {
      helpers.pop_back();
      break;
    }
  }
  body(0);
  for (Helper &helper : helpers)
    pthread_join(helper.thread, nullptr);
}
