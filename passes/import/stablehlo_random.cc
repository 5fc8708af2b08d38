//===- stablehlo_random.cc - rng_bit_generator -----------------------------------===//
//
// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011): Threefry-2x32
// with 20 rounds and Philox-4x32 with 10. Counters and the order of the words are
// XLA's, so that the bits are JAX's on a CPU, where DEFAULT means Philox. Every
// element is computed from its own position, on whichever rank it lies.
//
//===----------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/import/stablehlo_attrs.h"
#include "passes/import/stablehlo_build.h"
#include "passes/import/stablehlo_handlers.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::coll::stablehlo {

namespace {

/// Unsigned arithmetic on scalars.
class Words {
public:
  explicit Words(ImplicitLocOpBuilder &b) : b(b) {}

  Value word(int64_t value) const { return number(b.getI32Type(), value); }
  Value wide(int64_t value) const { return number(b.getI64Type(), value); }
  Value add(Value x, Value y) const { return arith::AddIOp::create(b, x, y); }
  Value mul(Value x, Value y) const { return arith::MulIOp::create(b, x, y); }
  Value bitXor(Value x, Value y) const { return arith::XOrIOp::create(b, x, y); }
  Value low(Value x) const { return arith::TruncIOp::create(b, b.getI32Type(), x); }
  Value high(Value x) const { return low(arith::ShRUIOp::create(b, x, wide(32))); }
  Value widen(Value x) const { return arith::ExtUIOp::create(b, b.getI64Type(), x); }
  Value join(Value low, Value high) const {
    Value shifted = arith::ShLIOp::create(b, widen(high), wide(32));
    return arith::OrIOp::create(b, widen(low), shifted);
  }
  Value rotate(Value x, int64_t by) const {
    Value up = arith::ShLIOp::create(b, x, word(by));
    return arith::OrIOp::create(b, up, arith::ShRUIOp::create(b, x, word(32 - by)));
  }
  /// choices[index]; their number is a power of two, and `index` is an i64.
  Value pick(ArrayRef<Value> choices, Value index) const {
    if (choices.size() == 1)
      return choices.front();
    size_t half = choices.size() / 2;
    Value isUpper = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, index, wide(half));
    Value rest = arith::RemUIOp::create(b, index, wide(half));
    return arith::SelectOp::create(b, isUpper, pick(choices.drop_front(half), rest),
                                   pick(choices.take_front(half), rest));
  }

private:
  Value number(Type type, int64_t value) const {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  }
  ImplicitLocOpBuilder &b;
};

SmallVector<Value> threefry(const Words &w, ArrayRef<Value> key, ArrayRef<Value> counter) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  Value third = w.bitXor(w.bitXor(key[0], key[1]), w.word(0x1BD11BDA));
  const Value keys[] = {key[0], key[1], third};
  Value x = w.add(counter[0], keys[0]), y = w.add(counter[1], keys[1]);
  for (int group = 0; group < 5; ++group) {
    for (int rotation : kRotations[group % 2]) {
      x = w.add(x, y);
      y = w.bitXor(w.rotate(y, rotation), x);
    }
    x = w.add(x, keys[(group + 1) % 3]);
    y = w.add(w.add(y, keys[(group + 2) % 3]), w.word(group + 1));
  }
  return {x, y};
}

SmallVector<Value> philox(const Words &w, ArrayRef<Value> key, ArrayRef<Value> counter) {
  SmallVector<Value> x(counter);
  Value first = key[0], second = key[1];
  for (int round = 0; round < 10; ++round) {
    Value p = w.mul(w.widen(x[0]), w.wide(0xD2511F53));
    Value q = w.mul(w.widen(x[2]), w.wide(0xCD9E8D57));
    x = {w.bitXor(w.bitXor(w.high(q), x[1]), first), w.low(q),
         w.bitXor(w.bitXor(w.high(p), x[3]), second), w.low(p)};
    first = w.add(first, w.word(int32_t(0x9E3779B9)));
    second = w.add(second, w.word(int32_t(0xBB67AE85)));
  }
  return x;
}

