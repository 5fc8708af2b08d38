#include "test/kernel_diff/buffers.h"

#include "passes/export/exec/plan_buffers.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <cstring>
#include <sys/mman.h>

using namespace mlir;

static constexpr int64_t kPage = 4096, kAlignment = 64;

Buffer::Buffer(int64_t bytes) : bytes_(bytes) {
  int64_t room = llvm::alignTo(std::max<int64_t>(bytes, 1), kAlignment);
  int64_t used = llvm::alignTo(room, kPage);
  mapped_ = used + kPage;
  void *pages = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(static_cast<char *>(pages) + used, kPage, PROT_NONE) != 0)
    std::abort();
  pages_ = static_cast<char *>(pages);
  data_ = pages_ + used - room;
}

Buffer::~Buffer() {
  if (pages_)
    munmap(pages_, mapped_);
}

Buffer::Buffer(Buffer &&other) noexcept
    : pages_(other.pages_), data_(other.data_), mapped_(other.mapped_), bytes_(other.bytes_) {
  other.pages_ = nullptr;
}

void Buffer::copyFrom(const Buffer &other) { std::memcpy(data_, other.data_, bytes_); }

static Type elementOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getElementType() : type;
}

static int64_t elementBytes(Type element) {
  return mlir::coll::getBytes(RankedTensorType::get({}, element));
}

static uint64_t randomBits(Type element, std::mt19937 &random) {
  if (auto type = dyn_cast<FloatType>(element)) {
    llvm::APFloat value(std::uniform_real_distribution<double>(-2, 2)(random));
    bool losesInfo;
    value.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return value.bitcastToAPInt().getZExtValue();
  }
  if (element.isInteger(1))
    return random() % 2;
  if (element.isInteger(4))
    return static_cast<uint64_t>(static_cast<int64_t>(random() % 16) - 8);
  return static_cast<uint64_t>(static_cast<int64_t>(random() % 14) - 1);
}

void fillRandomly(const Buffer &buffer, Type type, std::mt19937 &random) {
  Type element = elementOf(type);
  if (type.isIndex()) {
    // The start of a slice, which the caller has clamped.
    std::memset(buffer.data(), 0, buffer.bytes());
    return;
  }
  int64_t bytes = elementBytes(element);
  for (int64_t at = 0; at + bytes <= buffer.bytes(); at += bytes) {
    uint64_t bits = randomBits(element, random);
    std::memcpy(buffer.data() + at, &bits, bytes);
  }
}

void sumUp(const Buffer &sum, const std::vector<Buffer> &terms, Type type) {
  auto element = cast<FloatType>(elementOf(type));
  int64_t bytes = elementBytes(element);
  const llvm::fltSemantics &own = element.getFloatSemantics();
  const llvm::fltSemantics &wide = bytes < 4 ? llvm::APFloat::IEEEsingle() : own;
  constexpr auto kNearest = llvm::APFloat::rmNearestTiesToEven;
  bool losesInfo;
  for (int64_t at = 0; at + bytes <= sum.bytes(); at += bytes) {
    llvm::APFloat total(wide, 0);
    for (const Buffer &term : terms) {
      uint64_t bits = 0;
      std::memcpy(&bits, term.data() + at, bytes);
      llvm::APFloat value(own, llvm::APInt(element.getWidth(), bits));
      value.convert(wide, kNearest, &losesInfo);
      total.add(value, kNearest);
    }
    total.convert(own, kNearest, &losesInfo);
    uint64_t bits = total.bitcastToAPInt().getZExtValue();
    std::memcpy(sum.data() + at, &bits, bytes);
  }
}

static double decode(const char *at, Type element) {
  uint64_t bits = 0;
  int64_t bytes = elementBytes(element);
  std::memcpy(&bits, at, bytes);
  if (auto type = dyn_cast<FloatType>(element)) {
    llvm::APFloat value(type.getFloatSemantics(), llvm::APInt(type.getWidth(), bits));
    bool losesInfo;
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return value.convertToDouble();
  }
  return static_cast<double>(llvm::SignExtend64(bits, 8 * bytes));
}

// Relative to the largest value of the tensor, or to 1: a sum may cancel.
static double tolerance(Type element) {
  if (!isa<FloatType>(element))
    return 0;
  unsigned mantissa = cast<FloatType>(element).getFPMantissaWidth();
  return std::ldexp(mantissa < 20 ? 4.0 : 256.0, -static_cast<int>(mantissa));
}

std::string compare(const Buffer &expected, const Buffer &actual, Type type) {
  Type element = elementOf(type);
  int64_t bytes = elementBytes(element);
  double largest = 0;
  for (int64_t at = 0; at + bytes <= expected.bytes(); at += bytes) {
    double value = std::abs(decode(expected.data() + at, element));
    if (std::isfinite(value))
      largest = std::max(largest, value);
  }
  for (int64_t at = 0; at + bytes <= expected.bytes(); at += bytes) {
    double x = decode(expected.data() + at, element), y = decode(actual.data() + at, element);
    bool same = x == y || (std::isnan(x) && std::isnan(y)) ||
                std::abs(x - y) <= tolerance(element) * std::max(largest, 1.0);
    if (!same)
      return "element " + std::to_string(at / bytes) + " is " + std::to_string(y) + ", not " +
             std::to_string(x);
  }
  return "";
}
