//===- color_refinement.h - coarsest stable colouring -----------------*- C++ -*-===//
//
// A colouring of a graph is stable where nodes of one colour have neighbours of the
// same colours: in the same order, or, of an unordered node, as a set.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_ANALYSIS_PROOF_COLOR_REFINEMENT_H
#define COLL_PASSES_ANALYSIS_PROOF_COLOR_REFINEMENT_H

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace mlir::coll {

/// Nodes are numbered in the order of addNode(). Edges have a direction.
class ColorGraph {
public:
  void addNode(bool isOrdered) {
    begins_.push_back(targets_.size());
    isOrdered_.push_back(isOrdered);
  }
  /// From the node that was added last. The target may be added later.
  void addEdge(unsigned target) { targets_.push_back(target); }

  unsigned getNumNodes() const { return begins_.size(); }
  bool isOrdered(unsigned node) const { return isOrdered_[node]; }
  llvm::ArrayRef<unsigned> getTargets(unsigned node) const {
    size_t end = node + 1 < begins_.size() ? begins_[node + 1] : targets_.size();
    return llvm::ArrayRef(targets_).slice(begins_[node], end - begins_[node]);
  }

private:
  std::vector<size_t> begins_;
  std::vector<unsigned> targets_;
  std::vector<bool> isOrdered_;
};

/// The coarsest stable colouring that is at least as fine as `colors`. Colours are numbers from 0
/// without gaps, before and after. Time: the edges, times the logarithm of the nodes.
std::vector<unsigned> refineColors(const ColorGraph &graph, std::vector<unsigned> colors);

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_PROOF_COLOR_REFINEMENT_H
