#include "test/fuzz/programs/shrink.h"

#include <map>

namespace coll::fuzz {
namespace {

using Renaming = std::map<Id, Id>;

void rename(std::vector<Id> &ids, const Renaming &names) {
  for (Id &id : ids)
    if (auto found = names.find(id); found != names.end())
      id = found->second;
}

void rename(Region &region, const Renaming &names) {
  for (Node &node : region.nodes) {
    rename(node.operands, names);
    for (Region &nested : node.regions)
      rename(nested, names);
  }
  rename(region.results, names);
}

// All regions, outer ones first. Combiners are not touched: they are small already.
void collectRegions(Region &region, std::vector<Region *> &regions) {
  regions.push_back(&region);
  for (Node &node : region.nodes)
    if (node.name == "stablehlo.while" || node.name == "stablehlo.if" ||
        node.name == "stablehlo.case")
      for (Region &nested : node.regions)
        collectRegions(nested, regions);
}

Node makeConstant(const Program &program, Id id) {
  const Type &type = program.values[size_t(id)].type;
  std::string number = isFloat(type.dtype) ? "1.0" : type.dtype == Dtype::I1 ? "true" : "1";
  return {"stablehlo.constant", "value = dense<" + number + "> : " + type.text(), {}, {id}, {}};
}

class Shrinker {
public:
  Shrinker(Program program, const std::function<bool(const Program &)> &stillFails, int budget)
      : best_(std::move(program)), stillFails_(stillFails), budget_(budget) {}

  Program run() {
    do {
      improved_ = false;
      dropResults();
      dropState();
      simplifyNodes();
      dropSplits();
    } while (improved_ && budget_ > 0);
    return std::move(best_);
  }

private:
  bool attempt(Program candidate) {
    dropUnused(candidate);
    if (budget_-- <= 0 || candidate.body.results.empty() || candidate.text() == best_.text() ||
        !stillFails_(candidate))
      return false;
    best_ = std::move(candidate);
    improved_ = true;
    return true;
  }

  void dropResults() {
    for (size_t i = best_.body.results.size(); i-- > size_t(best_.numState);) {
      Program candidate = best_;
      candidate.body.results.erase(candidate.body.results.begin() + long(i));
      attempt(std::move(candidate));
    }
  }

  // The last state argument becomes a batch argument, its result an ordinary one.
  void dropState() {
    while (best_.numState > 0) {
      Program candidate = best_;
      --candidate.numState;
      if (candidate.stateShardings.size() > size_t(candidate.numState))
        candidate.stateShardings.resize(size_t(candidate.numState));
      if (!attempt(std::move(candidate)))
        return;
    }
  }

  void simplifyNodes() {
    std::vector<Region *> regions;
    collectRegions(best_.body, regions);
    for (size_t r = 0; r < regions.size(); ++r) {
      for (size_t n = regions[r]->nodes.size(); n-- > 0;)
        if (simplifyNode(r, n))
          break;
      // What was found may have other regions.
      regions.clear();
      collectRegions(best_.body, regions);
    }
  }

  Region &regionOf(Program &program, size_t index) {
    std::vector<Region *> regions;
    collectRegions(program.body, regions);
    return *regions[index];
  }

  bool simplifyNode(size_t region, size_t index) {
    Program first = best_;
    Node node = regionOf(first, region).nodes[index];
    if (node.name == "stablehlo.constant" && node.attributes.find('[') == std::string::npos)
      return false;
    return replaceByOperand(region, index, node) || replaceByConstants(region, index, node);
  }

  // Uses see an operand of the same type instead.
  bool replaceByOperand(size_t region, size_t index, const Node &node) {
    if (node.results.size() != 1)
      return false;
    for (Id operand : node.operands) {
      if (!mayReplace(operand, node.results[0]))
        continue;
      Program candidate = best_;
      Region &place = regionOf(candidate, region);
      place.nodes.erase(place.nodes.begin() + long(index));
      rename(candidate.body, {{node.results[0], operand}});
      if (attempt(std::move(candidate)))
        return true;
    }
    return false;
  }

  bool replaceByConstants(size_t region, size_t index, const Node &node) {
    Program candidate = best_;
    Region &place = regionOf(candidate, region);
    std::vector<Node> constants;
    for (Id id : node.results)
      constants.push_back(makeConstant(best_, id));
    place.nodes.erase(place.nodes.begin() + long(index));
    place.nodes.insert(place.nodes.begin() + long(index), constants.begin(), constants.end());
    return attempt(std::move(candidate));
  }

  void dropSplits() {
    for (size_t arg = 0; arg < best_.argShardings.size(); ++arg) {
      for (size_t dim = 0; arg < best_.argShardings.size() && dim < best_.argShardings[arg].size();
           ++dim) {
        if (best_.argShardings[arg][dim].axes.empty())
          continue;
        Program candidate = best_;
        candidate.argShardings[arg][dim] = Split();
        if (arg < candidate.stateShardings.size())
          candidate.stateShardings[arg] = candidate.argShardings[arg];
        attempt(std::move(candidate));
      }
    }
  }

  // What is known of the results must stay true.
  bool mayReplace(Id by, Id id) const {
    const Value &a = best_.values[size_t(by)], &b = best_.values[size_t(id)];
    return a.type == b.type && a.facts.bound <= b.facts.bound && a.facts.error <= b.facts.error &&
           a.facts.quantum >= b.facts.quantum;
  }

  Program best_;
  const std::function<bool(const Program &)> &stillFails_;
  int budget_;
  bool improved_ = false;
};

} // namespace

Program shrink(Program program, const std::function<bool(const Program &)> &stillFails,
               int budget) {
  return Shrinker(std::move(program), stillFails, budget).run();
}

} // namespace coll::fuzz
