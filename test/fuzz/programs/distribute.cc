#include "test/fuzz/programs/distribute.h"

#include <algorithm>

namespace coll::fuzz {
namespace {

const std::vector<std::vector<Axis>> &allMeshes() {
  static const std::vector<std::vector<Axis>> kMeshes = {
      {{"a", 1}},           {{"a", 2}},           {{"a", 3}},
      {{"a", 4}},           {{"a", 5}},           {{"a", 2}, {"b", 2}},
      {{"a", 2}, {"b", 2}}, {{"a", 1}, {"b", 3}}, {{"a", 2}, {"b", 1}, {"c", 2}}};
  return kMeshes;
}

Sharding randomSharding(const Type &type, const std::vector<Axis> &mesh, double density,
                        Random &random) {
  std::vector<Axis> free = mesh;
  random.shuffle(free);
  Sharding sharding(type.shape.size());
  for (Split &split : sharding) {
    if (!random.chance(density))
      continue;
    for (int64_t i = random.chance(0.25) ? 2 : 1; i > 0 && !free.empty(); --i) {
      split.axes.push_back(free.back().name);
      free.pop_back();
    }
    if (!split.axes.empty() && random.chance(0.1))
      split.unit = random.between(2, 4);
  }
  random.shuffle(sharding);
  return sharding;
}

constexpr int64_t kMaxRanks = 16;

// An axis as it is, or in two parts.
void addAxis(Program &program, const std::string &name, int64_t size, Random &random) {
  program.shardyMesh.push_back({name, size});
  if (size < 4 || size == 5 || random.chance(0.4)) {
    program.mesh.push_back({name, size});
    return;
  }
  const int64_t major = size == 6 && random.chance(0.5) ? 3 : 2, minor = size / major;
  program.mesh.push_back({name + ":(1)" + std::to_string(major), major});
  program.mesh.push_back(
      {name + ":(" + std::to_string(major) + ")" + std::to_string(minor), minor});
}

void chooseMesh(Program &program, Random &random) {
  static const std::vector<int64_t> kSizes = {1, 2, 2, 2, 3, 4, 4, 5, 6};
  program.ranks = 1;
  const int64_t count = random.between(1, 4);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t size = random.pick(kSizes);
    if (program.ranks * size > kMaxRanks)
      continue;
    program.ranks *= size;
    addAxis(program, std::string(1, char('a' + i)), size, random);
  }
}

// `#sdy.sharding<…>` with dimensions that are open, and axes that may not split them.
std::string randomConstraint(const Program &program, const Type &type, double density,
                             Random &random) {
  const Sharding sharding = randomSharding(type, program.mesh, density, random);
  std::vector<std::string> unused;
  for (const Axis &axis : program.mesh)
    unused.push_back(axis.name);
  std::string text = "#sdy.sharding<@mesh, [";
  for (size_t dim = 0; dim < sharding.size(); ++dim) {
    text += (dim ? ", " : "") + shardyAxes(sharding[dim].axes, random.chance(0.3) ? "?" : "");
    for (const std::string &axis : sharding[dim].axes)
      unused.erase(std::find(unused.begin(), unused.end(), axis));
  }
  text += "]";
  if (!unused.empty() && random.chance(0.2))
    text += ", replicated=" + shardyAxes({random.pick(unused)});
  return text + ">";
}

void replaceUses(std::vector<Id> &ids, Id by, Id id) {
  std::replace(ids.begin(), ids.end(), id, by);
}

void replaceUses(Node &node, Id by, Id id) {
  replaceUses(node.operands, by, id);
  for (Region &region : node.regions) {
    for (Node &nested : region.nodes)
      replaceUses(nested, by, id);
    replaceUses(region.results, by, id);
  }
}

// Constrains what an operation of the step computes, for all operations behind it.
void addConstraint(Program &program, size_t position, double density, Random &random) {
  std::vector<Node> &nodes = program.body.nodes;
  const Node &node = nodes[position];
  const Id id = node.results[size_t(random.below(int64_t(node.results.size())))];
  const Value value = program.values[size_t(id)];
  if (value.type.isScalar)
    return;
  const Id constrained = Id(program.values.size());
  program.values.push_back(value);
  for (size_t i = position + 1; i < nodes.size(); ++i)
    replaceUses(nodes[i], constrained, id);
  replaceUses(program.body.results, constrained, id);
  nodes.insert(nodes.begin() + long(position) + 1,
               Node{"sdy.sharding_constraint",
                    "sharding = " + randomConstraint(program, value.type, density, random),
                    {id},
                    {constrained},
                    {}});
}

} // namespace

void distribute(Program &program, Random &random) {
  if (random.chance(0.25)) {
    program.ranks = random.between(1, 5);
    return;
  }
  program.mesh = random.pick(allMeshes());
  program.ranks = 1;
  for (const Axis &axis : program.mesh)
    program.ranks *= axis.size;
  static const std::vector<double> kDensities = {0.2, 0.5, 0.8};
  double density = random.pick(kDensities);
  for (Id id : program.body.args)
    program.argShardings.push_back(
        randomSharding(program.values[size_t(id)].type, program.mesh, density, random));
  // Where results say nothing, state keeps its argument's sharding.
  if (random.chance(0.2))
    program.stateShardings.assign(program.argShardings.begin(),
                                  program.argShardings.begin() + program.numState);
}

void distributeShardy(Program &program, Random &random) {
  program.mesh.clear();
  program.argShardings.clear();
  program.stateShardings.clear();
  chooseMesh(program, random);
  static const std::vector<double> kDensities = {0.3, 0.6, 0.9};
  const double density = random.pick(kDensities);
  for (Id id : program.body.args) {
    Sharding sharding =
        randomSharding(program.values[size_t(id)].type, program.mesh, density, random);
    for (Split &split : sharding)
      split.unit = 1;
    program.argShardings.push_back(sharding);
  }
  for (size_t i = program.body.nodes.size(); i-- > 0;)
    if (random.chance(0.2))
      addConstraint(program, i, density, random);
}

} // namespace coll::fuzz
