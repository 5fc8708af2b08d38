// Reductions beside a double reference, and block conversions beside those of single values.

#include "runtime/base/dtype.h"
#include "runtime/base/narrow_blocks.h"
#include "runtime/base/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace coll::rt {
namespace {

// What a type rounds to: half a unit in the last place, relative and near zero.
struct Rounding {
  CollDtype dtype;
  double relative, absolute;
};
constexpr Rounding kFloats[] = {{kCollF32, 0x1p-24, 0x1p-150},    {kCollF64, 0x1p-53, 0},
                                {kCollF16, 0x1p-11, 0x1p-25},     {kCollBf16, 0x1p-8, 0x1p-134},
                                {kCollF8E4M3FN, 0x1p-4, 0x1p-10}, {kCollF8E5M2, 0x1p-3, 0x1p-17}};

template <typename T>
T fetch(const void *data, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + i * static_cast<int64_t>(sizeof(T)),
              sizeof(T));
  return value;
}

double get(CollDtype dtype, const void *data, int64_t i) {
  switch (dtype) {
  case kCollF32:
    return fetch<float>(data, i);
  case kCollF64:
    return fetch<double>(data, i);
  case kCollF16:
    return f16ToF32(fetch<uint16_t>(data, i));
  case kCollBf16:
    return bf16ToF32(fetch<uint16_t>(data, i));
  case kCollF8E4M3FN:
    return f8E4M3FNToF32(fetch<uint8_t>(data, i));
  case kCollF8E5M2:
    return f8E5M2ToF32(fetch<uint8_t>(data, i));
  default:
    ADD_FAILURE() << "no float";
    return 0;
  }
}

// Elements of a type: `count` values spread over many magnitudes.
std::vector<char> randomElements(std::mt19937 &random, CollDtype dtype, int64_t count) {
  std::vector<char> data(static_cast<size_t>(count * dtypeSize(dtype)));
  std::uniform_real_distribution<double> mantissa(-2, 2), exponent(-3, 1);
  for (int64_t i = 0; i < count; ++i) {
    double value = mantissa(random) * std::exp2(std::floor(exponent(random)));
    char *at = data.data() + i * dtypeSize(dtype);
    float wide = static_cast<float>(value);
    if (dtype == kCollF64)
      std::memcpy(at, &value, sizeof(value));
    else if (dtype == kCollF32)
      std::memcpy(at, &wide, sizeof(wide));
    else
      narrowBlocks(dtype, VectorUnit::None).narrow(&wide, at, 1);
  }
  return data;
}

// The exact result in double, and the sum of magnitudes that f32 rounding errors scale with.
struct Exact {
  double value, scale;
};
Exact combineExactly(CollReduction reduction, const std::vector<double> &values) {
  Exact exact = {values[0], std::fabs(values[0])};
  for (size_t s = 1; s < values.size(); ++s) {
    double v = values[s];
    switch (reduction) {
    case kCollProd:
      exact.value *= v;
      exact.scale = std::fabs(exact.value);
      break;
    case kCollMin:
      exact.value = std::min(exact.value, v);
      break;
    case kCollMax:
      exact.value = std::max(exact.value, v);
      break;
    default:
      exact.value += v;
      exact.scale += std::fabs(v);
    }
  }
  if (reduction == kCollAvg)
    exact = {exact.value / static_cast<double>(values.size()), exact.scale};
  return exact;
}

TEST(ReduceTest, FloatsAreWithinOneRoundingOfDouble) {
  std::mt19937 random(1);
  constexpr int64_t kCount = 1300; // no multiple of a block or a vector
  for (const Rounding &type : kFloats)
    for (CollReduction reduction : {kCollSum, kCollProd, kCollMin, kCollMax, kCollAvg})
      for (int n : {1, 2, 5}) {
        std::vector<std::vector<char>> sources;
        std::vector<const void *> pointers;
        for (int s = 0; s < n; ++s)
          sources.push_back(randomElements(random, type.dtype, kCount));
        for (const auto &source : sources)
          pointers.push_back(source.data());
        std::vector<char> result(sources[0].size());
        reduceBuffers(type.dtype, reduction, pointers.data(), n, result.data(), kCount);
        // Every addition of the accumulator's type rounds; the result rounds once.
        double step = type.dtype == kCollF64 ? 0x1p-53 : 0x1p-24;
        for (int64_t i = 0; i < kCount; ++i) {
          std::vector<double> values;
          for (const void *pointer : pointers)
            values.push_back(get(type.dtype, pointer, i));
          Exact exact = combineExactly(reduction, values);
          double limit =
              (n + 1) * step * exact.scale + type.relative * std::fabs(exact.value) + type.absolute;
          ASSERT_LE(std::fabs(get(type.dtype, result.data(), i) - exact.value), limit * 1.0001)
              << dtypeName(type.dtype) << ' ' << reductionName(reduction) << ' ' << n;
        }
      }
}

