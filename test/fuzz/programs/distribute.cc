#include "test/fuzz/programs/distribute.h"

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

} // namespace coll::fuzz
