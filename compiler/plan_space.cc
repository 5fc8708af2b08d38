//===- plan_space.cc --------------------------------------------------------------===//

#include "compiler/plan_space.h"

#include "dialect/dialect.h"
#include "passes/transform/strategy/shard_pattern.h"
#include "passes/transform/strategy/strategies.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"

namespace coll::run {
namespace {

/// A strategy and the axis that it takes in meshes that are searched for. In this order axes go
/// from outside to inside: neighbours in a mesh exchange most.
struct Role {
  llvm::StringLiteral strategy, axis;
  bool alsoExpert = false; // experts are split over the axis, too

  bool splitsExperts() const { return alsoExpert || strategy == "expert"; }
  /// As --strategy takes it; `isNamed` where the axis does not have the strategy's usual name.
  std::string describe(llvm::StringRef axis, bool isNamed) const {
    std::string text = strategy.str();
    if (isNamed)
      text += ":" + axis.str();
    if (alsoExpert)
      text += ",expert:" + axis.str();
    return text;
  }
};
constexpr Role kRoles[] = {{"data", "dp"},        {"data", "dp", true}, {"zero1", "dp"},
                           {"zero1", "dp", true}, {"fsdp", "fsdp"},     {"fsdp", "fsdp", true},
                           {"expert", "ep"},      {"sequence", "sp"},   {"spatial", "sp"},
                           {"tensor", "tp"}};

/// Letters and digits as they are; what a pattern gives a meaning is escaped.
std::string escape(llvm::StringRef path) {
  std::string text;
  for (char c : path) {
    if (llvm::StringRef("*?[]{}\\^!:").contains(c))
      text += '\\';
    text += c;
  }
  return text;
}

/// The pattern with each number in it replaced: `layers_3/kernel` becomes `layers_*/kernel`.
std::string fold(llvm::StringRef path) {
  std::string text;
  for (size_t i = 0; i < path.size(); ++i) {
    if (!llvm::isDigit(path[i])) {
      text += escape(path.substr(i, 1));
      continue;
    }
    if (!llvm::StringRef(text).ends_with("*"))
      text += '*';
  }
  return text;
}

struct Tensor {
  std::string path;
  std::vector<int64_t> shape;
};
using Tensors = std::vector<Tensor>;

int64_t countElements(llvm::ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  return elements;
}

/// The group of all tensors that the pattern matches; nullopt if they differ in shape.
std::optional<ArgumentGroup> makeGroup(std::string pattern, const Tensors &tensors) {
  llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(pattern);
  if (!glob) {
    llvm::consumeError(glob.takeError());
    return std::nullopt;
  }
  ArgumentGroup group;
  for (const auto &[path, shape] : tensors) {
    if (!mlir::coll::matchesPath(*glob, path))
      continue;
    if (group.elements > 0 && group.shape != shape)
      return std::nullopt;
    group.shape = shape;
    group.elements += countElements(shape);
  }
  group.pattern = std::move(pattern);
  return group;
}

/// The tensors one by one, but for those whose path is also the end of another one's of another
/// shape: the pattern would match both.
std::vector<ArgumentGroup> makeSingleGroups(const Tensors &tensors) {
  llvm::StringMap<int> ends; // how many paths end so, behind a slash or as a whole
  for (const Tensor &tensor : tensors)
    for (llvm::StringRef rest = tensor.path; !rest.empty(); rest = rest.split('/').second)
      ++ends[rest];
  std::vector<ArgumentGroup> groups;
  for (const auto &[path, shape] : tensors) {
    if (ends[path] == 1)
      groups.push_back({escape(path), shape, countElements(shape)});
    else if (std::optional<ArgumentGroup> group = makeGroup(escape(path), tensors))
      groups.push_back(std::move(*group));
  }
  return groups;
}

/// A parameter with its optimizer state: arguments of the same shape whose paths have the same end,
/// as `0/params/dense/kernel` and `1/mu/params/dense/kernel` do. Nullopt if there are no others
/// than those of the group of `path` itself.
std::optional<ArgumentGroup> makeJointGroup(llvm::StringRef path, const ArgumentGroup &own,
                                            const Tensors &tensors) {
  for (llvm::StringRef rest = path.split('/').second; !rest.empty();
       rest = rest.split('/').second) {
    std::optional<ArgumentGroup> joint = makeGroup(fold(rest), tensors);
    if (!joint)
      return std::nullopt;
    if (joint->elements > own.elements)
      return joint;
  }
  return std::nullopt;
}

/// All ways to write `ranks` as a product of `count` factors of 2 or more, in order.
void factorise(int64_t ranks, size_t count, std::vector<int64_t> factors,
               std::vector<std::vector<int64_t>> &found) {
  if (count == 1) {
    factors.push_back(ranks);
    if (ranks >= 2)
      found.push_back(std::move(factors));
    return;
  }
  for (int64_t factor = 2; factor <= ranks / 2; ++factor)
    if (ranks % factor == 0) {
      std::vector<int64_t> extended = factors;
      extended.push_back(factor);
      factorise(ranks / factor, count - 1, std::move(extended), found);
    }
}

std::vector<const Role *> listRoles(RareStrategies rare) {
  std::vector<const Role *> roles;
  for (const Role &role : kRoles)
    if ((rare.spatial || role.strategy != "spatial") && (rare.expert || !role.splitsExperts()))
      roles.push_back(&role);
  return roles;
}

bool splitExpertsTwice(llvm::ArrayRef<const Role *> roles) {
  return llvm::count_if(roles, [](const Role *role) { return role->splitsExperts(); }) > 1;
}

/// The choices of `count` roles, in their order; two that split the same exclude each other.
std::vector<std::vector<const Role *>> chooseRoles(llvm::ArrayRef<const Role *> all, size_t count) {
  std::vector<std::vector<const Role *>> found;
  for (unsigned mask = 1; mask < 1u << all.size(); ++mask) {
    std::vector<const Role *> roles;
    bool isTwice = false;
    for (size_t i = 0; i < all.size(); ++i)
      if (mask >> i & 1) {
        isTwice |= !roles.empty() && roles.back()->axis == all[i]->axis;
        roles.push_back(all[i]);
      }
    if (roles.size() == count && !isTwice && !splitExpertsTwice(roles))
      found.push_back(std::move(roles));
  }
  return found;
}

/// Strategies over the axes of the user's mesh: each axis has one, or none.
std::vector<PlanCandidate> listOverMesh(llvm::ArrayRef<const Role *> roles, size_t count,
                                        const std::vector<MeshAxisOption> &mesh) {
  std::vector<PlanCandidate> plans;
  int64_t combinations = 1;
  const auto choices = static_cast<int64_t>(roles.size()) + 1;
  for (size_t i = 0; i < mesh.size(); ++i)
    combinations *= choices;
  for (int64_t number = 0; number < combinations; ++number) {
    std::vector<std::string> words;
    std::vector<const Role *> chosen;
    int64_t rest = number;
    for (const MeshAxisOption &axis : mesh) {
      if (rest % choices > 0) {
        chosen.push_back(roles[rest % choices - 1]);
        words.push_back(chosen.back()->describe(axis.name, /*isNamed=*/true));
      }
      rest /= choices;
    }
    if ((words.size() != count && !(words.empty() && count == 1)) || splitExpertsTwice(chosen))
      continue;
    PlanCandidate plan;
    plan.mesh = describeMesh(mesh);
    plan.strategy = llvm::join(words, ",");
    plans.push_back(std::move(plan));
  }
  return plans;
}

} // namespace

std::string describeMesh(llvm::ArrayRef<MeshAxisOption> mesh) {
  std::string text;
  for (const MeshAxisOption &axis : mesh)
    text += (text.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.size);
  return text;
}

ArgumentGroups findArgumentGroups(mlir::func::FuncOp step) {
  Tensors tensors;
  for (unsigned index = 0; index < step.getNumArguments(); ++index) {
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(step.getArgument(index).getType());
    if (type && type.getRank() > 0 && type.getNumElements() > 1)
      tensors.push_back({mlir::coll::getArgumentPath(step, index), type.getShape().vec()});
  }
  ArgumentGroups groups;
  groups.single = makeSingleGroups(tensors);
  llvm::StringSet<> seen;
  for (const auto &[path, shape] : tensors) {
    std::string pattern = fold(path);
    if (seen.contains(pattern))
      continue;
    std::optional<ArgumentGroup> group = makeGroup(pattern, tensors);
    if (!group)
      group = makeGroup(escape(path), tensors);
    if (!group || !seen.insert(group->pattern).second)
      continue;
    std::optional<ArgumentGroup> joint = makeJointGroup(path, *group, tensors);
    groups.folded.push_back(std::move(*group));
    if (joint && seen.insert(joint->pattern).second)
      groups.folded.push_back(std::move(*joint));
  }
  llvm::stable_sort(groups.folded, [](const ArgumentGroup &a, const ArgumentGroup &b) {
    return a.elements > b.elements;
  });
  return groups;
}

bool covers(llvm::StringRef pattern, llvm::StringRef other) {
  return other.consume_back(pattern) && (other.empty() || other.ends_with("/"));
}

std::vector<std::vector<MeshAxisOption>> listMeshes(int64_t ranks,
                                                    const std::vector<MeshAxisOption> &given) {
  if (!given.empty())
    return {given};
  std::vector<std::vector<MeshAxisOption>> meshes;
  for (size_t count : {1u, 2u}) {
    std::vector<std::vector<int64_t>> factors;
    factorise(ranks, count, {}, factors);
    for (const std::vector<int64_t> &sizes : factors) {
      std::vector<MeshAxisOption> mesh;
      for (auto [index, size] : llvm::enumerate(sizes))
        mesh.push_back({index == 0 ? "x" : "y", size});
      meshes.push_back(std::move(mesh));
    }
  }
  return meshes;
}

std::vector<std::string> listShardings(const ArgumentGroup &group,
                                       const std::vector<MeshAxisOption> &mesh) {
  // By axis: the dimension that it splits, or the number of dimensions for none.
  const size_t rank = group.shape.size();
  std::vector<std::string> shardings;
  int64_t combinations = 1;
  for (size_t i = 0; i < mesh.size(); ++i)
    combinations *= int64_t(rank) + 1;
  for (int64_t number = 0; number < combinations; ++number) {
    std::vector<std::string> dims(rank);
    std::vector<int64_t> parts(rank, 1);
    int64_t rest = number;
    for (const MeshAxisOption &axis : mesh) {
      const size_t dim = rest % (rank + 1);
      rest /= int64_t(rank) + 1;
      if (dim == rank)
        continue;
      dims[dim] += (dims[dim].empty() ? "" : "+") + axis.name;
      parts[dim] *= axis.size;
    }
    bool isLong = true;
    for (size_t dim = 0; dim < rank; ++dim) {
      isLong &= parts[dim] <= group.shape[dim];
      dims[dim] = dims[dim].empty() ? "-" : dims[dim];
    }
    if (isLong)
      shardings.push_back("[" + llvm::join(dims, ", ") + "]");
  }
  return shardings;
}

bool hasHeight(mlir::func::FuncOp step) {
  return llvm::any_of(step.getArguments(), [&](mlir::BlockArgument argument) {
    auto role =
        step.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), mlir::coll::kRoleAttr);
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(argument.getType());
    const bool isState = role && role == mlir::coll::kRoleState;
    return !isState && type && type.getRank() > 2 &&
           mlir::coll::findHeight(argument).value_or(1) != 1;
  });
}

