//===- strategies.cc - which strategy splits what ---------------------------------===//

#include "passes/transform/strategy/strategies.h"

namespace mlir::coll {

namespace {

/// State with fewer elements stays whole: splitting it saves less than a message costs.
constexpr int64_t kMinElements = 1024;

enum class Strategy { Data, Fsdp, Zero1, Tensor, Expert, Sequence, Spatial };

struct Known {
  StringRef name;
  Strategy strategy;
  /// Usual names of its axis, the first that the mesh has counts.
  SmallVector<StringRef> axes;
};

const SmallVector<Known> &knownStrategies() {
  static const SmallVector<Known> known = {
      {"data", Strategy::Data, {"dp", "data", "batch", "replica"}},
      {"fsdp", Strategy::Fsdp, {"fsdp", "dp", "data"}},
      {"zero1", Strategy::Zero1, {"dp", "data", "fsdp"}},
      {"tensor", Strategy::Tensor, {"tp", "tensor", "model", "mp"}},
      {"expert", Strategy::Expert, {"ep", "expert", "experts"}},
      {"sequence", Strategy::Sequence, {"sp", "cp", "seq", "sequence"}},
      {"spatial", Strategy::Spatial, {"sp", "spatial", "height"}},
  };
  return known;
}

/// A strategy that the user asks for, with its axis.
struct Request {
  Strategy strategy;
  StringAttr axis;
};

class Strategies {
public:
  explicit Strategies(StepSharding &sharding) : sharding_(sharding) {}

  LogicalResult run(StringRef text) {
    SmallVector<StringRef> words;
    text.split(words, ',', -1, /*KeepEmpty=*/false);
    for (StringRef word : words)
      if (failed(add(word.trim())))
        return failure();
    // Weights first: a tensor that will be gathered may then be split along another dimension. And
    // experts before other weights: all of an expert is then on the ranks that have it.
    for (const Request &request : requests_)
      if (request.strategy == Strategy::Expert && !splitExperts(sharding_, request.axis))
        return error("expert") << "finds no weights of three dimensions that a product takes one "
                                  "matrix of for each part of the tokens; use tensor";
    for (const Request &request : requests_)
      if (request.strategy == Strategy::Tensor)
        splitWeights(sharding_, request.axis);
    for (const Request &request : requests_)
      if (failed(apply(request)))
        return failure();
    return success();
  }

private:
  InFlightDiagnostic error(StringRef word) {
    return sharding_.getStep().emitError() << "strategy '" << word << "' ";
  }

  LogicalResult add(StringRef word) {
    auto [name, axis] = word.split(':');
    const auto *known =
        llvm::find_if(knownStrategies(), [&, &name = name](auto &k) { return k.name == name; });
    if (known == knownStrategies().end())
      return error(name) << "is unknown; use data, fsdp, zero1, tensor, expert, sequence, "
                            "spatial, or auto alone";
    FailureOr<StringAttr> found = findAxis(*known, axis);
    if (failed(found))
      return failure();
    for (const Request &other : requests_)
      if (other.axis == *found && !canShare(other.strategy, known->strategy))
        return error(name) << "needs an axis of its own, but '" << found->getValue()
                           << "' is used already; name another as in '" << name << ":AXIS'";
    requests_.push_back({known->strategy, *found});
    return success();
  }

  FailureOr<StringAttr> findAxis(const Known &known, StringRef given) {
    MeshOp mesh = sharding_.getMesh();
    auto make = [&](StringRef axis) { return StringAttr::get(mesh.getContext(), axis); };
    if (!given.empty()) {
      if (mesh.getAxisSize(given))
        return make(given);
      error(known.name) << "names axis '" << given << "', which the mesh does not have";
      return failure();
    }
    for (StringRef axis : known.axes)
      if (mesh.getAxisSize(axis))
        return make(axis);
    if (mesh.getAxisNames().size() == 1)
      return cast<StringAttr>(mesh.getAxisNames()[0]);
    error(known.name) << "finds no axis '" << known.axes.front()
                      << "' in the mesh; name one as in '" << known.name << ":AXIS'";
    return failure();
  }

