// mutate.h - makes mutants of bytes for the fuzz tests of readers.

#ifndef COLL_TEST_PROFILER_MUTATE_H
#define COLL_TEST_PROFILER_MUTATE_H

#include <random>
#include <string>

namespace coll::profiler::test {

// The number of mutants that a reader gets, and their seed; main() sets them from --mutants=N and
// --seed=N.
inline int mutants = 20000;
inline uint64_t seed = 1;

// Makes one to four changes: to a byte or a bit, a cut, a copied or repeated piece, a long varint.
inline std::string mutate(const std::string &whole, std::mt19937_64 &random) {
  std::string text = whole;
  for (uint64_t changes = random() % 4 + 1; changes > 0 && !text.empty(); --changes) {
    size_t at = random() % text.size(), length = random() % 32;
    switch (random() % 7) {
    case 0:
      text[at] = static_cast<char>(random());
      break;
    case 1:
      text[at] = static_cast<char>(text[at] ^ 1 << random() % 8);
      break;
    case 2:
      text.resize(at);
      break;
    case 3:
      text.erase(at, length);
      break;
    case 4:
      text.insert(at, text.substr(random() % text.size(), length));
      break;
    case 5:
      text.insert(at, std::string(random() % 12, '\xff'));
      break;
    case 6:
      text[at] = static_cast<char>(0x80 | text[at]);
      break;
    }
  }
  return text;
}

} // namespace coll::profiler::test

#endif // COLL_TEST_PROFILER_MUTATE_H
