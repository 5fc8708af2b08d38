// comes_true.h - waits in a test for what other threads, or calls in the condition, bring about.

#ifndef COLL_TEST_SUPPORT_COMES_TRUE_H
#define COLL_TEST_SUPPORT_COMES_TRUE_H

#include <chrono>
#include <thread>

namespace coll::rt::test {

// Polls the condition, for a minute at most. Returns whether it came true.
template <typename Condition>
bool comesTrue(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end)
      return false;
    std::this_thread::yield();
  }
  return true;
}

} // namespace coll::rt::test

#endif // COLL_TEST_SUPPORT_COMES_TRUE_H