std::vector<PlanCandidate> listStrategies(int64_t ranks, size_t axes,
                                          const std::vector<MeshAxisOption> &given,
                                          RareStrategies rare) {
  const std::vector<const Role *> all = listRoles(rare);
  if (!given.empty())
    return listOverMesh(all, axes, given);
  std::vector<PlanCandidate> plans;
  if (axes == 1) {
    PlanCandidate whole;
    whole.mesh = "dp=" + std::to_string(ranks);
    plans.push_back(std::move(whole));
  }
  std::vector<std::vector<int64_t>> factors;
  factorise(ranks, axes, {}, factors);
  for (const std::vector<const Role *> &roles : chooseRoles(all, axes))
    for (const std::vector<int64_t> &sizes : factors) {
      std::vector<std::string> mesh, words;
      for (auto [role, size] : llvm::zip_equal(roles, sizes)) {
        mesh.push_back((role->axis + "=" + llvm::Twine(size)).str());
        words.push_back(role->describe(role->axis, /*isNamed=*/false));
      }
      PlanCandidate plan;
      plan.mesh = llvm::join(mesh, ",");
      plan.strategy = llvm::join(words, ",");
      plans.push_back(std::move(plan));
    }
  return plans;
}

bool extends(llvm::StringRef strategies, llvm::StringRef others) {
  llvm::SmallVector<llvm::StringRef> all, some;
  strategies.split(all, ',', -1, false);
  others.split(some, ',', -1, false);
  return llvm::all_of(some, [&](llvm::StringRef word) { return llvm::is_contained(all, word); });
}

