// random.h - choices that a seed repeats.

#ifndef COLL_TEST_FUZZ_RANDOM_H
#define COLL_TEST_FUZZ_RANDOM_H

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace coll::fuzz {

// splitmix64 (public domain, by S. Vigna): the same on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}
  // Case `index` of a run: neighbouring cases have nothing in common.
  Random(uint64_t seed, uint64_t index) : state_(seed * 0x9e3779b97f4a7c15u + index) {
    state_ = next() ^ index;
  }

  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // Uniform in [0, bound), bound > 0.
  int64_t below(int64_t bound) { return int64_t(next() % uint64_t(bound)); }
  // Uniform in [low, high].
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(double probability) { return uniform() < probability; }
  // Uniform in [0, 1).
  double uniform() { return double(next() >> 11) * 0x1.0p-53; }

  template <typename T>
  const T &pick(const std::vector<T> &choices) {
    return choices[size_t(below(int64_t(choices.size())))];
  }
  template <typename T>
  void shuffle(std::vector<T> &items) {
    for (size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[size_t(below(int64_t(i)))]);
  }
  // 0 … n-1 in any order.
  std::vector<int64_t> permutation(size_t n) {
    std::vector<int64_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    shuffle(order);
    return order;
  }

private:
  uint64_t state_;
};

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_RANDOM_H
