//===- layout.cc ------------------------------------------------------------===//

#include "passes/transform/roots/layout.h"

#include <algorithm>

namespace mlir::coll {

namespace {

// A term is summed over each row before it is sent. Long rows send less, short rows waste less
// memory after small parameters.
constexpr int64_t kShortRow = 16, kLongRow = 1024;
constexpr int64_t kLargeBucket = int64_t(1) << 22;

/// FNV-1a: the same on every machine and in every version.
uint64_t hash(StringRef text) {
  uint64_t value = 14695981039346656037u;
  for (unsigned char byte : text)
    value = (value ^ byte) * 1099511628211u;
  return value;
}

/// The largest first, each to the rank that has least; ties by number.
SmallVector<int64_t> balance(ArrayRef<RootLayout::Item> items, int64_t ranks) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, items.size()));
  llvm::stable_sort(order,
                    [&](int64_t a, int64_t b) { return items[a].elements > items[b].elements; });
  SmallVector<int64_t> loads(ranks), roots(items.size());
  for (int64_t item : order) {
    auto *least = llvm::min_element(loads);
    roots[item] = least - loads.begin();
    *least += items[item].elements;
  }
  return roots;
}

SmallVector<int64_t> hashAll(ArrayRef<RootLayout::Item> items, int64_t ranks) {
  return llvm::map_to_vector(items, [&](const RootLayout::Item &item) -> int64_t {
    std::string key = item.name.empty() ? std::to_string(item.number) : item.name;
    return hash(key) % static_cast<uint64_t>(ranks);
  });
}

} // namespace

RootLayout RootLayout::create(Root root, ArrayRef<Item> items, int64_t ranks) {
  RootLayout layout;
  layout.items_ = llvm::to_vector(items);
  layout.ranks_ = ranks;
  layout.firstRows_.resize(items.size());
  int64_t total = 0;
  for (const Item &item : items)
    total += item.elements;
  layout.rowElements_ = total < kLargeBucket ? kShortRow : kLongRow;
  if (root != Root::Shard) {
    layout.placeInBlocks(root == Root::Hash ? hashAll(items, ranks) : balance(items, ranks));
    return layout;
  }
  int64_t rows = 0;
  for (size_t item = 0; item < items.size(); ++item) {
    layout.firstRows_[item] = rows;
    rows += layout.getItemRows(item);
  }
  layout.blockRows_ = std::max<int64_t>(llvm::divideCeil(rows, ranks), 1);
  return layout;
}

void RootLayout::placeInBlocks(ArrayRef<int64_t> roots) {
  SmallVector<int64_t> used(ranks_);
  for (auto [item, root] : llvm::enumerate(roots)) {
    firstRows_[item] = used[root];
    used[root] += getItemRows(item);
  }
  blockRows_ = std::max<int64_t>(*llvm::max_element(used), 1);
  for (auto [item, root] : llvm::enumerate(roots))
    firstRows_[item] += root * blockRows_;
}

SmallVector<int64_t> RootLayout::getOrder() const {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, items_.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) { return firstRows_[a] < firstRows_[b]; });
  return order;
}

SmallVector<int64_t> RootLayout::getLoads() const {
  SmallVector<int64_t> loads(ranks_);
  for (size_t item = 0; item < items_.size(); ++item) {
    int64_t begin = firstRows_[item] * rowElements_, end = begin + items_[item].elements;
    int64_t block = blockRows_ * rowElements_;
    for (int64_t rank = begin / block; rank * block < end; ++rank)
      loads[rank] += std::min(end, (rank + 1) * block) - std::max(begin, rank * block);
  }
  return loads;
}

} // namespace mlir::coll
