#include "test/kernels/pages/page_cases.h"

#include <algorithm>

namespace coll::kernels::test {
namespace {

uint32_t randomLen(Random &random, Lengths lengths) {
  switch (lengths) {
  case Lengths::Tiny:
    return static_cast<uint32_t>(below(random, 40));
  case Lengths::Small:
    return static_cast<uint32_t>(below(random, 1100));
  case Lengths::Pages:
    return below(random, 4) ? 4096 : static_cast<uint32_t>(4096 - 20 + below(random, 40));
  case Lengths::Large:
    return static_cast<uint32_t>(below(random, (64 << 10) + 1));
  case Lengths::Mixed:
    return randomLen(random, static_cast<Lengths>(below(random, 4)));
  }
  return 0;
}

// Draws random places for the pages on one side; returns the end.
template <class Set>
uint64_t place(Random &random, std::vector<rt::PageDescriptor> &pages, bool gaps, bool aligned,
               Set set) {
  std::shuffle(pages.begin(), pages.end(), random);
  uint64_t at = 0;
  for (rt::PageDescriptor &page : pages) {
    if (gaps)
      at += below(random, 3) * (aligned ? 16 : 1 + below(random, 30));
    set(page, at);
    at += page.len;
  }
  return at + (gaps ? below(random, 20) : 0);
}

} // namespace

uint64_t below(Random &random, uint64_t bound) { return random() % bound; }

PageCase randomPages(Random &random, uint32_t pages, uint64_t maxBytes, Lengths lengths, bool gaps,
                     bool aligned) {
  PageCase out;
  uint64_t total = 0;
  for (uint32_t i = 0; i < pages && total < maxBytes; ++i) {
    uint32_t len = randomLen(random, lengths);
    len = aligned ? len / 16 * 16 : len;
    out.pages.push_back({0, len, 0});
    total += len;
  }
  out.bounceBytes = place(random, out.pages, gaps, aligned, [](auto &page, uint64_t at) {
    page.bounceOff = static_cast<uint32_t>(at);
  });
  out.bufferBytes =
      place(random, out.pages, gaps, aligned, [](auto &page, uint64_t at) { page.bufferOff = at; });
  std::shuffle(out.pages.begin(), out.pages.end(), random);
  return out;
}

void addBadPages(Random &random, PageCase &pageCase, uint32_t count) {
  const auto bounce = static_cast<uint32_t>(pageCase.bounceBytes);
  const uint64_t buffer = pageCase.bufferBytes;
  const std::vector<rt::PageDescriptor> kinds = {
      {bounce, 1, 0},
      {bounce ? bounce - 1 : 0, 2, 0},
      {0, bounce + 1, 0},
      {~0u, 16, 0},
      {~0u, ~0u, 0},
      {0, ~0u, 0},
      {0, 1, buffer},
      {0, 16, buffer ? buffer - 1 : 0},
      {0, 1, ~uint64_t{0}},
      {0, 16, ~uint64_t{0} - 15},
      {0, 16, uint64_t{1} << 63},
      {0, 4096, buffer + (uint64_t{1} << 32)},
  };
  for (uint32_t i = 0; i < count; ++i)
    pageCase.pages.insert(pageCase.pages.begin() +
                              static_cast<ptrdiff_t>(below(random, pageCase.pages.size() + 1)),
                          kinds[below(random, kinds.size())]);
}

std::vector<uint8_t> randomBytes(Random &random, size_t bytes) {
  std::vector<uint8_t> out(bytes);
  for (uint8_t &byte : out)
    byte = static_cast<uint8_t>(random() >> 11);
  return out;
}

} // namespace coll::kernels::test