  /// Strategies that split the batch and the state over the ranks of one axis go together; the
  /// tokens of a mixture of experts then travel between the ranks that split the batch.
  static bool canShare(Strategy a, Strategy b) {
    auto isByData = [](Strategy s) {
      return s == Strategy::Data || s == Strategy::Fsdp || s == Strategy::Zero1 ||
             s == Strategy::Expert;
    };
    return isByData(a) && isByData(b);
  }

  LogicalResult apply(const Request &request) {
    switch (request.strategy) {
    case Strategy::Data:
      splitBatch(request.axis);
      break;
    case Strategy::Fsdp:
      splitBatch(request.axis);
      splitState(request.axis, [](unsigned) { return true; });
      break;
    case Strategy::Zero1: {
      splitBatch(request.axis);
      SmallVector<int64_t> parameters = findOptimizerState(sharding_);
      splitState(request.axis, [&](unsigned index) { return parameters[index] >= 0; });
      break;
    }
    case Strategy::Sequence:
      splitSequence(request.axis);
      break;
    case Strategy::Spatial:
      return splitHeight(request.axis);
    case Strategy::Tensor:
    case Strategy::Expert:
      break; // done before the others
    }
    return success();
  }

  /// Calls `visit` with each batch argument whose dimension 0 is the batch.
  void forEachBatch(llvm::function_ref<void(unsigned)> visit) {
    std::optional<int64_t> batch = sharding_.getBatchSize();
    for (unsigned index = 0; batch && index < sharding_.size(); ++index) {
      if (sharding_.isState(index) || !sharding_.isTensor(index))
        continue;
      RankedTensorType type = sharding_.getType(index);
      if (type.getRank() > 0 && type.getDimSize(0) == *batch)
        visit(index);
    }
  }

  void splitBatch(StringAttr axis) {
    forEachBatch([&](unsigned index) { sharding_.split(index, 0, axis); });
  }

  void splitSequence(StringAttr axis) {
    forEachBatch([&](unsigned index) {
      if (sharding_.getType(index).getRank() > 1)
        sharding_.split(index, 1, axis);
    });
  }

  LogicalResult splitHeight(StringAttr axis) {
    bool hasImages = false;
    forEachBatch([&](unsigned index) {
      std::optional<int64_t> height = findHeight(sharding_.getStep().getArgument(index));
      if (height)
        sharding_.split(index, *height, axis);
      hasImages |= height.has_value();
    });
    if (hasImages)
      return success();
    return error("spatial")
           << "finds no batch argument that a convolution or a pooling slides over; "
              "use data or sequence";
  }

  /// Splits the longest dimension that is whole and divides evenly; else the longest that is whole.
  void splitState(StringAttr axis, llvm::function_ref<bool(unsigned)> isWanted) {
    int64_t ranks = *sharding_.getMesh().getAxisSize(axis.getValue());
    for (unsigned index = 0; index < sharding_.size(); ++index) {
      if (!sharding_.isState(index) || !sharding_.isTensor(index) || !isWanted(index))
        continue;
      RankedTensorType type = sharding_.getType(index);
      if (type.getNumElements() < kMinElements)
        continue;
      int64_t best = -1;
      for (int64_t dim = 0; dim < type.getRank(); ++dim) {
        if (sharding_.isSplit(index, dim) || type.getDimSize(dim) < ranks)
          continue;
        auto rank = [&](int64_t d) {
          return std::pair(type.getDimSize(d) % ranks == 0, type.getDimSize(d));
        };
        if (best < 0 || rank(dim) > rank(best))
          best = dim;
      }
      if (best >= 0)
        sharding_.split(index, best, axis);
    }
  }

  StepSharding &sharding_;
  SmallVector<Request> requests_;
};

} // namespace

LogicalResult applyStrategies(StringRef text, StepSharding &sharding) {
  return Strategies(sharding).run(text);
}

} // namespace mlir::coll
