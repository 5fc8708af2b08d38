#include "test/kernels/compress/compress_cases.h"

#include "runtime/base/narrow.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace coll::kernels::test {
namespace {

using Bytes = std::vector<uint8_t>;

// Fills with elements of type T from make(); the last one may be cut.
template <typename T, typename Make>
void fillWith(Bytes &bytes, Make make) {
  for (size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    const T value = static_cast<T>(make());
    std::memcpy(bytes.data() + at, &value, std::min(sizeof(T), bytes.size() - at));
  }
}

double normal(std::mt19937 &random) { return std::normal_distribution<double>(0, 1)(random); }

// Distributed like gradients: small, with tails much heavier than those of a normal distribution.
double gradient(std::mt19937 &random) { return 1e-3 * normal(random) * normal(random); }

template <double (*draw)(std::mt19937 &)>
void bf16(std::mt19937 &random, Bytes &bytes) {
  fillWith<uint16_t>(bytes, [&] { return rt::f32ToBf16(static_cast<float>(draw(random))); });
}
template <double (*draw)(std::mt19937 &)>
void f16(std::mt19937 &random, Bytes &bytes) {
  fillWith<uint16_t>(bytes, [&] { return rt::f32ToF16(static_cast<float>(draw(random))); });
}
template <typename T, double (*draw)(std::mt19937 &)>
void floats(std::mt19937 &random, Bytes &bytes) {
  fillWith<T>(bytes, [&] { return draw(random); });
}
template <typename T>
void tokens(std::mt19937 &random, Bytes &bytes) {
  fillWith<T>(bytes, [&] { return random() % 50'257; });
}
void smallIntegers(std::mt19937 &random, Bytes &bytes) {
  fillWith<int32_t>(bytes, [&] { return static_cast<int32_t>(random() % 201) - 100; });
}
// Rows of 1,024 f32 of which one in eight is in use, like the gradient of an embedding.
void sparseRows(std::mt19937 &random, Bytes &bytes) {
  size_t at = 0;
  fillWith<float>(bytes, [&] { return at++ / 1024 % 8 == 0 ? gradient(random) : 0.0; });
}
void zeros(std::mt19937 &, Bytes &bytes) { std::memset(bytes.data(), 0, bytes.size()); }
void anyBytes(std::mt19937 &random, Bytes &bytes) {
  fillWith<uint8_t>(bytes, [&] { return random(); });
}
// Values that arithmetic would change: signalling NaNs, -0, infinities, subnormals.
void oddities(std::mt19937 &random, Bytes &bytes) {
  constexpr uint32_t kOdd[] = {0x80000000, 0x7f800001, 0xffc00000, 0xff800000, 1, 0, 0x807fffff};
  fillWith<uint32_t>(bytes, [&] { return kOdd[random() % std::size(kOdd)]; });
}

} // namespace

const std::vector<CompressCase> &compressCases() {
  static const std::vector<CompressCase> all = {
      {"bf16, normal", bf16<normal>, 0.766},
      {"bf16, gradients", bf16<gradient>, 0.774},
      {"f16, normal", f16<normal>, 0.936},
      {"f32, normal", floats<float, normal>, 0.892},
      {"f32, gradients", floats<float, gradient>, 0.895},
      {"f64, normal", floats<double, normal>, 0.924},
      {"f32, one row of eight", sparseRows, 0.127},
      {"i32, -100 to 100", smallIntegers, 0.361},
      {"i32, tokens", tokens<int32_t>, 0.518},
      {"i64, tokens", tokens<int64_t>, 0.268},
      {"zeros", zeros, 0.018},
      {"random bytes", anyBytes, 1.002},
      {"f32, oddities", oddities, 0.424},
  };
  return all;
}

} // namespace coll::kernels::test
