//===- op_kinds.h - operations that have the same sharding rule -------*- C++ -*-===//
//
// A step repeats the same operations, layer by layer and parameter by parameter. Two operations
// are of one kind if they differ only in the values that they read and in what is noted on them:
// they have the same rule, and what is decided about one from shardings holds for the other.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_ANALYSIS_OP_KINDS_H
#define COLL_PASSES_ANALYSIS_OP_KINDS_H

#include "passes/analysis/sharding_rule.h"
#include "llvm/ADT/StringMap.h"

#include <deque>

namespace mlir::coll {

class OpKinds {
public:
  struct Kind {
    unsigned number;
    ShardingRule rule;
  };

  /// The kind of `op`; valid until the next call of forget().
  const Kind &kindOf(Operation *op);

  /// To be called after operations have been replaced.
  void forget();

private:
  std::deque<Kind> kinds_;
  llvm::StringMap<const Kind *> byKey_;
  llvm::DenseMap<Operation *, const Kind *> byOp_;
};

/// Answers by kind of operation and the shardings around it.
template <typename Answer>
class ShardingAnswers {
public:
  /// A reference to the answer for `kind` with these lists of shardings; Answer() if there is none
  /// yet. It stays valid until clear().
  Answer &at(unsigned kind, ArrayRef<ArrayRef<ShardingAttr>> lists) {
    SmallVector<const void *, 24> words = {reinterpret_cast<const void *>(uintptr_t(kind))};
    for (ArrayRef<ShardingAttr> list : lists) {
      words.push_back(reinterpret_cast<const void *>(list.size()));
      for (ShardingAttr sharding : list)
        words.push_back(sharding.getAsOpaquePointer());
    }
    return answers_[StringRef(reinterpret_cast<const char *>(words.data()),
                              words.size() * sizeof(void *))];
  }

  void clear() { answers_.clear(); }

private:
  llvm::StringMap<Answer> answers_; // a map of nodes: growing moves no answer
};

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_OP_KINDS_H
