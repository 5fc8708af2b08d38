//===- layout.h - which rows of a bucket each rank is the root of --*- C++ -*-===//
//
// A bucket holds parameters as rows of equally many elements, each parameter from the start of a
// row on. Rank i of n has the rows [i * blockRows, (i + 1) * blockRows). With a root for each
// parameter its rows lie in the root's block:
//
//   roots a, c -> 0, b -> 1       | a a a c . | b b . . . |        (. is padding)
//
// With `shard`, parameters lie one after the other, and blocks cut them: | a a a b | b c . . |
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_TRANSFORM_ROOTS_LAYOUT_H
#define COLL_PASSES_TRANSFORM_ROOTS_LAYOUT_H

#include "dialect/dialect.h"

#include <string>

namespace mlir::coll {

class RootLayout {
public:
  struct Item {
    std::string name; // empty: it has none
    int64_t elements = 0;
    int64_t number = 0; // of its argument
  };

  static RootLayout create(Root root, ArrayRef<Item> items, int64_t ranks);

  int64_t getRowElements() const { return rowElements_; }
  /// Rows of the blocks of all ranks together, padding included.
  int64_t getNumRows() const { return blockRows_ * ranks_; }
  int64_t getBlockRows() const { return blockRows_; }
  int64_t getNumRanks() const { return ranks_; }
  /// First row of an item, and how many it has.
  int64_t getFirstRow(int64_t item) const { return firstRows_[item]; }
  int64_t getItemRows(int64_t item) const {
    return llvm::divideCeil(items_[item].elements, rowElements_);
  }
  int64_t getElements(int64_t item) const { return items_[item].elements; }
  /// Items by their first row.
  SmallVector<int64_t> getOrder() const;
  /// Elements that a rank is the root of, without padding.
  SmallVector<int64_t> getLoads() const;

private:
  void placeInBlocks(ArrayRef<int64_t> roots);

  SmallVector<Item> items_;
  SmallVector<int64_t> firstRows_;
  int64_t ranks_ = 1, rowElements_ = 1, blockRows_ = 0;
};

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_ROOTS_LAYOUT_H
