#include "test/fuzz/programs/operations.h"

namespace coll::fuzz {
namespace {

// One spatial dimension of a convolution.
struct Spatial {
  int64_t input, window, stride, low, high, spread, dilation;

  int64_t output() const {
    int64_t extent = input == 0 ? 0 : (input - 1) * spread + 1;
    int64_t room = extent + low + high - ((window - 1) * dilation + 1);
    return room < 0 ? 0 : room / stride + 1;
  }
};

Spatial randomSpatial(Random &random) {
  Spatial s{};
  s.input = random.between(1, 8);
  s.window = random.between(1, 4);
  s.stride = random.chance(0.6) ? 1 : random.between(2, 3);
  s.spread = random.chance(0.85) ? 1 : 2;
  s.dilation = random.chance(0.85) ? 1 : 2;
  s.low = random.between(random.chance(0.1) ? -1 : 0, 2);
  s.high = random.between(random.chance(0.1) ? -1 : 0, 2);
  return s;
}

// Where the two features and the spatial dimensions of a tensor are.
struct Layout {
  std::vector<int64_t> order; // 0: first, 1: second, 2…: spatial

  std::string text(char first, char second) const {
    std::string text = "[";
    for (size_t i = 0; i < order.size(); ++i) {
      text += i ? ", " : "";
      text += order[i] == 0   ? std::string(1, first)
              : order[i] == 1 ? std::string(1, second)
                              : std::to_string(order[i] - 2);
    }
    return text + "]";
  }
  std::vector<int64_t> shape(const std::vector<int64_t> &extents) const {
    std::vector<int64_t> shape;
    for (int64_t which : order)
      shape.push_back(extents[size_t(which)]);
    return shape;
  }
};

std::vector<int64_t> gather(const std::vector<Spatial> &spatial, int64_t Spatial::*member) {
  std::vector<int64_t> numbers;
  for (const Spatial &s : spatial)
    numbers.push_back(s.*member);
  return numbers;
}

std::string spatialAttributes(const std::vector<Spatial> &spatial) {
  std::vector<std::pair<int64_t, int64_t>> padding;
  for (const Spatial &s : spatial)
    padding.push_back({s.low, s.high});
  return "window_strides = " + array(gather(spatial, &Spatial::stride)) +
         ", lhs_dilation = " + array(gather(spatial, &Spatial::spread)) +
         ", rhs_dilation = " + array(gather(spatial, &Spatial::dilation)) +
         ", padding = " + pairs(padding);
}

} // namespace

bool addConvolution(Generator &g) {
  static const std::vector<Dtype> kDtypes = {Dtype::F32, Dtype::F32, Dtype::F64, Dtype::BF16,
                                             Dtype::I32};
  Dtype dtype = g.random.pick(kDtypes);
  std::vector<Spatial> spatial(size_t(g.random.between(1, 2)));
  for (Spatial &s : spatial)
    s = randomSpatial(g.random);
  int64_t featureGroups = g.random.chance(0.75) ? 1 : g.random.between(2, 3);
  int64_t batchGroups = featureGroups > 1 || g.random.chance(0.85) ? 1 : 2;
  int64_t batch = g.random.between(1, 5) * batchGroups;
  int64_t features = g.random.between(1, 3);
  int64_t outputs = g.random.between(1, 3) * featureGroups * batchGroups;

  std::vector<int64_t> input = {batch, features * featureGroups}, window = {features, outputs},
                       output = {batch / batchGroups, outputs};
  int64_t count = features;
  for (const Spatial &s : spatial) {
    input.push_back(s.input);
    window.push_back(s.window);
    output.push_back(s.output());
    count *= s.window;
  }
  bool isPlain = g.random.chance(0.5);
  auto layout = [&] {
    std::vector<int64_t> order(input.size());
    std::iota(order.begin(), order.end(), 0);
    return Layout{isPlain ? order : g.random.permutation(order.size())};
  };
  Layout in = layout(), kernel = layout(), out = layout();
  Type left{dtype, in.shape(input)}, right{dtype, kernel.shape(window)};
  if (!isSmall(left) || !isSmall(right))
    return false;
  Id x = g.pickLike(left), k = g.pickLike(right);
  std::string attributes = "batch_group_count = " + std::to_string(batchGroups) +
                           " : i64, feature_group_count = " + std::to_string(featureGroups) +
                           " : i64, dimension_numbers = #stablehlo.conv<" + in.text('b', 'f') +
                           "x" + kernel.text('i', 'o') + "->" + out.text('b', 'f') + ">, " +
                           spatialAttributes(spatial);
  if (g.random.chance(0.15))
    attributes +=
        std::string(", window_reversal = array<i1: true") + (spatial.size() > 1 ? ", false>" : ">");
  Facts facts = factsOfTotal(dtype, factsOfProduct(g.factsOf(x), g.factsOf(k)), count);
  return g.emit("stablehlo.convolution", attributes, {x, k}, {dtype, out.shape(output)}, facts)
      .has_value();
}

} // namespace coll::fuzz
