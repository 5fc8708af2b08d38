#include "test/fuzz/ir/structure.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace coll::fuzz {
namespace {

class Mutator {
public:
  Mutator(ModuleOp module, Random &random) : module_(module), random_(random) {}

  void mutate() {
    for (int64_t i = random_.between(1, 4); i > 0; --i)
      mutateOnce();
  }

private:
  void mutateOnce() {
    operations_.clear();
    module_->walk([&](Operation *op) {
      if (op != module_.getOperation())
        operations_.push_back(op);
    });
    if (operations_.empty())
      return;
    using Change = void (Mutator::*)(Operation *);
    static const std::vector<Change> kChanges = {
        &Mutator::replaceOperand, &Mutator::replaceOperand, &Mutator::exchangeOperands,
        &Mutator::erase,          &Mutator::clone,          &Mutator::move,
        &Mutator::changeNumbers,  &Mutator::changeNumbers,  &Mutator::takeAttribute,
        &Mutator::dropAttribute,  &Mutator::exchangeEntries};
    (this->*random_.pick(kChanges))(anyOperation());
  }

  Operation *anyOperation() { return random_.pick(operations_); }

  // Another value of the type that may be used by `user`, or null.
  Value findLike(Type type, Operation *user) {
    DominanceInfo dominance(module_);
    std::vector<Value> found;
    for (Operation *op : operations_) {
      for (Value result : op->getResults())
        if (result.getType() == type && op != user && dominance.properlyDominates(result, user))
          found.push_back(result);
      for (Region &region : op->getRegions())
        for (BlockArgument argument : region.empty()
                                          ? ArrayRef<BlockArgument>()
                                          : ArrayRef<BlockArgument>(region.getArguments()))
          if (argument.getType() == type && op->isProperAncestor(user))
            found.push_back(argument);
    }
    return found.empty() ? Value() : random_.pick(found);
  }

  void replaceOperand(Operation *op) {
    if (op->getNumOperands() == 0)
      return;
    auto index = unsigned(random_.below(op->getNumOperands()));
    if (Value other = findLike(op->getOperand(index).getType(), op))
      op->setOperand(index, other);
  }

  void exchangeOperands(Operation *op) {
    if (op->getNumOperands() < 2)
      return;
    auto a = unsigned(random_.below(op->getNumOperands()));
    auto b = unsigned(random_.below(op->getNumOperands()));
    Value first = op->getOperand(a);
    op->setOperand(a, op->getOperand(b));
    op->setOperand(b, first);
  }

  void erase(Operation *op) {
    if (op->hasTrait<OpTrait::IsTerminator>())
      return;
    for (Value result : op->getResults()) {
      if (result.use_empty())
        continue;
      Value other = findLike(result.getType(), op);
      if (!other)
        return;
      result.replaceAllUsesWith(other);
    }
    op->erase();
  }

  void clone(Operation *op) {
    if (op->hasTrait<OpTrait::IsTerminator>())
      return;
    Operation *copy = op->clone();
    op->getBlock()->getOperations().insertAfter(op->getIterator(), copy);
    for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults())) {
      Value result = to;
      from.replaceUsesWithIf(result, [&](OpOperand &use) {
        return use.getOwner() != copy && random_.chance(0.5) &&
               use.getOwner()->getBlock() == copy->getBlock() &&
               copy->isBeforeInBlock(use.getOwner());
      });
    }
  }

  void move(Operation *op) {
    Operation *other = anyOperation();
    if (op == other || op->hasTrait<OpTrait::IsTerminator>() || op->isAncestor(other) ||
        (other->getBlock() != op->getBlock() && random_.chance(0.7)))
      return;
    op->moveBefore(other);
  }

  int64_t change(int64_t number) {
    switch (random_.below(4)) {
    case 0:
      return number + 1;
    case 1:
      return number - 1;
    case 2:
      return random_.between(-1, 8);
    default:
      return random_.chance(0.8) ? number * 2 : int64_t(random_.next());
    }
  }

  Attribute changed(Attribute attribute) {
    Builder b(module_.getContext());
    if (auto flag = dyn_cast<BoolAttr>(attribute))
      return b.getBoolAttr(!flag.getValue());
    if (auto number = dyn_cast<IntegerAttr>(attribute);
        number && number.getValue().getBitWidth() <= 64)
      return IntegerAttr::get(number.getType(),
                              APInt(number.getValue().getBitWidth(),
                                    uint64_t(change(number.getValue().getSExtValue())), false,
                                    /*implicitTrunc=*/true));
    if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute))
      return b.getDenseI64ArrayAttr(changed(numbers.asArrayRef()));
    return attribute;
  }

  std::vector<int64_t> changed(ArrayRef<int64_t> numbers) {
    std::vector<int64_t> next(numbers.begin(), numbers.end());
    int64_t way = random_.below(4);
    if (way == 0 && !next.empty())
      next.pop_back();
    else if (way == 1)
      next.push_back(random_.between(0, 4));
    else if (way == 2)
      random_.shuffle(next);
    else if (!next.empty())
      next[size_t(random_.below(int64_t(next.size())))] = change(next[0]);
    return next;
  }

  void changeNumbers(Operation *op) {
    std::vector<NamedAttribute> attributes(op->getAttrs().begin(), op->getAttrs().end());
    if (attributes.empty())
      return;
    NamedAttribute chosen = random_.pick(attributes);
    op->setAttr(chosen.getName(), changed(chosen.getValue()));
  }

  void takeAttribute(Operation *op) {
    Operation *other = anyOperation();
    std::vector<NamedAttribute> attributes(other->getAttrs().begin(), other->getAttrs().end());
    if (attributes.empty())
      return;
    NamedAttribute chosen = random_.pick(attributes);
    // Properties are typed: what is no attribute of `op` would be refused unseen.
    if (op->getAttr(chosen.getName()) || random_.chance(0.3))
      op->setAttr(chosen.getName(), chosen.getValue());
  }

  void dropAttribute(Operation *op) {
    std::vector<NamedAttribute> attributes(op->getDiscardableAttrs().begin(),
                                           op->getDiscardableAttrs().end());
    if (!attributes.empty())
      op->removeAttr(random_.pick(attributes).getName());
  }

  // Shardings of arguments, axes of a mesh, segments: entries of arrays change places.
  void exchangeEntries(Operation *op) {
    for (NamedAttribute attribute : op->getAttrs()) {
      auto array = dyn_cast<ArrayAttr>(attribute.getValue());
      if (!array || array.size() < 2)
        continue;
      std::vector<Attribute> entries(array.begin(), array.end());
      random_.shuffle(entries);
      if (random_.chance(0.2))
        entries[0] = entries[1];
      op->setAttr(attribute.getName(), ArrayAttr::get(op->getContext(), entries));
      return;
    }
  }

  ModuleOp module_;
  Random &random_;
  std::vector<Operation *> operations_;
};

} // namespace

std::string mutateStructure(MLIRContext &context, const std::string &text, Random &random) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!module)
    return "";
  Mutator(*module, random).mutate();
  std::string changed;
  llvm::raw_string_ostream os(changed);
  module->print(os, OpPrintingFlags().printGenericOpForm().assumeVerified());
  return changed;
}

} // namespace coll::fuzz