bool cutsOneAxis(llvm::StringRef mesh, llvm::StringRef other) {
  llvm::SmallVector<llvm::StringRef> all, some;
  mesh.split(all, ',');
  other.split(some, ',');
  return llvm::count_if(some,
                        [&](llvm::StringRef axis) { return !llvm::is_contained(all, axis); }) <= 1;
}

std::optional<PlanCandidate> withShardsOf(const PlanCandidate &plan, const PlanCandidate &other) {
  const std::vector<MeshAxisOption> to = llvm::cantFail(parseMesh(plan.mesh)),
                                    from = llvm::cantFail(parseMesh(other.mesh));
  auto sizesOf = [](const std::vector<MeshAxisOption> &mesh) {
    return llvm::map_to_vector(mesh, [](const MeshAxisOption &axis) { return axis.size; });
  };
  if (sizesOf(to) != sizesOf(from))
    return std::nullopt;
  PlanCandidate mixed;
  mixed.mesh = plan.mesh;
  mixed.strategy = plan.strategy;
  for (const std::string &shard : other.shards) {
    auto [pattern, sharding] = llvm::StringRef(shard).rsplit(": ");
    std::string text = pattern.str() + ": ";
    while (!sharding.empty()) {
      const llvm::StringRef axis = sharding.substr(0, sharding.find_first_of("[]+-, "));
      auto found =
          llvm::find_if(from, [&](const MeshAxisOption &known) { return axis == known.name; });
      text += found == from.end() ? axis.str() : to[size_t(found - from.begin())].name;
      sharding = sharding.drop_front(axis.size());
      text += sharding.take_front(1);
      sharding = sharding.drop_front(std::min<size_t>(sharding.size(), 1));
    }
    mixed.shards.push_back(std::move(text));
  }
  return mixed;
}

} // namespace coll::run