template <typename T>
void expectExactIntegers(CollDtype dtype) {
  std::vector<T> a, b, sum(512), product(512), smallest(512);
  for (int i = 0; i < 512; ++i) {
    a.push_back(static_cast<T>(i % 23 - 11));
    b.push_back(static_cast<T>(i % 7 - 3));
  }
  const void *sources[] = {a.data(), b.data()};
  reduceBuffers(dtype, kCollSum, sources, 2, sum.data(), 512);
  reduceBuffers(dtype, kCollProd, sources, 2, product.data(), 512);
  reduceBuffers(dtype, kCollMin, sources, 2, smallest.data(), 512);
  for (size_t i = 0; i < 512; ++i) {
    double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    ASSERT_EQ(static_cast<double>(sum[i]), x + y);
    ASSERT_EQ(static_cast<double>(product[i]), x * y);
    ASSERT_EQ(static_cast<double>(smallest[i]), std::min(x, y));
  }
}

TEST(ReduceTest, IntegersAreExact) {
  expectExactIntegers<int8_t>(kCollI8);
  expectExactIntegers<int16_t>(kCollI16);
  expectExactIntegers<int32_t>(kCollI32);
  expectExactIntegers<int64_t>(kCollI64);
}

// The sum wraps in the type, and is divided once, towards zero; more sources than the type counts.
template <typename T>
void expectAverages(CollDtype dtype, std::vector<T> values, T expected) {
  std::vector<const void *> sources;
  for (const T &value : values)
    sources.push_back(&value);
  const int n = static_cast<int>(values.size());
  T result = 0, sum = 0;
  reduceBuffers(dtype, kCollAvg, sources.data(), n, &result, 1);
  EXPECT_EQ(result, expected) << dtypeName(dtype) << " of " << n;
  reduceBuffers(dtype, kCollSum, sources.data(), n, &sum, 1);
  divideBuffer(dtype, &sum, 1, n);
  EXPECT_EQ(sum, expected) << dtypeName(dtype) << " of " << n;
}

TEST(ReduceTest, AveragesOfIntegersAreTruncated) {
  expectAverages<int8_t>(kCollI8, {7}, 7);
  expectAverages<int8_t>(kCollI8, {-4, -3}, -3);
  expectAverages<int8_t>(kCollI8, {4, 3, 1}, 2);
  expectAverages<int8_t>(kCollI8, {100, 100}, -28);                 // 200 is -56
  expectAverages<int8_t>(kCollI8, std::vector<int8_t>(200, -1), 0); // -200 is 56
  expectAverages<uint8_t>(kCollU8, {200, 100}, 22);                 // 300 is 44
  expectAverages<uint8_t>(kCollU8, {128, 127}, 127);
  expectAverages<uint8_t>(kCollU8, std::vector<uint8_t>(300, 1), 0); // 300 is 44
  expectAverages<int16_t>(kCollI16, {-32768, -1}, 16383);            // 32767
  expectAverages<int32_t>(kCollI32, {-5, -6, 0}, -3);
  expectAverages<int32_t>(kCollI32, {INT32_MAX, 1}, INT32_MIN / 2);
  expectAverages<int64_t>(kCollI64, {INT64_MIN, 0, 1}, (INT64_MIN + 1) / 3);
}

