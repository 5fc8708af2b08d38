//===- rank_expr_compile.cc - from SSA values to rank expressions ----------------===//

#include "dialect/dialect.h"
#include "dialect/sharding.h"
#include "passes/analysis/rank_expr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace mlir::coll;

using Step = RankExpr::Step;
using Kind = RankExpr::Step::Kind;

/// Longer chains of operations are not rank expressions: recursion stays shallow.
static constexpr unsigned kMaxDepth = 256;
/// Larger constant tables are not read.
static constexpr int64_t kMaxTable = int64_t(1) << 24;
/// Position of a rank that is not in the group.
static constexpr int64_t kNoPosition = std::numeric_limits<int64_t>::min();

/// Width of an integer or index, or of the only element of a tensor; 0 for others.
static unsigned getWidth(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (!tensor.hasStaticShape() || tensor.getNumElements() != 1)
      return 0;
    type = tensor.getElementType();
  }
  if (type.isIndex())
    return 64;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.getWidth() <= 64 ? integer.getWidth() : 0;
}

namespace {

class Compiler {
public:
  Compiler(RankExpr::SlotOf slotOf, RankExpr::OperandOf operandOf, std::vector<Step> &steps)
      : slotOf_(slotOf), operandOf_(operandOf), steps_(steps) {}

  /// Register of `value`.
  std::optional<unsigned> compile(Value value) {
    auto known = registers_.find(value);
    if (known != registers_.end())
      return known->second;
    if (getWidth(value.getType()) == 0 || depth_ >= kMaxDepth)
      return std::nullopt;
    ++depth_;
    std::optional<unsigned> result = compileNew(value);
    --depth_;
    registers_[value] = result;
    return result;
  }

private:
  std::optional<unsigned> push(Step step) {
    steps_.push_back(std::move(step));
    return steps_.size() - 1;
  }

  std::optional<unsigned> constant(int64_t number) {
    Step step{Kind::Constant};
    step.number = number;
    return push(step);
  }

  std::optional<unsigned> compileNew(Value value);
  std::optional<unsigned> compileIdentity(Operation *op, OpResult value);
  std::optional<unsigned> compileCoordinate(MeshOp mesh, ArrayRef<StringRef> axes);
  std::optional<unsigned> compileGroupPosition(GroupOp op);
  std::optional<unsigned> compileConstant(arith::ConstantOp op);
  std::optional<unsigned> compileExtract(tensor::ExtractOp op);
  std::optional<unsigned> compileCompare(arith::CmpIOp op);
  std::optional<unsigned> compileSelect(Value condition, Value a, Value b);
  std::optional<unsigned> compileCast(Operation *op);
  std::optional<unsigned> compileBinary(Operation *op, Kind kind);

  RankExpr::SlotOf slotOf_;
  RankExpr::OperandOf operandOf_;
  std::vector<Step> &steps_;
  DenseMap<Value, std::optional<unsigned>> registers_;
  unsigned depth_ = 0;
};

} // namespace

