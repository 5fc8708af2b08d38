//===- rank_expr.h - integers that a rank can compute by itself -------*- C++ -*-===//
//
// A value is a rank expression where it follows from coll.rank, coll.axis_index,
// coll.group, constants and loop variables through integer arithmetic. Such values
// are compiled once to a short tape and evaluated for any rank without touching IR.
//
// Read through: arith on integers and index (also on tensors of one element),
// arith.select, scf.if results, tensor.extract of a one-element tensor or of a
// constant table, reshapes of one element. Anything else is not a rank expression.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_ANALYSIS_RANK_EXPR_H
#define COLL_PASSES_ANALYSIS_RANK_EXPR_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <vector>

namespace mlir::coll {

/// A value of one rank; none if it is undefined (a division by zero, the
/// position in a group that the rank is not in) or not known.
using RankValue = std::optional<int64_t>;

class RankExpr {
public:
  /// Maps a loop variable to the slot that holds its value, or says that it has none.
  using SlotOf = llvm::function_ref<std::optional<unsigned>(Value)>;
  /// Maps an argument of a function that is being called to the operand of the call, or
  /// to null.
  using OperandOf = llvm::function_ref<Value(Value)>;

  /// The tape of `value`, or nullopt if it is not a rank expression.
  static std::optional<RankExpr> compile(Value value, SlotOf slotOf, OperandOf operandOf);
  /// As above, without loop variables and calls.
  static std::optional<RankExpr> compile(Value value);

  /// The value on `rank`, sign-extended from its type's width; `true` is -1.
  RankValue evaluate(int64_t rank, llvm::ArrayRef<RankValue> slots = {}) const;

  /// Whether ranks that agree in every slot may still differ in the value.
  bool dependsOnRank() const { return dependsOnRank_; }
  /// Whether the value needs a slot.
  bool dependsOnSlots() const { return dependsOnSlots_; }

  /// Appends the values on `rank` of all parts of the expression that need the rank but
  /// no slot. Ranks that agree in these agree in the value wherever they agree in the
  /// slots.
  void appendRankParts(int64_t rank, llvm::SmallVectorImpl<RankValue> &values) const;

  bool operator==(const RankExpr &other) const;
  struct Hash {
    size_t operator()(const RankExpr &expr) const;
  };

  /// One step of the tape; its result is the register of the same number.
  struct Step {
    enum class Kind {
      Constant,
      Rank,
      Coordinate,
      Table,
      Slot,
      Select,
      Extend,
      ExtendUnsigned,
      Add,
      Sub,
      Mul,
      DivS,
      DivU,
      CeilDivS,
      CeilDivU,
      FloorDivS,
      RemS,
      RemU,
      And,
      Or,
      Xor,
      Shl,
      ShrS,
      ShrU,
      MinS,
      MinU,
      MaxS,
      MaxU,
      Eq,
      Ne,
      LtS,
      LeS,
      LtU,
      LeU
    };
    Kind kind;
    unsigned width = 64;            // of the result; of the operands where compared
    unsigned a = 0, b = 0, c = 0;   // operands: earlier registers
    int64_t number = 0;             // constant, slot, number of mesh ranks
    std::vector<int64_t> list = {}; // Table: entries; Coordinate: stride, size, …

    bool operator==(const Step &other) const;
  };

private:
  using Registers = llvm::SmallVector<RankValue, 16>;

  void finish(unsigned result);
  void run(int64_t rank, llvm::ArrayRef<RankValue> slots, Registers &registers) const;

  std::vector<Step> steps_;
  unsigned result_ = 0;
  std::vector<unsigned> rankParts_; // registers
  bool dependsOnRank_ = false;
  bool dependsOnSlots_ = false;
};

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_RANK_EXPR_H
