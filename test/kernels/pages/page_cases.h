// page_cases.h - random pages for the tests of unpack and pack.

#ifndef COLL_TEST_KERNELS_PAGE_CASES_H
#define COLL_TEST_KERNELS_PAGE_CASES_H

#include "runtime/base/unpack_layout.h"

#include <cstdint>
#include <random>
#include <vector>

namespace coll::kernels::test {

using Random = std::mt19937_64;

struct PageCase {
  std::vector<rt::PageDescriptor> pages; // in random order; no two overlap on either side
  uint64_t bounceBytes = 0, bufferBytes = 0;
};

// The distribution of lengths.
enum class Lengths { Tiny, Small, Pages, Large, Mixed };

// Draws up to `pages` pages with about `maxBytes` bytes in total. Without gaps, the first and last
// byte of both sides belong to a page; with `aligned`, all offsets and lengths are multiples of 16.
PageCase randomPages(Random &random, uint32_t pages, uint64_t maxBytes, Lengths lengths, bool gaps,
                     bool aligned);
// Inserts at random places descriptors that point outside in every way, and keeps the good ones.
void addBadPages(Random &random, PageCase &pageCase, uint32_t count);

std::vector<uint8_t> randomBytes(Random &random, size_t bytes);
// Returns a number from 0 to bound - 1.
uint64_t below(Random &random, uint64_t bound);

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_PAGE_CASES_H