static std::optional<Kind> getBinaryKind(Operation *op) {
  return TypeSwitch<Operation *, std::optional<Kind>>(op)
      .Case([](arith::AddIOp) { return Kind::Add; })
      .Case([](arith::SubIOp) { return Kind::Sub; })
      .Case([](arith::MulIOp) { return Kind::Mul; })
      .Case([](arith::DivSIOp) { return Kind::DivS; })
      .Case([](arith::DivUIOp) { return Kind::DivU; })
      .Case([](arith::CeilDivSIOp) { return Kind::CeilDivS; })
      .Case([](arith::CeilDivUIOp) { return Kind::CeilDivU; })
      .Case([](arith::FloorDivSIOp) { return Kind::FloorDivS; })
      .Case([](arith::RemSIOp) { return Kind::RemS; })
      .Case([](arith::RemUIOp) { return Kind::RemU; })
      .Case([](arith::AndIOp) { return Kind::And; })
      .Case([](arith::OrIOp) { return Kind::Or; })
      .Case([](arith::XOrIOp) { return Kind::Xor; })
      .Case([](arith::ShLIOp) { return Kind::Shl; })
      .Case([](arith::ShRSIOp) { return Kind::ShrS; })
      .Case([](arith::ShRUIOp) { return Kind::ShrU; })
      .Case([](arith::MinSIOp) { return Kind::MinS; })
      .Case([](arith::MinUIOp) { return Kind::MinU; })
      .Case([](arith::MaxSIOp) { return Kind::MaxS; })
      .Case([](arith::MaxUIOp) { return Kind::MaxU; })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<unsigned> Compiler::compileNew(Value value) {
  if (std::optional<unsigned> slot = slotOf_(value)) {
    Step step{Kind::Slot};
    step.number = *slot;
    return push(step);
  }
  if (Value operand = operandOf_(value))
    return compile(operand);
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (std::optional<Kind> kind = getBinaryKind(op))
    return compileBinary(op, *kind);
  return TypeSwitch<Operation *, std::optional<unsigned>>(op)
      .Case<RankOp, AxisIndexOp, GroupOp>(
          [&](Operation *) { return compileIdentity(op, cast<OpResult>(value)); })
      .Case([&](arith::ConstantOp constant) { return compileConstant(constant); })
      .Case([&](arith::CmpIOp compare) { return compileCompare(compare); })
      .Case([&](arith::SelectOp select) {
        return compileSelect(select.getCondition(), select.getTrueValue(), select.getFalseValue());
      })
      .Case([&](scf::IfOp branch) -> std::optional<unsigned> {
        unsigned number = cast<OpResult>(value).getResultNumber();
        return compileSelect(branch.getCondition(), branch.thenYield().getOperand(number),
                             branch.elseYield().getOperand(number));
      })
      .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp,
            arith::IndexCastUIOp>([&](Operation *) { return compileCast(op); })
      .Case([&](tensor::ExtractOp extract) { return compileExtract(extract); })
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ReshapeOp>(
          [&](Operation *) { return compile(op->getOperand(0)); })
      .Case([&](tensor::FromElementsOp) { return compile(op->getOperand(0)); })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<unsigned> Compiler::compileIdentity(Operation *op, OpResult value) {
  if (isa<RankOp>(op))
    return push(Step{Kind::Rank});
  if (auto index = dyn_cast<AxisIndexOp>(op))
    return compileCoordinate(lookupMesh(op, index.getMeshAttr()),
                             llvm::to_vector(index.getAxes().getAsValueRange<StringAttr>()));
  auto group = cast<GroupOp>(op);
  if (value == group.getPosition())
    return compileGroupPosition(group);
  GroupAttr attr = group.getGroup();
  MeshOp mesh = attr.isMesh() ? lookupMesh(op, attr.getMesh()) : MeshOp();
  if (attr.isMesh() && !mesh)
    return std::nullopt;
  return constant(getGroupSize(attr, mesh));
}

std::optional<unsigned> Compiler::compileCoordinate(MeshOp mesh, ArrayRef<StringRef> axes) {
  if (!mesh)
    return std::nullopt;
  Step step{Kind::Coordinate};
  step.number = mesh.getNumRanks();
  for (StringRef axis : axes) {
    int64_t stride = 1;
    for (size_t i = mesh.getAxisSizes().size(); i-- > 0;) {
      int64_t size = mesh.getAxisSizes()[i];
      if (cast<StringAttr>(mesh.getAxisNames()[i]) == axis)
        step.list.insert(step.list.end(), {stride, size});
      stride *= size;
    }
  }
  return push(step);
}

std::optional<unsigned> Compiler::compileGroupPosition(GroupOp op) {
  GroupAttr group = op.getGroup();
  if (group.isMesh()) {
    SmallVector<StringRef> axes;
    for (StringAttr axis : group.getAxes())
      axes.push_back(axis.getValue());
    return compileCoordinate(lookupMesh(op, group.getMesh()), axes);
  }
  Step step{Kind::Table};
  for (DenseI64ArrayAttr ranks : group.getLists())
    for (auto [position, rank] : llvm::enumerate(ranks.asArrayRef())) {
      if (rank >= kMaxTable)
        return std::nullopt;
      if (rank >= static_cast<int64_t>(step.list.size()))
        step.list.resize(rank + 1, kNoPosition);
      step.list[rank] = position;
    }
  step.number = kNoPosition;
  step.a = *push(Step{Kind::Rank});
  return push(step);
}

std::optional<unsigned> Compiler::compileConstant(arith::ConstantOp op) {
  if (auto integer = dyn_cast<IntegerAttr>(op.getValue()))
    return constant(integer.getValue().getSExtValue());
  auto dense = dyn_cast<DenseIntElementsAttr>(op.getValue());
  if (!dense || dense.getNumElements() != 1)
    return std::nullopt;
  return constant((*dense.value_begin<APInt>()).getSExtValue());
}

std::optional<unsigned> Compiler::compileExtract(tensor::ExtractOp op) {
  if (getWidth(op.getTensor().getType()))
    return compile(op.getTensor());
  DenseIntElementsAttr dense;
  if (!matchPattern(op.getTensor(), m_Constant(&dense)) || dense.getNumElements() > kMaxTable)
    return std::nullopt;
  // The row-major index, then the table.
  std::optional<unsigned> index = constant(0);
  for (auto [operand, extent] : llvm::zip(op.getIndices(), dense.getType().getShape())) {
    std::optional<unsigned> coordinate = compile(operand);
    if (!coordinate)
      return std::nullopt;
    Step scale{Kind::Mul};
    scale.a = *index;
    scale.b = *constant(extent);
    Step add{Kind::Add};
    add.a = *push(scale);
    add.b = *coordinate;
    index = push(add);
  }
  Step step{Kind::Table};
  for (const APInt &entry : dense.getValues<APInt>())
    step.list.push_back(entry.getSExtValue());
  step.a = *index;
  return push(step);
}

std::optional<unsigned> Compiler::compileCompare(arith::CmpIOp op) {
  using Predicate = arith::CmpIPredicate;
  static const std::pair<Kind, bool> kKinds[] = {
      // In the order of the predicates; true: operands swapped.
      {Kind::Eq, false}, {Kind::Ne, false}, {Kind::LtS, false}, {Kind::LeS, false},
      {Kind::LtS, true}, {Kind::LeS, true}, {Kind::LtU, false}, {Kind::LeU, false},
      {Kind::LtU, true}, {Kind::LeU, true}};
  static_assert(static_cast<int>(Predicate::eq) == 0 && static_cast<int>(Predicate::slt) == 2 &&
                static_cast<int>(Predicate::ult) == 6 && static_cast<int>(Predicate::uge) == 9);
  auto [kind, swapped] = kKinds[static_cast<int>(op.getPredicate())];
  std::optional<unsigned> lhs = compile(op.getLhs());
  std::optional<unsigned> rhs = compile(op.getRhs());
  if (!lhs || !rhs)
    return std::nullopt;
  Step step{kind, getWidth(op.getLhs().getType())};
  step.a = swapped ? *rhs : *lhs;
  step.b = swapped ? *lhs : *rhs;
  return push(step);
}

std::optional<unsigned> Compiler::compileSelect(Value condition, Value a, Value b) {
  std::optional<unsigned> registers[] = {compile(condition), compile(a), compile(b)};
  if (!registers[0] || !registers[1] || !registers[2])
    return std::nullopt;
  Step step{Kind::Select};
  step.a = *registers[0];
  step.b = *registers[1];
  step.c = *registers[2];
  return push(step);
}

std::optional<unsigned> Compiler::compileCast(Operation *op) {
  std::optional<unsigned> operand = compile(op->getOperand(0));
  if (!operand)
    return std::nullopt;
  unsigned from = getWidth(op->getOperand(0).getType());
  unsigned to = getWidth(op->getResult(0).getType());
  bool isUnsigned = isa<arith::ExtUIOp, arith::IndexCastUIOp>(op) && from < to;
  Step step{isUnsigned ? Kind::ExtendUnsigned : Kind::Extend, isUnsigned ? from : to};
  step.a = *operand;
  return push(step);
}

std::optional<unsigned> Compiler::compileBinary(Operation *op, Kind kind) {
  std::optional<unsigned> lhs = compile(op->getOperand(0));
  std::optional<unsigned> rhs = compile(op->getOperand(1));
  if (!lhs || !rhs)
    return std::nullopt;
  Step step{kind, getWidth(op->getResult(0).getType())};
  step.a = *lhs;
  step.b = *rhs;
  return push(step);
}

std::optional<RankExpr> RankExpr::compile(Value value, SlotOf slotOf, OperandOf operandOf) {
  RankExpr expr;
  std::optional<unsigned> result = Compiler(slotOf, operandOf, expr.steps_).compile(value);
  if (!result)
    return std::nullopt;
  expr.finish(*result);
  return expr;
}

std::optional<RankExpr> RankExpr::compile(Value value) {
  return compile(value, [](Value) { return std::nullopt; }, [](Value) { return Value(); });
}