/// The numbering of a shape's elements: each has a counter and one of its words.
struct Numbering {
  /// The dimension along which neighbours share a counter; -1: the flat position.
  int64_t dim = -1;
  int64_t perCounter = 1;
  int64_t counters = 1;
};

/// Threefry-2x32 splits the first even dimension, or else the longest, in two.
Numbering threefryNumbering(ArrayRef<int64_t> shape, bool isWide) {
  Numbering numbering;
  for (int64_t size : shape)
    numbering.counters *= size;
  if (isWide || shape.empty() || numbering.counters == 0)
    return numbering;
  const auto *split = llvm::find_if(shape, [](int64_t size) { return size % 2 == 0; });
  if (split == shape.end())
    split = llvm::max_element(shape);
  numbering.dim = split - shape.begin();
  numbering.perCounter = 2;
  numbering.counters = numbering.counters / *split * ((*split + 1) / 2);
  return numbering;
}

Numbering philoxNumbering(ArrayRef<int64_t> shape, bool isWide) {
  Numbering numbering;
  numbering.perCounter = isWide ? 2 : 4;
  int64_t total = 1;
  for (int64_t size : shape)
    total *= size;
  numbering.counters = (total + numbering.perCounter - 1) / numbering.perCounter;
  return numbering;
}

/// The i64 number of the element's counter, and which of its words the element takes.
std::pair<Value, Value> locate(ImplicitLocOpBuilder &b, const Words &w, const Numbering &numbering,
                               ArrayRef<int64_t> shape) {
  Value position = w.wide(0), lane = w.wide(0);
  for (auto [dim, size] : llvm::enumerate(shape)) {
    Value index = arith::IndexCastOp::create(b, b.getI64Type(), linalg::IndexOp::create(b, dim));
    int64_t extent = size;
    if (static_cast<int64_t>(dim) == numbering.dim) {
      Value per = w.wide(numbering.perCounter);
      lane = arith::RemUIOp::create(b, index, per);
      index = arith::DivUIOp::create(b, index, per);
      extent = (size + numbering.perCounter - 1) / numbering.perCounter;
    }
    position = w.add(w.mul(position, w.wide(extent)), index);
  }
  if (numbering.dim < 0 && numbering.perCounter > 1) {
    Value per = w.wide(numbering.perCounter);
    lane = arith::RemUIOp::create(b, position, per);
    position = arith::DivUIOp::create(b, position, per);
  }
  return {position, lane};
}

struct Generator {
  bool isPhilox = true;
  /// Words of the state: the key, and where the counter begins.
  int64_t stateWords = 2;
  Numbering numbering;
};

/// The words at counter number `position`. Philox' counter has 128 bits, whose upper
/// half begins as the state's third word, or else as the key.
SmallVector<Value> wordsAt(const Generator &generator, ImplicitLocOpBuilder &b, const Words &w,
                           ArrayRef<Value> state, Value position) {
  const Value key[] = {w.low(state[0]), w.high(state[0])};
  Value counter = w.add(state[1], position);
  if (!generator.isPhilox)
    return threefry(w, key, {w.low(counter), w.high(counter)});
  Value overflows = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, counter, state[1]);
  Value upper = w.add(state[generator.stateWords == 3 ? 2 : 0],
                      arith::ExtUIOp::create(b, b.getI64Type(), overflows));
  return philox(w, key, {w.low(counter), w.high(counter), w.low(upper), w.high(upper)});
}

