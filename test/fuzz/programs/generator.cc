#include "test/fuzz/programs/generator.h"

#include "test/fuzz/programs/distribute.h"
#include "test/fuzz/programs/operations.h"

#include <cmath>
#include <utility>

namespace coll::fuzz {
namespace {

constexpr int64_t kMaxElements = 1500;
constexpr int kMaxArguments = 7;

// Round for all: no rounding of the text, no surprise when it is read.
std::string numberText(Dtype dtype, double number) {
  if (dtype == Dtype::I1)
    return number != 0 ? "true" : "false";
  if (!isFloat(dtype))
    return std::to_string(int64_t(number));
  char text[40];
  std::snprintf(text, sizeof(text), "%.8e", number);
  return text;
}

} // namespace

std::string list(const std::vector<int64_t> &numbers) {
  std::string text = "[";
  for (size_t i = 0; i < numbers.size(); ++i)
    text += (i ? ", " : "") + std::to_string(numbers[i]);
  return text + "]";
}

std::string array(const std::vector<int64_t> &numbers) {
  if (numbers.empty())
    return "array<i64>";
  std::string text = list(numbers);
  return "array<i64: " + text.substr(1, text.size() - 2) + ">";
}

std::string pairs(const std::vector<std::pair<int64_t, int64_t>> &numbers) {
  std::string type = " : tensor<" + std::to_string(numbers.size()) + "x2xi64>";
  if (numbers.empty())
    return "dense<>" + type;
  std::string text = "dense<[";
  for (size_t i = 0; i < numbers.size(); ++i)
    text += (i ? ", " : "") + list({numbers[i].first, numbers[i].second});
  return text + "]>" + type;
}

Generator::Generator(Random &source)
    : random(source), region_(&program_.body), isUpstream_(random.chance(0.15)) {}

Id Generator::addValue(const Value &value) {
  program_.values.push_back(value);
  return Id(program_.values.size()) - 1;
}

std::optional<Id> Generator::pick(const Suits &suits) {
  std::vector<Id> found;
  for (Id id : scope_)
    if (suits(value(id)))
      found.push_back(id);
  if (found.empty())
    return std::nullopt;
  size_t from = random.chance(0.5) ? found.size() - (found.size() + 2) / 3 : 0;
  return found[from + size_t(random.below(int64_t(found.size() - from)))];
}

Id Generator::pickLike(const Type &type) {
  if (random.chance(0.7))
    if (auto found = pick([&](const Value &other) { return other.type == type; }))
      return *found;
  bool mayBeArgument = program_.body.args.size() < kMaxArguments;
  return mayBeArgument && random.chance(0.4) ? addArgument(type) : addConstant(type);
}

Id Generator::addArgument(const Type &type) {
  Facts facts = factsOfWhole(type.dtype == Dtype::I1 ? 1 : 3);
  if (isFloat(type.dtype) && random.chance(0.3))
    facts = {1, 0, 0};
  else if (!isFloat(type.dtype) && random.chance(0.2))
    facts = anyInteger(type.dtype);
  Id id = addValue({type, facts});
  program_.body.args.push_back(id);
  scope_.insert(scope_.begin(), id); // arguments are in every scope
  return id;
}

Id Generator::addSplat(const Type &type, double number) {
  std::string text = "value = dense<" + numberText(type.dtype, number) + "> : " + type.text();
  double quantum = std::fabs(number) < 1 ? 1.0 / 64 : 1;
  return *emit(isUpstream_ ? "arith.constant" : "stablehlo.constant", text, {}, type,
               {std::fabs(number), quantum, 0});
}

Id Generator::addConstant(const Type &type) {
  static const std::vector<double> kNumbers = {0, 0, 1, 1, 2, 3, -1, -2, 0.5, 5, 7};
  bool isTiny = isFloat8(type.dtype);
  auto choose = [&] {
    double number = random.pick(kNumbers);
    if (isTiny || !isFloat(type.dtype))
      number = std::trunc(isTiny ? std::min(number, 3.0) : number);
    return isUnsigned(type.dtype) ? std::fabs(number) : number;
  };
  if (type.numElements() > 24 || type.shape.empty() || type.numElements() == 0 ||
      random.chance(0.6))
    return addSplat(type, choose());
  std::string text;
  auto print = [&](auto &self, size_t dim) -> void {
    if (dim == type.shape.size()) {
      text += numberText(type.dtype, choose());
      return;
    }
    text += "[";
    for (int64_t i = 0; i < type.shape[dim]; ++i) {
      text += i ? ", " : "";
      self(self, dim + 1);
    }
    text += "]";
  };
  print(print, 0);
  return *emit(isUpstream_ ? "arith.constant" : "stablehlo.constant",
               "value = dense<" + text + "> : " + type.text(), {}, type,
               isTiny ? factsOfWhole(3) : Facts{7, 0.5, 0});
}

Dtype Generator::randomDtype() {
  static const std::vector<Dtype> kDtypes = {Dtype::F32, Dtype::F32, Dtype::F32,  Dtype::F32,
                                             Dtype::F64, Dtype::F16, Dtype::BF16, Dtype::I32,
                                             Dtype::I32, Dtype::I64, Dtype::I8,   Dtype::I1};
  static const std::vector<Dtype> kRare = {Dtype::F8E4M3, Dtype::F8E5M2, Dtype::I16, Dtype::I4,
                                           Dtype::U64,    Dtype::U32,    Dtype::U8};
  // MLIR's own operations take neither unsigned integers nor what memory does not hold.
  return random.chance(isUpstream_ ? 0 : 0.25) ? random.pick(kRare) : random.pick(kDtypes);
}

int64_t Generator::randomExtent() {
  static const std::vector<int64_t> kExtents = {1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 12};
  return random.chance(0.015) ? 0 : random.pick(kExtents);
}

std::vector<int64_t> Generator::randomShape(int maxRank) {
  std::vector<int64_t> shape;
  int64_t elements = 1;
  for (int64_t rank = random.between(0, maxRank); rank > 0; --rank) {
    int64_t extent = randomExtent();
    if (elements * extent > kMaxElements)
      break;
    elements *= std::max<int64_t>(extent, 1);
    shape.push_back(extent);
  }
  return shape;
}

bool isSmall(const Type &type) { return type.numElements() <= kMaxElements; }

std::optional<Id> Generator::emit(std::string name, std::string attributes,
                                  std::vector<Id> operands, Type type, const Facts &facts,
                                  std::vector<Region> regions) {
  std::optional<Facts> fitting = rounded(type.dtype, facts);
  if (!fitting || !(operands.empty() || isSmall(type)))
    return std::nullopt;
  Node node{std::move(name), std::move(attributes), std::move(operands), {}, std::move(regions)};
  return emitMany(std::move(node), {{std::move(type), *fitting}})[0];
}

std::vector<Id> Generator::emitMany(Node node, const std::vector<Value> &results) {
  for (const Value &result : results)
    node.results.push_back(addValue(result));
  std::vector<Id> ids = node.results;
  scope_.insert(scope_.end(), ids.begin(), ids.end());
  region_->nodes.push_back(std::move(node));
  return ids;
}

Region Generator::nest(const std::vector<Value> &args,
                       const std::function<std::vector<Id>(const std::vector<Id> &)> &fill) {
  Region nested;
  Region *outer = std::exchange(region_, &nested);
  std::vector<Id> saved = scope_;
  size_t numArgs = program_.body.args.size();
  ++depth_;
  for (const Value &arg : args)
    nested.args.push_back(addValue(arg));
  scope_.insert(scope_.end(), nested.args.begin(), nested.args.end());
  nested.results = fill(nested.args);
  --depth_;
  scope_ = std::move(saved);
  // Arguments that the region made stay.
  scope_.insert(scope_.begin(), program_.body.args.begin() + long(numArgs),
                program_.body.args.end());
  region_ = outer;
  return nested;
}

void Generator::addNodes(int count) {
  // The importer takes a file of one kind or the other.
  std::vector<Operation> operations;
  int total = 0;
  for (const Operation &operation : allOperations()) {
    if (isUpstream_ != operation.isUpstream)
      continue;
    operations.push_back(operation);
    total += operation.weight;
  }
  for (int attempts = 4 * count; count > 0 && attempts > 0; --attempts) {
    int64_t ticket = random.below(total);
    const Operation *chosen = operations.data();
    while (ticket >= chosen->weight)
      ticket -= chosen++->weight;
    count -= chosen->add(*this);
  }
}

Program Generator::generate() {
  for (int64_t i = random.between(1, 3); i > 0; --i)
    addArgument({randomDtype(), randomShape(4)});
  addNodes(int(random.between(1, 12)));
  if (!isUpstream_)
    decideState();
  decideResults();
  dropUnused(program_);
  distribute(program_, random);
  return std::move(program_);
}

// The first arguments become state: what updates one is clamped to what the argument may
// hold, so that steps can be repeated.
void Generator::decideState() {
  int64_t numState = random.below(std::min<int64_t>(3, int64_t(program_.body.args.size())) + 1);
  for (int64_t i = 0; i < numState; ++i) {
    Id arg = program_.body.args[size_t(i)];
    Type type = typeOf(arg);
    Facts facts = factsOf(arg);
    auto next = pick([&](const Value &other) { return other.type == type; });
    Id id = next.value_or(arg);
    bool fits = factsOf(id).bound <= facts.bound && factsOf(id).quantum >= facts.quantum;
    if (!fits && type.dtype != Dtype::I1) {
      double bound =
          std::min(facts.bound, std::ldexp(1.0, std::min(precisionOf(type.dtype), 40)) - 1);
      Id low = addSplat({type.dtype, {}}, isUnsigned(type.dtype) ? 0 : -bound);
      Id high = addSplat({type.dtype, {}}, bound);
      Facts clamped{facts.bound, factsOf(id).quantum, factsOf(id).error};
      id = emit("stablehlo.clamp", "", {low, id, high}, type, clamped).value_or(arg);
    }
    program_.body.results.push_back(id);
  }
  program_.numState = int(numState);
}

void Generator::decideResults() {
  for (int64_t i = random.between(1, 4); i > 0; --i)
    program_.body.results.push_back(*pick([](const Value &) { return true; }));
}

} // namespace coll::fuzz
