//===- form.cc - which convolution a sum of products is ----------------------------===//

#include "passes/export/convolutions/form.h"

#include "dialect/convolution.h"

namespace mlir::coll {
namespace {

using Spatial = ConvolutionLoops::Spatial;

/// One spatial dimension of a sum, with the extents of its loops.
struct Window {
  int64_t outputs, places, outputFactor, placeFactor;
  int64_t input, offset, spread; // of the base
};

/// Whether windows of `places` with this step fit `outputs` times, with the same padding on both
/// sides.
bool isSymmetric(int64_t input, int64_t pad, int64_t places, int64_t dilation, int64_t stride,
                 int64_t outputs) {
  int64_t slack = input + 2 * pad - (places - 1) * dilation - 1;
  return pad >= 0 && slack >= 0 && slack / stride + 1 == outputs;
}

class FormFinder {
public:
  FormFinder(linalg::GenericOp op, const ConvolutionLoops &loops) : op(op), loops(loops) {
    for (auto [dim, loop] : llvm::enumerate(loops.windowedDims))
      for (const Spatial &spatial : loops.spatial)
        if (spatial.output == loop)
          spatialDims.push_back(dim);
  }

  std::optional<ConvolutionForm> find() {
    SmallVector<SpreadTensor> tensors =
        findSpreadTensors(op.getDpsInputs()[loops.windowed], spatialDims);
    for (const SpreadTensor &tensor : llvm::reverse(tensors)) {
      SmallVector<Window> windows = windowsOf(tensor);
      if (isProduct(windows))
        return std::nullopt;
      bool isSpread = llvm::any_of(windows, [](const Window &w) { return w.spread > 1; });
      if (isSpread && isFilter(windows))
        continue; // a window as large as a gradient: better a filter's gradient of the spread
                  // tensor
      std::optional<ConvolutionForm> form = isSpread            ? formOfData(windows)
                                            : isFilter(windows) ? formOfFilter(windows)
                                                                : formOfForward(windows);
      if (!form)
        continue;
      form->base = tensor.base;
      return form;
    }
    return std::nullopt;
  }

private:
  SmallVector<Window> windowsOf(const SpreadTensor &tensor) const {
    SmallVector<Window> windows;
    auto type = cast<RankedTensorType>(tensor.base.getType());
    for (auto [spatial, dim] : llvm::zip_equal(loops.spatial, spatialDims))
      windows.push_back({loops.extents[spatial.output], loops.extents[spatial.window],
                         spatial.outputFactor, spatial.windowFactor, type.getDimSize(dim),
                         tensor.offsets[dim], tensor.spreads[dim]});
    return windows;
  }

  /// Windows of one place, or one position of the result, without steps.
  static bool isProduct(ArrayRef<Window> windows) {
    auto isPlain = [](const Window &w, int64_t moving, int64_t factor) {
      return w.spread == 1 && w.offset == 0 && w.input == moving && (factor == 1 || moving == 1);
    };
    return llvm::all_of(windows, [&](const Window &w) {
      return (w.places == 1 && isPlain(w, w.outputs, w.outputFactor)) ||
             (w.outputs == 1 && isPlain(w, w.places, w.placeFactor));
    });
  }

  /// A filter is smaller than the tensor that it slides over.
  static bool isFilter(ArrayRef<Window> windows) {
    int64_t outputs = 1, places = 1;
    for (const Window &w : windows)
      outputs *= w.outputs, places *= w.places;
    return outputs < places;
  }

  int64_t extent(int64_t loop) const { return loop < 0 ? 1 : loops.extents[loop]; }

  /// `first`, the output or window loops, the group where there is one, `last`.
  SmallVector<int64_t> order(int64_t first, bool ofWindow, int64_t last) const {
    SmallVector<int64_t> list{first};
    for (const Spatial &spatial : loops.spatial)
      list.push_back(ofWindow ? spatial.window : spatial.output);
    if (loops.group >= 0)
      list.push_back(loops.group);
    list.push_back(last);
    return list;
  }
  SmallVector<int64_t> filterOrder(int64_t features, bool ofWindow, int64_t channels) const {
    SmallVector<int64_t> list;
    if (loops.group >= 0)
      list.push_back(loops.group);
    list.push_back(features);
    for (const Spatial &spatial : loops.spatial)
      list.push_back(ofWindow ? spatial.window : spatial.output);
    list.push_back(channels);
    return list;
  }

