//===- hovers.cc - which text to show where --------------------------------------===//

#include "tools/coll-lsp-server/hovers.h"

#include "passes/analysis/sharding_map.h"
#include "tools/coll-lsp-server/words.h"

#include "dialect/notes.h"
#include "dialect/sharding.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::coll;

namespace coll::lsp {
namespace {

using Emit = llvm::function_ref<void(ArrayRef<llvm::SMRange>, std::string)>;

class Hovers {
public:
  Hovers(const Marks &marks, const AsmParserState &state, const Inference &inference, Emit emit)
      : marks_(marks), state_(state), inference_(inference), emit_(emit) {}

  void run() {
    for (auto [mark, entry] : llvm::enumerate(marks_.all()))
      if (entry.op)
        visitOperation(mark, entry);
      else
        visitArgument(mark, cast<BlockArgument>(entry.argument));
  }

private:
  void visitOperation(size_t mark, const Marked &entry) {
    const auto *definition = state_.getOpDef(entry.op);
    if (!definition)
      return;
    std::string about = describeOperation(entry.op, entry.location);
    std::string text = about;
    if (entry.op->getNumResults() == 1)
      text = join(describeValue(mark, 0, entry.op->getResult(0)), about);
    if (!text.empty())
      emit_(definition->loc, text);
    for (const auto &group : definition->resultGroups)
      visitGroup(mark, entry, group, about);
  }

  /// A group of results has one name in the text; a use of one of several ends in "#1".
  void visitGroup(size_t mark, const Marked &entry,
                  const AsmParserState::OperationDefinition::ResultGroupDefinition &group,
                  const std::string &about) {
    auto emitFor = [&](unsigned result, ArrayRef<llvm::SMRange> ranges) {
      if (ranges.empty() || result >= entry.op->getNumResults())
        return;
      std::string text = join(describeValue(mark, result, entry.op->getResult(result)), about);
      if (!text.empty())
        emit_(ranges, text);
    };
    llvm::SmallVector<llvm::SMRange> ranges = {group.definition.loc};
    llvm::SmallDenseMap<unsigned, llvm::SmallVector<llvm::SMRange>> others;
    for (llvm::SMRange use : group.definition.uses)
      if (unsigned offset = numberBehind(use))
        others[offset].push_back(use);
      else
        ranges.push_back(use);
    emitFor(group.startIndex, ranges);
    for (auto &[offset, uses] : others)
      emitFor(group.startIndex + offset, uses);
  }

  static std::string join(const std::string &above, const std::string &below) {
    return above + (above.empty() || below.empty() ? "" : "\n\n---\n\n") + below;
  }

  /// 1 of "%a#1".
  static unsigned numberBehind(llvm::SMRange use) {
    StringRef text(use.Start.getPointer(), use.End.getPointer() - use.Start.getPointer());
    unsigned number = 0;
    return text.rsplit('#').second.getAsInteger(10, number) ? 0 : number;
  }

  void visitArgument(size_t mark, BlockArgument argument) {
    const auto *block = state_.getBlockDef(argument.getOwner());
    if (!block || argument.getArgNumber() >= block->arguments.size())
      return;
    const AsmParserState::SMDefinition &definition = block->arguments[argument.getArgNumber()];
    std::string text = describeValue(mark, 0, argument);
    if (text.empty())
      return;
    llvm::SmallVector<llvm::SMRange> ranges = {definition.loc};
    llvm::append_range(ranges, definition.uses);
    emit_(ranges, text);
  }

  std::string describeValue(size_t mark, unsigned result, Value value) {
    if (const InferredValue *inferred = inference_.find(mark, result, value.getType()))
      return describeInferred(*inferred);
    // A partitioned program: the attributes of arguments give their global types.
    auto argument = dyn_cast<BlockArgument>(value);
    auto function = argument ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
                             : FunctionOpInterface();
    if (!function || !argument.getOwner()->isEntryBlock())
      return "";
    auto sharding = function.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(), kShardingAttr);
    auto type = function.getArgAttrOfType<TypeAttr>(argument.getArgNumber(), kGlobalTypeAttr);
    auto global = type ? dyn_cast<RankedTensorType>(type.getValue()) : nullptr;
    MeshOp mesh = sharding ? lookupMesh(function, sharding.getMesh()) : MeshOp();
    if (!mesh || !global)
      return "";
    return "**Sharding**: " + describeSharding(sharding, mesh, global) +
           "\n\n**On each rank**: " + describeLocal(sharding, mesh, global);
  }

  std::string describeInferred(const InferredValue &inferred) {
    MeshOp mesh = inference_.mesh();
    std::string text = "**Sharding**";
    if (!inference_.assumption().empty())
      text += " (" + inference_.assumption() + ")";
    text += ": " + describeSharding(inferred.sharding, mesh, inferred.global) +
            "\n\n**On each rank**: " + describeLocal(inferred.sharding, mesh, inferred.global);
    for (ReshardOp reshard : inferred.reshards) {
      const std::string why = describeWhy(reshard);
      text += "\n\n**Moved**: " + (why.empty() ? "resharded" : why) + "; then " +
              describeSharding(reshard.getTarget(), mesh, inferred.global) + ", " +
              describeLocal(reshard.getTarget(), mesh, inferred.global) + " on each rank";
    }
    return text;
  }

  const Marks &marks_;
  const AsmParserState &state_;
  const Inference &inference_;
  Emit emit_;
};

} // namespace

void collectHovers(const Marks &marks, const AsmParserState &state, const Inference &inference,
                   Emit emit) {
  Hovers(marks, state, inference, emit).run();
}

} // namespace coll::lsp
