//===- op_kinds.cc ----------------------------------------------------------------===//

#include "passes/analysis/op_kinds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/analysis/sharding_map.h"

namespace mlir::coll {

namespace {

/// Everything that rules and assignments look at, as words: operations with equal words are of one
/// kind.
class KindKey {
public:
  explicit KindKey(Operation *op) {
    add(op);
    for (Value operand : op->getOperands()) {
      add(operand.getType().getAsOpaquePointer());
      add(static_cast<uint64_t>(isZero(operand)));
      add(static_cast<uint64_t>(
          llvm::find(op->getOperands(), operand).getIndex())); // the same twice
    }
    if (auto truncation = dyn_cast<arith::TruncFOp>(op)) // its rule asks for this
      if (ShardingAttr recorded = getRecordedSharding(truncation.getResult()))
        add(static_cast<uint64_t>(recorded.isPartial()));
    // The rules of these look at the operations that make their operands.
    if (isa<AccumulateOp, WindowOp>(op))
      add(static_cast<const void *>(op));
    for (Region &region : op->getRegions())
      addRegion(region);
  }

  StringRef text() const {
    return StringRef(reinterpret_cast<const char *>(words_.data()),
                     words_.size() * sizeof(uint64_t));
  }

private:
  void add(uint64_t word) { words_.push_back(word); }
  void add(const void *pointer) {
    add(static_cast<uint64_t>(reinterpret_cast<uintptr_t>(pointer)));
  }

  /// Without the operands and the discardable attributes.
  void add(Operation *op) {
    add(op->getName().getAsOpaquePointer());
    add(static_cast<uint64_t>(static_cast<size_t>(op->hashProperties())));
    add(static_cast<uint64_t>(op->getNumOperands()));
    add(static_cast<uint64_t>(op->getNumResults()));
    for (Type type : op->getResultTypes())
      add(type.getAsOpaquePointer());
  }

  static bool isZero(Value value) {
    return isa_and_nonnull<arith::ConstantOp, linalg::FillOp>(value.getDefiningOp()) &&
           isIdentity(value, ReductionKind::Sum);
  }

  void addRegion(Region &region) {
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments())
        name(argument);
      for (Operation &op : block) {
        add(&op);
        for (Value operand : op.getOperands()) {
          auto named = names_.find(operand); // or a value of outside
          add(static_cast<uint64_t>(named == names_.end() ? 0 : named->second));
          add(operand.getType().getAsOpaquePointer());
        }
        for (Value result : op.getResults())
          name(result);
        for (Region &nested : op.getRegions())
          addRegion(nested);
      }
    }
  }

  void name(Value value) {
    const size_t number = names_.size() + 1;
    names_[value] = number;
  }

  SmallVector<uint64_t, 32> words_;
  llvm::SmallDenseMap<Value, size_t, 16> names_; // of values inside
};

} // namespace

const OpKinds::Kind &OpKinds::kindOf(Operation *op) {
  auto [known, isNew] = byOp_.try_emplace(op, nullptr);
  if (!isNew)
    return *known->second;
  auto [kind, isNewKind] = byKey_.try_emplace(KindKey(op).text(), nullptr);
  if (isNewKind) {
    kinds_.push_back({static_cast<unsigned>(kinds_.size()), getShardingRule(op)});
    kind->second = &kinds_.back();
  }
  return *(known->second = kind->second);
}

void OpKinds::forget() {
  byOp_.clear();
  byKey_.clear();
  kinds_.clear();
}

} // namespace mlir::coll