  ConvolutionForm start(StringRef kind, int64_t batch, int64_t channels, int64_t features) const {
    ConvolutionForm form;
    form.kind = kind;
    form.batch = extent(batch), form.groups = extent(loops.group);
    form.channels = extent(channels), form.features = extent(features);
    return form;
  }
  static bool add(ConvolutionForm &form, int64_t input, int64_t window, int64_t output,
                  int64_t stride, int64_t dilation, int64_t pad) {
    form.input.push_back(input), form.window.push_back(window), form.output.push_back(output);
    form.strides.push_back(stride), form.dilations.push_back(dilation), form.pads.push_back(pad);
    return isSymmetric(input, pad, window, dilation, stride, output);
  }

  std::optional<ConvolutionForm> formOfForward(ArrayRef<Window> windows) const {
    ConvolutionForm form = start(kConvolutionForward, loops.outer, loops.inner, loops.right);
    for (const Window &w : windows)
      if (!add(form, w.input, w.places, w.outputs, w.outputFactor, w.placeFactor, w.offset))
        return std::nullopt;
    form.windowedOrder = order(loops.outer, /*ofWindow=*/false, loops.inner);
    form.plainOrder = filterOrder(loops.right, /*ofWindow=*/true, loops.inner);
    form.resultOrder = order(loops.outer, /*ofWindow=*/false, loops.right);
    return form;
  }

  /// Batch and channels have changed places, and so have the positions of y and the filter's
  /// places.
  std::optional<ConvolutionForm> formOfFilter(ArrayRef<Window> windows) const {
    ConvolutionForm form = start(kConvolutionFilter, loops.inner, loops.outer, loops.right);
    for (const Window &w : windows)
      if (!add(form, w.input, w.outputs, w.places, w.placeFactor, w.outputFactor, w.offset))
        return std::nullopt;
    form.windowedOrder = order(loops.inner, /*ofWindow=*/false, loops.outer);
    form.plainOrder = order(loops.inner, /*ofWindow=*/true, loops.right);
    form.resultOrder = filterOrder(loops.right, /*ofWindow=*/false, loops.outer);
    return form;
  }

  /// y was spread by the strides, and the filter was reversed:
  /// position i of x takes y[o] * w[p] where offset + spread * o = i + (places - 1 - p) * factor.
  std::optional<ConvolutionForm> formOfData(ArrayRef<Window> windows) const {
    ConvolutionForm form = start(kConvolutionData, loops.outer, loops.right, loops.inner);
    form.isReversed = true;
    form.windowedOrder = order(loops.outer, /*ofWindow=*/false, loops.inner);
    form.plainOrder = filterOrder(loops.inner, /*ofWindow=*/true, loops.right);
    form.resultOrder = order(loops.outer, /*ofWindow=*/false, loops.right);
    bool isWhole = true;
    for (const Window &w : windows) {
      if (w.outputFactor != 1 || (w.places - 1) * w.placeFactor < w.offset)
        return std::nullopt;
      isWhole &= add(form, w.outputs, w.places, w.input, w.spread, w.placeFactor,
                     (w.places - 1) * w.placeFactor - w.offset);
    }
    return isWhole || widen(form) ? std::optional(form) : std::nullopt;
  }

  /// The convolution computes x with its padding; the x of the sum is a part of that.
  bool widen(ConvolutionForm &form) const {
    form.cut.push_back(0);
    form.cutShape.push_back(form.batch);
    for (auto [d, pad] : llvm::enumerate(form.pads)) {
      int64_t needed =
          (form.output[d] - 1) * form.strides[d] + (form.window[d] - 1) * form.dilations[d] + 1;
      int64_t whole = std::max(needed, form.input[d] + pad);
      if (!isSymmetric(whole, 0, form.window[d], form.dilations[d], form.strides[d],
                       form.output[d]))
        return false;
      form.cut.push_back(pad);
      form.cutShape.push_back(whole);
      form.input[d] = whole;
      pad = 0;
    }
    if (loops.group >= 0) {
      form.cut.push_back(0);
      form.cutShape.push_back(form.groups);
    }
    form.cut.push_back(0);
    form.cutShape.push_back(form.channels);
    return true;
  }

  linalg::GenericOp op;
  const ConvolutionLoops &loops;
  SmallVector<int64_t> spatialDims; // of the windowed operand
};

} // namespace

std::optional<ConvolutionForm> findConvolutionForm(linalg::GenericOp op,
                                                   const ConvolutionLoops &loops) {
  return FormFinder(op, loops).find();
}

} // namespace mlir::coll
