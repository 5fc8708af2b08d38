#include "test/kernels/peer/peer_cases.h"

#include "runtime/base/narrow.h"
#include "runtime/base/reduce.h"
#include "runtime/kernels/peer/packet.h"

#include <algorithm>
#include <cstring>

namespace coll::kernels::test {

namespace {

constexpr const char *kOpNames[] = {"all_reduce", "reduce_scatter", "reduce", "all_gather",
                                    "all_to_all", "broadcast",      "gather", "scatter",
                                    "permute",    "barrier"};

// Puts the reserved value into one of so many packets; unless `whole`, without its last word in
// half of them.
void putReserved(Fast &random, bool whole, uint64_t oneOf, Bytes &bytes) {
  const uint32_t reserved[4] = {kEmptyWord0, kEmptyWord1, kEmptyWord2,
                                random.next() % 2 ? kEmptyWord3 : kEscapeWord3};
  for (uint64_t at = 0; at + 16 <= bytes.size(); at += 16)
    if (const uint64_t chosen = random.next(); chosen % oneOf == 0)
      std::memcpy(bytes.data() + at, reserved, whole || chosen / oneOf % 2 ? 16 : 12);
}

// Floats of any size that sums keep apart.
void putFloats(Fast &random, CollDtype dtype, Bytes &bytes) {
  const auto size = static_cast<uint64_t>(rt::dtypeSize(dtype));
  for (uint64_t i = 0; i < bytes.size() / size; ++i) {
    char *at = bytes.data() + i * size;
    const double value = static_cast<double>(static_cast<int32_t>(random.next())) / (1 << 27);
    const auto put = [&](auto typed) { std::memcpy(at, &typed, sizeof typed); };
    switch (dtype) {
    case kCollF32:
      put(static_cast<float>(value));
      break;
    case kCollF64:
      put(value);
      break;
    case kCollF16:
      put(rt::f32ToF16(static_cast<float>(value)));
      break;
    case kCollBf16:
      put(rt::f32ToBf16(static_cast<float>(value)));
      break;
    case kCollF8E4M3FN:
      put(rt::f32ToF8E4M3FN(static_cast<float>(value / 16)));
      break;
    case kCollF8E5M2:
      put(rt::f32ToF8E5M2(static_cast<float>(value / 16)));
      break;
    case kCollBool:
      put(static_cast<uint8_t>(value > 0));
      break;
    default:
      return;
    }
  }
}

// The bits of exponent and fraction of floats that sums combine in f32; otherwise 0.
struct FloatBits {
  uint32_t exponent = 0, fraction = 0;
};
FloatBits bitsOf(CollDtype dtype) {
  switch (dtype) {
  case kCollF32:
    return {0x7F80'0000, 0x007F'FFFF};
  case kCollF16:
    return {0x7C00, 0x03FF};
  case kCollBf16:
    return {0x7F80, 0x007F};
  default:
    return {};
  }
}

// Puts NaNs with any bits, infinities, and subnormal numbers.
void putSpecial(Fast &random, CollDtype dtype, Bytes &bytes) {
  const FloatBits bits = bitsOf(dtype);
  const auto size = static_cast<uint64_t>(rt::dtypeSize(dtype));
  for (uint64_t at = 0; bits.exponent != 0 && at < bytes.size(); at += size) {
    const uint64_t chosen = random.next();
    if (chosen % 64 != 0)
      continue;
    auto value = static_cast<uint32_t>(random.next());
    switch (chosen / 64 % 3) {
    case 0:
      value = value | bits.exponent | 1;
      break;
    case 1:
      value = (value | bits.exponent) & ~bits.fraction;
      break;
    default:
      value &= ~bits.exponent;
    }
    std::memcpy(bytes.data() + at, &value, size); // the low half, of 16 bits
  }
}

std::vector<int32_t> randomPairs(Random &random, uint32_t size) {
  std::vector<int32_t> sources(size), targets(size), pairs;
  for (uint32_t i = 0; i < size; ++i)
    sources[i] = targets[i] = static_cast<int32_t>(i);
  std::shuffle(sources.begin(), sources.end(), random);
  std::shuffle(targets.begin(), targets.end(), random);
  const uint32_t count = random() % (size + 1);
  for (uint32_t i = 0; i < count; ++i) {
    pairs.push_back(sources[i]);
    pairs.push_back(targets[i]);
  }
  return pairs;
}

} // namespace

bool Case::sumsFloats() const {
  return reduces() && bitsOf(dtype).exponent != 0 &&
         (reduction == kCollSum || reduction == kCollAvg);
}

std::string Case::name() const {
  return std::string(kOpNames[static_cast<int>(op)]) + " " + rt::reductionName(reduction) + " " +
         rt::dtypeName(dtype) + " x " + std::to_string(outer) + " x " + std::to_string(count) +
         " root " + std::to_string(root) + (inPlace ? " in place" : "") +
         (direct ? " direct" : "") + " offsets " + std::to_string(srcOffset) + " " +
         std::to_string(dstOffset) + " algorithm " +
         std::to_string(static_cast<int>(tuning.algorithm)) + " grid " +
         std::to_string(tuning.blocks) + " x " + std::to_string(tuning.threads);
}
Case randomCase(Random &random, uint32_t size, uint64_t maxBytes) {
  Case c;
  c.op = kOps[random() % std::size(kOps)];
  do {
    c.dtype = static_cast<CollDtype>(random() % rt::kNumDtypes);
    c.reduction = static_cast<CollReduction>(random() % rt::kNumReductions);
  } while (!rt::reductionTakes(c.reduction, c.dtype));
  if (random() % 3 == 0) {
    c.dtype = random() % 2 ? kCollF32 : kCollBf16;
    c.reduction = random() % 2 ? kCollSum : kCollAvg;
  }
  const auto elem = static_cast<uint64_t>(rt::dtypeSize(c.dtype));
  c.count = random() % 16 == 0 ? random() % 3 : 1 + random() % (1 + random() % (maxBytes / elem));
  if (random() % 4 == 0) {
    c.outer = 1 + random() % 4;
    c.count = c.count / c.outer;
  }
  c.dstOuter = c.outer;
  if (c.op == Op::AllToAll && random() % 2 == 0)
    c.dstOuter = 1;
  c.root = random() % size;
  c.inPlace = random() % 3 == 0;
  if (c.inPlace && c.outer > 1 && c.op != Op::AllReduce)
    c.inPlace = false;
  c.direct = random() % 3 == 0 && c.op != Op::Permute && !c.inPlace;
  const auto offset = [&] {
    return random() % 2 ? 0 : static_cast<uint32_t>(random() % (32 / elem) * elem);
  };
  c.srcOffset = offset();
  c.dstOffset = offset();
  c.tuning.algorithm = static_cast<PeerAlgorithm>(random() % 4);
  c.pairs = randomPairs(random, size);
  return c;
}

Bytes randomBytes(Fast &random, uint64_t bytes) {
  Bytes result(bytes);
  for (uint64_t at = 0; at < bytes; at += sizeof(uint64_t)) {
    const uint64_t word = random.next();
    std::memcpy(result.data() + at, &word, std::min<uint64_t>(sizeof word, bytes - at));
  }
  return result;
}

Bytes randomElements(Fast &random, const Case &c, uint64_t bytes) {
  Bytes result = randomBytes(random, bytes);
  if (!c.reduces()) {
    putReserved(random, /*whole=*/false, 8, result);
    return result;
  }
  putFloats(random, c.dtype, result);
  if (c.dtype == kCollI32 || c.dtype == kCollI64 || c.dtype == kCollI8 || c.dtype == kCollU8)
    putReserved(random, /*whole=*/true, 8, result);
  // Only in half of the contributions, because a sum with a NaN shows little else.
  if (c.sumsFloats() && random.next() % 2 == 0) {
    putSpecial(random, c.dtype, result);
    putReserved(random, /*whole=*/true, 64, result); // NaN, as floats
  }
  return result;
}

bool isNan(CollDtype dtype, const char *at) {
  const FloatBits bits = bitsOf(dtype);
  uint32_t value = 0;
  std::memcpy(&value, at, static_cast<size_t>(std::min<int64_t>(rt::dtypeSize(dtype), 4)));
  return bits.exponent != 0 && (value & bits.exponent) == bits.exponent &&
         (value & bits.fraction) != 0;
}

Bytes blockOf(const Bytes &wide, const Case &c, uint64_t outer, uint32_t size, uint32_t j) {
  const uint64_t row = outer ? c.blockBytes() / outer : 0;
  Bytes block;
  block.reserve(c.blockBytes());
  for (uint64_t o = 0; o < outer; ++o)
    block.insert(block.end(), wide.begin() + static_cast<ptrdiff_t>((o * size + j) * row),
                 wide.begin() + static_cast<ptrdiff_t>((o * size + j + 1) * row));
  return block;
}
void putBlock(Bytes &wide, const Case &c, uint64_t outer, uint32_t size, uint32_t j,
              const Bytes &block) {
  const uint64_t row = outer ? c.blockBytes() / outer : 0;
  for (uint64_t o = 0; o < outer; ++o)
    std::copy_n(block.begin() + static_cast<ptrdiff_t>(o * row), row,
                wide.begin() + static_cast<ptrdiff_t>((o * size + j) * row));
}

Bytes reduced(const Case &c, const std::vector<const void *> &contributions) {
  Bytes result(c.blockBytes());
  rt::reduceBuffers(c.dtype, c.reduction, contributions.data(),
                    static_cast<int>(contributions.size()), result.data(),
                    static_cast<int64_t>(result.size()) / rt::dtypeSize(c.dtype));
  return result;
}

} // namespace coll::kernels::test
