// rounds.h - how many random cases a test draws: few, so that it is quick, unless COLL_TEST_ROUNDS
// asks for more.

#ifndef COLL_TEST_KERNELS_ROUNDS_H
#define COLL_TEST_KERNELS_ROUNDS_H

#include "runtime/base/env.h"

#include <cstdlib>

namespace coll::kernels::test {

inline int roundsOr(int byDefault) {
  const int asked = std::atoi(rt::foreignEnv("COLL_TEST_ROUNDS").value_or("0").c_str());
  return asked > 0 ? asked : byDefault;
}

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_ROUNDS_H