TEST(ReduceTest, UnsignedBytesAreComparedAsSuch) {
  const uint8_t a[] = {200, 3, 255}, b[] = {100, 255, 0};
  const void *sources[] = {a, b};
  auto expect = [&](CollReduction reduction, std::vector<uint8_t> expected) {
    std::vector<uint8_t> result(3);
    reduceBuffers(kCollU8, reduction, sources, 2, result.data(), 3);
    EXPECT_EQ(result, expected) << reductionName(reduction);
  };
  for (CollReduction least : {kCollMin, kCollUmin})
    expect(least, {100, 3, 0});
  for (CollReduction largest : {kCollMax, kCollUmax})
    expect(largest, {200, 255, 255});
  expect(kCollSum, {44, 2, 255});
  expect(kCollProd, {32, 253, 0});
}

std::vector<VectorUnit> units() {
  std::vector<VectorUnit> units;
  for (VectorUnit unit : {VectorUnit::None, VectorUnit::Avx2, VectorUnit::Avx512})
    if (unit <= vectorUnit())
      units.push_back(unit);
  return units;
}

bool isSame(float a, float b) {
  return std::isnan(a) ? std::isnan(b) : bitsOfFloat(a) == bitsOfFloat(b);
}

// Every pattern of a format, at any address and length up to two vectors, then all at once.
template <typename Stored>
void expectWidens(CollDtype dtype, float (*widen)(Stored)) {
  constexpr int64_t kPatterns = int64_t(1) << 8 * sizeof(Stored);
  std::vector<Stored> stored;
  for (int64_t bits = 0; bits < kPatterns; ++bits)
    stored.push_back(static_cast<Stored>(bits));
  std::vector<float> wide(stored.size());
  for (VectorUnit unit : units()) {
    for (int64_t count = 0; count < 40; ++count)
      narrowBlocks(dtype, unit).widen(stored.data() + count, wide.data() + count, count);
    for (size_t i = 0; i < 78; ++i)
      ASSERT_TRUE(isSame(wide[i], widen(stored[i]))) << dtypeName(dtype) << ' ' << i;
    narrowBlocks(dtype, unit).widen(stored.data(), wide.data(), kPatterns);
    for (size_t i = 0; i < stored.size(); ++i)
      ASSERT_TRUE(isSame(wide[i], widen(stored[i]))) << dtypeName(dtype) << ' ' << i;
  }
}

template <typename Stored>
void expectNarrows(CollDtype dtype, float (*widen)(Stored), Stored (*narrow)(float)) {
  std::mt19937 random(2);
  std::vector<float> values = {INFINITY, -INFINITY, NAN,   -NAN, 0.0f,
                               -0.0f,    0x1p-149f, 3e38f, 448,  465};
  for (int64_t bits = 0; bits + 1 < int64_t(1) << 8 * sizeof(Stored); ++bits) {
    float low = widen(static_cast<Stored>(bits)), high = widen(static_cast<Stored>(bits + 1));
    float tie = (low + high) / 2;
    values.insert(values.end(), {tie, std::nextafter(tie, 0.0f), std::nextafter(tie, 9e9f),
                                 floatFromBits(static_cast<uint32_t>(random()))});
  }
  std::vector<Stored> stored(values.size());
  for (VectorUnit unit : units()) {
    narrowBlocks(dtype, unit)
        .narrow(values.data(), stored.data(), static_cast<int64_t>(values.size()));
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_TRUE(isSame(widen(stored[i]), widen(narrow(values[i]))))
          << dtypeName(dtype) << " of " << values[i];
  }
}

TEST(NarrowBlocksTest, EveryUnitConvertsAsSingleValuesAreConverted) {
  expectWidens(kCollF16, f16ToF32);
  expectWidens(kCollBf16, bf16ToF32);
  expectWidens(kCollF8E4M3FN, f8E4M3FNToF32);
  expectWidens(kCollF8E5M2, f8E5M2ToF32);
  expectNarrows(kCollF16, f16ToF32, f32ToF16);
  expectNarrows(kCollBf16, bf16ToF32, f32ToBf16);
  expectNarrows(kCollF8E4M3FN, f8E4M3FNToF32, f32ToF8E4M3FN);
  expectNarrows(kCollF8E5M2, f8E5M2ToF32, f32ToF8E5M2);
}

} // namespace
} // namespace coll::rt
