//===- roundings.h - how conversions to narrow floats are rounded -------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_ROUNDINGS_H
#define COLL_PASSES_EXPORT_ROUNDINGS_H

namespace mlir::coll {

enum class Roundings {
  Exact,  // to the nearest value
  Shaken, // of a value that is off by at most four units of f32, as sums in another order are
  Chance, // to one of the two neighbours, by chance: to the nearer one more often
};

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_ROUNDINGS_H
