#include "test/fuzz/programs/operations.h"

namespace coll::fuzz {
namespace {

// Which dimension of which operand a loop of the product walks.
struct Loop {
  int64_t extent;
  bool isLeft, isRight;
};

// Dimension numbers of one operand, in a random order.
struct Side {
  std::vector<int64_t> shape;
  std::vector<int64_t> placeOf; // per loop; -1: not walked
};

Side arrange(Random &random, const std::vector<Loop> &loops, bool isLeft) {
  std::vector<size_t> walked;
  for (size_t i = 0; i < loops.size(); ++i)
    if (isLeft ? loops[i].isLeft : loops[i].isRight)
      walked.push_back(i);
  if (random.chance(0.5))
    random.shuffle(walked);
  Side side;
  side.placeOf.assign(loops.size(), -1);
  for (size_t loop : walked) {
    side.placeOf[loop] = int64_t(side.shape.size());
    side.shape.push_back(loops[loop].extent);
  }
  return side;
}

std::string listPlaces(const char *name, const Side &side, const std::vector<size_t> &loops) {
  std::vector<int64_t> places;
  for (size_t loop : loops)
    places.push_back(side.placeOf[loop]);
  return std::string(name) + " = " + list(places);
}

} // namespace

bool addDotGeneral(Generator &g) {
  static const std::vector<Dtype> kDtypes = {Dtype::F32,    Dtype::F32,  Dtype::F32, Dtype::F64,
                                             Dtype::F16,    Dtype::BF16, Dtype::I32, Dtype::I8,
                                             Dtype::F8E4M3, Dtype::U8};
  Dtype dtype = g.random.pick(kDtypes), wide = dtype;
  if (precisionOf(dtype) < 24 && g.random.chance(0.6))
    wide = isFloat(dtype) ? Dtype::F32 : Dtype::I32;
  std::vector<Loop> loops;
  std::vector<size_t> batch, contracted;
  int64_t count = 1;
  auto add = [&](int64_t most, bool isLeft, bool isRight, auto &&then) {
    for (int64_t i = g.random.between(0, most); i > 0; --i) {
      then(loops.size());
      loops.push_back({g.randomExtent(), isLeft, isRight});
    }
  };
  add(g.random.chance(0.4) ? 2 : 0, true, true, [&](size_t i) { batch.push_back(i); });
  add(2, true, false, [&](size_t) {});
  add(2, false, true, [&](size_t) {});
  add(2, true, true, [&](size_t i) { contracted.push_back(i); });
  for (size_t i : contracted)
    count *= loops[i].extent;
  Side x = arrange(g.random, loops, true), y = arrange(g.random, loops, false);
  Type left{dtype, x.shape}, other{dtype, y.shape};
  if (left.numElements() > 1000 || other.numElements() > 1000 || x.shape.size() > 4 ||
      y.shape.size() > 4)
    return false;
  Id a = g.pickLike(left), b = g.pickLike(other);
  Facts facts = factsOfTotal(wide, factsOfProduct(g.factsOf(a), g.factsOf(b)), count);
  std::string numbers = "dot_dimension_numbers = #stablehlo.dot<" +
                        listPlaces("lhs_batching_dimensions", x, batch) + ", " +
                        listPlaces("rhs_batching_dimensions", y, batch) + ", " +
                        listPlaces("lhs_contracting_dimensions", x, contracted) + ", " +
                        listPlaces("rhs_contracting_dimensions", y, contracted) + ">";
  // The order of the result is: batch, left, right.
  Type type{wide, {}};
  for (size_t i : batch)
    type.shape.push_back(loops[i].extent);
  for (const Side *side : {&x, &y})
    for (size_t place = 0; place < side->shape.size(); ++place)
      for (size_t i = 0; i < loops.size(); ++i)
        if (side->placeOf[i] == int64_t(place) && loops[i].isLeft != loops[i].isRight)
          type.shape.push_back(loops[i].extent);
  return g.emit("stablehlo.dot_general", numbers, {a, b}, type, facts).has_value();
}

} // namespace coll::fuzz
