//===- rank_expr.cc - evaluation of rank expressions -----------------------------===//

#include "passes/analysis/rank_expr.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::coll;

using Step = RankExpr::Step;
using Kind = RankExpr::Step::Kind;

static int64_t wrap(uint64_t value, unsigned width) {
  return width >= 64 ? static_cast<int64_t>(value) : llvm::SignExtend64(value, width);
}

static uint64_t zeroExtend(int64_t value, unsigned width) {
  return width >= 64 ? static_cast<uint64_t>(value)
                     : static_cast<uint64_t>(value) & llvm::maskTrailingOnes<uint64_t>(width);
}

/// Signed quotients: rounding decides what is added to the truncated quotient.
static RankValue divideSigned(Kind kind, int64_t a, int64_t b) {
  if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min()))
    return std::nullopt;
  int64_t quotient = a / b;
  int64_t rest = a % b;
  if (kind == Kind::RemS)
    return rest;
  bool roundsDown = kind == Kind::FloorDivS && rest != 0 && (rest < 0) != (b < 0);
  bool roundsUp = kind == Kind::CeilDivS && rest != 0 && (rest < 0) == (b < 0);
  return quotient + (roundsUp ? 1 : 0) - (roundsDown ? 1 : 0);
}

static RankValue divideUnsigned(Kind kind, uint64_t a, uint64_t b) {
  if (b == 0)
    return std::nullopt;
  if (kind == Kind::RemU)
    return static_cast<int64_t>(a % b);
  return static_cast<int64_t>(a / b + (kind == Kind::CeilDivU && a % b != 0));
}

static RankValue shift(Kind kind, int64_t a, uint64_t amount, unsigned width) {
  if (amount >= width)
    return std::nullopt;
  if (kind == Kind::Shl)
    return static_cast<int64_t>(static_cast<uint64_t>(a) << amount);
  if (kind == Kind::ShrS)
    return a >> amount;
  return static_cast<int64_t>(zeroExtend(a, width) >> amount);
}

/// A binary step on sign-extended operands, before the result is wrapped.
static RankValue evaluateBinary(const Step &step, int64_t a, int64_t b) {
  uint64_t ua = zeroExtend(a, step.width), ub = zeroExtend(b, step.width);
  switch (step.kind) {
  case Kind::Add:
    return static_cast<int64_t>(ua + ub);
  case Kind::Sub:
    return static_cast<int64_t>(ua - ub);
  case Kind::Mul:
    return static_cast<int64_t>(ua * ub);
  case Kind::DivS:
  case Kind::CeilDivS:
  case Kind::FloorDivS:
  case Kind::RemS:
    return divideSigned(step.kind, a, b);
  case Kind::DivU:
  case Kind::CeilDivU:
  case Kind::RemU:
    return divideUnsigned(step.kind, ua, ub);
  case Kind::And:
    return a & b;
  case Kind::Or:
    return a | b;
  case Kind::Xor:
    return a ^ b;
  case Kind::Shl:
  case Kind::ShrS:
  case Kind::ShrU:
    return shift(step.kind, a, ub, step.width);
  case Kind::MinS:
    return std::min(a, b);
  case Kind::MaxS:
    return std::max(a, b);
  case Kind::MinU:
    return ua < ub ? a : b;
  case Kind::MaxU:
    return ua < ub ? b : a;
  case Kind::Eq:
    return a == b ? -1 : 0;
  case Kind::Ne:
    return a != b ? -1 : 0;
  case Kind::LtS:
    return a < b ? -1 : 0;
  case Kind::LeS:
    return a <= b ? -1 : 0;
  case Kind::LtU:
    return ua < ub ? -1 : 0;
  case Kind::LeU:
    return ua <= ub ? -1 : 0;
  default:
    return std::nullopt;
  }
}

/// Row-major position along the axes of a coordinate step.
static RankValue evaluateCoordinate(const Step &step, int64_t rank) {
  if (rank >= step.number)
    return std::nullopt;
  int64_t position = 0;
  for (size_t i = 0; i + 1 < step.list.size(); i += 2)
    position = position * step.list[i + 1] + rank / step.list[i] % step.list[i + 1];
  return position;
}

