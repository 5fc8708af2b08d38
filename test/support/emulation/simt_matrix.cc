#include "test/support/emulation/simt_matrix.h"

namespace coll::kernels::simt {
namespace {

using Unpack = float (*)(uint16_t);

// The addresses of all lanes' rows.
struct Rows {
  explicit Rows(SharedAddress row) {
    const uint32_t words[2] = {static_cast<uint32_t>(row),
                               static_cast<uint32_t>(uint64_t{row} >> 32)};
    all_ = gather(words, 2);
  }
  const char *operator[](uint32_t lane) const {
    const uint32_t *words = all_ + lane * kMostWords;
    return reinterpret_cast<const char *>(
        static_cast<uintptr_t>(words[0] | uint64_t{words[1]} << 32));
  }

private:
  const uint32_t *all_;
};

uint16_t elementOf(uint32_t word, uint32_t i) { return static_cast<uint16_t>(word >> 16 * i); }

// c += a b, with a and b by row and column, from all lanes' words: a[4], then b0 and b1.
template <typename A, typename B>
void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, uint32_t depth,
              A elementA, B elementB) {
  const uint32_t words[kMostWords] = {a[0], a[1], a[2], a[3], b0, b1};
  const uint32_t *all = gather(words, kMostWords);
  const uint32_t g = lane() / 4, t = lane() % 4;
  for (uint32_t i = 0; i < 4; ++i)
    for (uint32_t k = 0; k < depth; ++k)
      c[i] += elementA(all, g + i / 2 * 8, k) * elementB(all, k, 2 * t + i % 2);
}

template <Unpack unpack>
void multiplyNarrow(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  const auto elementA = [](const uint32_t *all, uint32_t row, uint32_t k) {
    const uint32_t from = row % 8 * 4 + k % 8 / 2;
    return unpack(elementOf(all[from * kMostWords + k / 8 * 2 + row / 8], k % 2));
  };
  const auto elementB = [](const uint32_t *all, uint32_t k, uint32_t column) {
    const uint32_t from = column * 4 + k % 8 / 2;
    return unpack(elementOf(all[from * kMostWords + 4 + k / 8], k % 2));
  };
  multiply(c, a, b0, b1, 16, elementA, elementB);
}

} // namespace

void loadMatrices(uint32_t (&to)[4], SharedAddress row) {
  const Rows rows(row);
  for (uint32_t m = 0; m < 4; ++m)
    std::memcpy(&to[m], rows[m * 8 + lane() / 4] + lane() % 4 * 4, 4);
}

void loadTransposed(uint32_t (&to)[4], SharedAddress row) {
  const Rows rows(row);
  for (uint32_t m = 0; m < 4; ++m) {
    uint16_t pair[2];
    for (uint32_t i = 0; i < 2; ++i)
      std::memcpy(&pair[i], rows[m * 8 + lane() % 4 * 2 + i] + lane() / 4 * 2, 2);
    std::memcpy(&to[m], pair, 4);
  }
}

void multiplyBf16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  multiplyNarrow<rt::bf16ToF32>(c, a, b0, b1);
}

void multiplyF16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  multiplyNarrow<rt::f16ToF32>(c, a, b0, b1);
}

void multiplyTf32(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  const auto elementA = [](const uint32_t *all, uint32_t row, uint32_t k) {
    const uint32_t from = row % 8 * 4 + k % 4;
    return floatOf(all[from * kMostWords + k / 4 * 2 + row / 8]);
  };
  const auto elementB = [](const uint32_t *all, uint32_t k, uint32_t column) {
    return floatOf(all[(column * 4 + k % 4) * kMostWords + 4 + k / 4]);
  };
  multiply(c, a, b0, b1, 8, elementA, elementB);
}

} // namespace coll::kernels::simt
