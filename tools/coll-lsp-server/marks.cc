//===- marks.cc - which text an operation came from ------------------------------===//

#include "tools/coll-lsp-server/marks.h"

using namespace mlir;

namespace coll::lsp {
namespace {

constexpr llvm::StringLiteral kMark = "<mark>";

llvm::SMRange rangeOf(BlockArgument argument, const AsmParserState &state) {
  const auto *block = state.getBlockDef(argument.getOwner());
  if (!block || argument.getArgNumber() >= block->arguments.size())
    return {};
  return block->arguments[argument.getArgNumber()].loc;
}

} // namespace

Marks::Marks(ModuleOp module, const AsmParserState &state) {
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    const auto *definition = state.getOpDef(op);
    marked_.push_back({op, {}, definition ? definition->loc : llvm::SMRange(), op->getLoc()});
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          marked_.push_back({nullptr, argument, rangeOf(argument, state), argument.getLoc()});
  });
  MLIRContext *context = module.getContext();
  for (auto [number, entry] : llvm::enumerate(marked_)) {
    Location mark = FileLineColLoc::get(context, kMark, number, 0);
    if (entry.op) {
      entry.op->setLoc(mark);
      continue;
    }
    // JAX names arguments in their locations, and the importer reads the names.
    if (auto name = dyn_cast<NameLoc>(entry.location))
      mark = NameLoc::get(name.getName(), mark);
    cast<BlockArgument>(entry.argument).setLoc(mark);
  }
}

std::optional<size_t> Marks::find(Location location) const {
  std::optional<size_t> found;
  location->walk([&](Location inner) {
    auto mark = dyn_cast<FileLineColLoc>(inner);
    if (!mark || mark.getFilename().getValue() != kMark || mark.getLine() >= marked_.size())
      return WalkResult::advance();
    found = mark.getLine();
    return WalkResult::interrupt();
  });
  return found;
}

} // namespace coll::lsp