static RankValue evaluateTable(const Step &step, RankValue index) {
  if (!index || *index < 0 || *index >= static_cast<int64_t>(step.list.size()))
    return std::nullopt;
  int64_t entry = step.list[*index];
  // `number` marks entries that stand for "undefined".
  return step.number && entry == step.number ? std::nullopt : RankValue(entry);
}

void RankExpr::run(int64_t rank, ArrayRef<RankValue> slots, Registers &registers) const {
  for (const Step &step : steps_) {
    RankValue result;
    switch (step.kind) {
    case Kind::Constant:
      result = step.number;
      break;
    case Kind::Rank:
      result = rank;
      break;
    case Kind::Coordinate:
      result = evaluateCoordinate(step, rank);
      break;
    case Kind::Table:
      result = evaluateTable(step, registers[step.a]);
      break;
    case Kind::Slot:
      if (static_cast<size_t>(step.number) < slots.size())
        result = slots[step.number];
      break;
    case Kind::Select:
      if (registers[step.a])
        result = *registers[step.a] ? registers[step.b] : registers[step.c];
      break;
    case Kind::Extend:
      if (registers[step.a])
        result = wrap(*registers[step.a], step.width);
      break;
    case Kind::ExtendUnsigned:
      if (registers[step.a])
        result = static_cast<int64_t>(zeroExtend(*registers[step.a], step.width));
      break;
    default:
      if (registers[step.a] && registers[step.b])
        result = evaluateBinary(step, *registers[step.a], *registers[step.b]);
      if (result)
        result = wrap(*result, step.width);
      break;
    }
    registers.push_back(result);
  }
}

RankValue RankExpr::evaluate(int64_t rank, ArrayRef<RankValue> slots) const {
  Registers registers;
  run(rank, slots, registers);
  return registers[result_];
}

void RankExpr::appendRankParts(int64_t rank, SmallVectorImpl<RankValue> &values) const {
  Registers registers;
  run(rank, {}, registers);
  for (unsigned part : rankParts_)
    values.push_back(registers[part]);
}

static unsigned getNumOperands(Kind kind) {
  switch (kind) {
  case Kind::Constant:
  case Kind::Rank:
  case Kind::Coordinate:
  case Kind::Slot:
    return 0;
  case Kind::Table:
  case Kind::Extend:
  case Kind::ExtendUnsigned:
    return 1;
  case Kind::Select:
    return 3;
  default:
    return 2;
  }
}

/// The tape is complete: finds what it depends on.
void RankExpr::finish(unsigned result) {
  result_ = result;
  std::vector<bool> onRank, onSlots;
  llvm::SmallSetVector<unsigned, 4> parts;
  for (const Step &step : steps_) {
    bool rank = step.kind == Kind::Rank || step.kind == Kind::Coordinate;
    bool slots = step.kind == Kind::Slot;
    const unsigned all[] = {step.a, step.b, step.c};
    ArrayRef<unsigned> operands(all, getNumOperands(step.kind));
    for (unsigned operand : operands) {
      rank = rank || onRank[operand];
      slots = slots || onSlots[operand];
    }
    if (slots)
      for (unsigned operand : operands)
        if (onRank[operand] && !onSlots[operand])
          parts.insert(operand);
    onRank.push_back(rank);
    onSlots.push_back(slots);
  }
  dependsOnRank_ = onRank[result];
  dependsOnSlots_ = onSlots[result];
  if (dependsOnRank_ && !dependsOnSlots_)
    rankParts_.push_back(result);
  else if (dependsOnRank_)
    rankParts_.assign(parts.begin(), parts.end());
}

size_t RankExpr::Hash::operator()(const RankExpr &expr) const {
  llvm::hash_code hash = llvm::hash_value(expr.result_);
  for (const Step &step : expr.steps_)
    hash = llvm::hash_combine(hash, static_cast<int>(step.kind), step.width, step.a, step.b, step.c,
                              step.number,
                              llvm::hash_combine_range(step.list.begin(), step.list.end()));
  return hash;
}

bool Step::operator==(const Step &other) const {
  return kind == other.kind && width == other.width && a == other.a && b == other.b &&
         c == other.c && number == other.number && list == other.list;
}

bool RankExpr::operator==(const RankExpr &other) const {
  return steps_ == other.steps_ && result_ == other.result_;
}