/// The state after the counters that were used. With three words, the last one counts how often the
/// second one overflowed.
Value advance(Source &src, const Generator &generator, RankedTensorType type) {
  ImplicitLocOpBuilder &b = src.b;
  auto constant = [&](ArrayRef<int64_t> words) {
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, words)).getResult();
  };
  Value state = src.operand(0);
  int64_t step = generator.numbering.counters;
  if (generator.stateWords == 2)
    return arith::AddIOp::create(b, state, constant({0, step}));
  // Each word beside the one before it.
  Value before = tensor::InsertSliceOp::create(
      b,
      tensor::ExtractSliceOp::create(b, state, indexAttrs(b, {0}), indexAttrs(b, {2}),
                                     indexAttrs(b, {1})),
      state, indexAttrs(b, {1}), indexAttrs(b, {2}), indexAttrs(b, {1}));
  Value sum = arith::AddIOp::create(b, before, constant({0, 0, step}));
  Value overflows = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, sum, before);
  Value carry = arith::ExtUIOp::create(b, type, overflows);
  return arith::AddIOp::create(b, arith::AddIOp::create(b, state, constant({0, step, 0})), carry);
}

FailureOr<Value> buildBits(Source &src, const Generator &generator, RankedTensorType type) {
  ImplicitLocOpBuilder &b = src.b;
  int64_t rank = type.getRank(), width = type.getElementTypeBitWidth();
  // Each state word is an input that all elements read.
  SmallVector<Value> inputs(generator.stateWords, src.operand(0));
  SmallVector<AffineMap> maps;
  for (int64_t word = 0; word < generator.stateWords; ++word)
    maps.push_back(AffineMap::get(rank, 0, b.getAffineConstantExpr(word), b.getContext()));
  maps.push_back(b.getMultiDimIdentityMap(rank));
  Value empty = tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  auto body = [&](ValueRange args) -> FailureOr<SmallVector<Value>> {
    Words w(b);
    SmallVector<Value> state(args.take_front(generator.stateWords));
    auto [position, lane] = locate(b, w, generator.numbering, type.getShape());
    SmallVector<Value> words = wordsAt(generator, b, w, state, position);
    if (width == 64) {
      SmallVector<Value> joined;
      for (size_t i = 0; i < words.size(); i += 2)
        joined.push_back(w.join(words[i], words[i + 1]));
      return SmallVector<Value>{w.pick(joined, lane)};
    }
    Value bits = w.pick(words, lane);
    if (width < 32)
      bits = arith::TruncIOp::create(b, type.getElementType(), bits);
    return SmallVector<Value>{bits};
  };
  FailureOr<linalg::GenericOp> generic = buildGeneric(b, inputs, empty, maps, body);
  if (failed(generic))
    return failure();
  return generic->getResult(0);
}

} // namespace

LogicalResult importRngBitGenerator(Source &src) {
  FailureOr<StringRef> algorithm = getKeyword(src.op, "rng_algorithm", "rng_algorithm");
  if (failed(algorithm))
    return failure();
  RankedTensorType state = src.operandTensor(0), type = src.tensor(1);
  Generator generator;
  generator.isPhilox = *algorithm != "THREE_FRY";
  if (generator.isPhilox && *algorithm != "PHILOX" && *algorithm != "DEFAULT")
    return src.error("has unknown rng_algorithm '" + *algorithm + "'");
  bool hasWords = state.getRank() == 1 && state.getElementType().isInteger(64) &&
                  (state.getDimSize(0) == 2 || (generator.isPhilox && state.getDimSize(0) == 3));
  if (!hasWords || src.tensor(0) != state)
    return src.error("needs a state of two 64-bit words (PHILOX: or three), and the same as a "
                     "result");
  generator.stateWords = state.getDimSize(0);
  unsigned width = type.getElementTypeBitWidth();
  if (src.kind(1) == ElementKind::Float || src.kind(1) == ElementKind::Bool || width < 8)
    return src.error("needs integers of 8 to 64 bits as its bits");
  generator.numbering = generator.isPhilox ? philoxNumbering(type.getShape(), width == 64)
                                           : threefryNumbering(type.getShape(), width == 64);
  Value next = advance(src, generator, state);
  if (type.getNumElements() == 0)
    return src.finish(
        {next, tensor::EmptyOp::create(src.b, type.getShape(), type.getElementType())});
  FailureOr<Value> bits = buildBits(src, generator, type);
  if (failed(bits))
    return failure();
  return src.finish({next, *bits});
}

} // namespace mlir::coll::stablehlo
