// fake_abi.h - a runtime whose functions do almost nothing, to call compiled steps without the real
// one.

#ifndef COLL_TEST_JIT_FAKE_ABI_H
#define COLL_TEST_JIT_FAKE_ABI_H

#include "runtime/step/abi/abi.h"

#include <string>
#include <vector>

// The state that the table's functions read and write. all_reduce doubles its input, as if two
// ranks had the same; other calls are only recorded.
struct CollContext {
  int64_t rank = 0;
  int32_t failAt = -1; // number of the call that fails
  std::vector<std::string> calls;
};

const CollAbi &fakeAbi();

#endif // COLL_TEST_JIT_FAKE_ABI_H
