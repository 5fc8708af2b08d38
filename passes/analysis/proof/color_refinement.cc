//===- color_refinement.cc - coarsest stable colouring --------------------------===//
//
// Invariant: within a colour, nodes none of whose neighbours have changed their colour
// since the last round have neighbours of the same colours. So a round looks only at the
// nodes that have changed neighbours, and at one other node of each of their colours. The
// largest part of a colour keeps it, so that a node changes at most log2(nodes) times.
//
//===----------------------------------------------------------------------------===//

#include "passes/analysis/proof/color_refinement.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace mlir::coll;

namespace {

class Refiner {
public:
  Refiner(const ColorGraph &graph, std::vector<unsigned> colors);

  std::vector<unsigned> run();

private:
  /// Where a colour's nodes stand in nodes_.
  struct Range {
    unsigned begin, size;
  };
  using Part = llvm::SmallVector<unsigned, 2>; // nodes

  void listSources();
  std::vector<unsigned> findTouched(llvm::ArrayRef<unsigned> changed);
  std::vector<unsigned> getKey(unsigned node) const;
  void findParts(llvm::ArrayRef<unsigned> touched, std::vector<Part> &parts);
  void split(const Part &part);

  const ColorGraph &graph_;
  std::vector<unsigned> colors_, nodes_, position_;
  std::vector<Range> ranges_; // by colour
  std::vector<size_t> sourcesBegin_;
  std::vector<unsigned> sources_;
  std::vector<bool> isTouched_;
};

} // namespace

Refiner::Refiner(const ColorGraph &graph, std::vector<unsigned> colors)
    : graph_(graph), colors_(std::move(colors)), nodes_(colors_.size()), position_(colors_.size()),
      isTouched_(colors_.size()) {
  for (unsigned color : colors_) {
    if (color >= ranges_.size())
      ranges_.resize(color + 1, Range{0, 0});
    ++ranges_[color].size;
  }
  unsigned begin = 0;
  for (Range &range : ranges_) {
    range.begin = begin;
    begin += range.size;
  }
  std::vector<Range> open = ranges_;
  for (auto [node, color] : llvm::enumerate(colors_)) {
    position_[node] = open[color].begin++;
    nodes_[position_[node]] = node;
  }
  listSources();
}

void Refiner::listSources() {
  sourcesBegin_.assign(graph_.getNumNodes() + 1, 0);
  for (unsigned node = 0; node < graph_.getNumNodes(); ++node)
    for (unsigned target : graph_.getTargets(node))
      ++sourcesBegin_[target + 1];
  for (unsigned node = 0; node < graph_.getNumNodes(); ++node)
    sourcesBegin_[node + 1] += sourcesBegin_[node];
  sources_.resize(sourcesBegin_.back());
  std::vector<size_t> next(sourcesBegin_);
  for (unsigned node = 0; node < graph_.getNumNodes(); ++node)
    for (unsigned target : graph_.getTargets(node))
      sources_[next[target]++] = node;
}

/// The nodes before `changed` that share their colour with others, by colour.
std::vector<unsigned> Refiner::findTouched(llvm::ArrayRef<unsigned> changed) {
  std::vector<unsigned> touched;
  for (unsigned target : changed)
    for (size_t i = sourcesBegin_[target]; i < sourcesBegin_[target + 1]; ++i)
      if (unsigned node = sources_[i]; !isTouched_[node] && ranges_[colors_[node]].size > 1) {
        isTouched_[node] = true;
        touched.push_back(node);
      }
  llvm::sort(touched, [&](unsigned a, unsigned b) {
    return std::pair(colors_[a], a) < std::pair(colors_[b], b);
  });
  return touched;
}

std::vector<unsigned> Refiner::getKey(unsigned node) const {
  std::vector<unsigned> key;
  for (unsigned target : graph_.getTargets(node))
    key.push_back(colors_[target]);
  if (!graph_.isOrdered(node)) {
    llvm::sort(key);
    key.erase(std::unique(key.begin(), key.end()), key.end());
  }
  return key;
}

/// Appends the parts of one colour that get a colour of their own. `touched` are all touched nodes
/// of that colour.
void Refiner::findParts(llvm::ArrayRef<unsigned> touched, std::vector<Part> &parts) {
  Range range = ranges_[colors_[touched.front()]];
  std::vector<std::pair<std::vector<unsigned>, unsigned>> keys;
  for (unsigned node : touched)
    keys.push_back({getKey(node), node});
  llvm::sort(keys);
  size_t first = parts.size();
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i == 0 || keys[i].first != keys[i - 1].first)
      parts.emplace_back();
    parts.back().push_back(keys[i].second);
  }
  auto isLarger = [](const Part &a, const Part &b) { return a.size() > b.size(); };
  unsigned numUntouched = range.size - touched.size();
  if (numUntouched > 0) {
    llvm::ArrayRef<unsigned> nodes = llvm::ArrayRef(nodes_).slice(range.begin, range.size);
    std::vector<unsigned> key =
        getKey(*llvm::find_if(nodes, [&](unsigned node) { return !isTouched_[node]; }));
    for (size_t i = first; i < parts.size(); ++i)
      if (getKey(parts[i].front()) == key) {
        // These stay with the untouched ones, which are the first part.
        std::swap(parts[i], parts[first]);
        numUntouched += parts[first].size();
        parts.erase(parts.begin() + first);
        break;
      }
  }
  if (first == parts.size())
    return;
  auto largest = std::min_element(parts.begin() + first, parts.end(), isLarger);
  if (numUntouched >= largest->size())
    return;
  if (numUntouched == 0) {
    parts.erase(largest);
    return;
  }
  // The rest moves instead of the largest part.
  Part rest;
  std::vector<bool> moves(range.size);
  for (size_t i = first; i < parts.size(); ++i)
    for (unsigned node : parts[i])
      moves[position_[node] - range.begin] = true;
  for (unsigned i = 0; i < range.size; ++i)
    if (!moves[i])
      rest.push_back(nodes_[range.begin + i]);
  *largest = std::move(rest);
}

/// Gives `part` a new colour.
void Refiner::split(const Part &part) {
  Range &range = ranges_[colors_[part.front()]];
  for (unsigned node : part) {
    unsigned last = range.begin + --range.size;
    std::swap(nodes_[position_[node]], nodes_[last]);
    position_[nodes_[position_[node]]] = position_[node];
    position_[node] = last;
    colors_[node] = ranges_.size();
  }
  ranges_.push_back(Range{range.begin + range.size, static_cast<unsigned>(part.size())});
}

std::vector<unsigned> Refiner::run() {
  std::vector<unsigned> changed(nodes_);
  while (!changed.empty()) {
    std::vector<unsigned> touched = findTouched(changed);
    // All parts are found by the colours of before.
    std::vector<Part> parts;
    for (size_t begin = 0, end; begin < touched.size(); begin = end) {
      end = begin + 1;
      while (end < touched.size() && colors_[touched[end]] == colors_[touched[begin]])
        ++end;
      findParts(llvm::ArrayRef(touched).slice(begin, end - begin), parts);
    }
    for (unsigned node : touched)
      isTouched_[node] = false;
    changed.clear();
    for (const Part &part : parts) {
      split(part);
      changed.insert(changed.end(), part.begin(), part.end());
    }
  }
  return std::move(colors_);
}

std::vector<unsigned> mlir::coll::refineColors(const ColorGraph &graph,
                                               std::vector<unsigned> colors) {
  return Refiner(graph, std::move(colors)).run();
}
