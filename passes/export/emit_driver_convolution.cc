// Driver functions: convolutions, which the runtime computes.

#include "passes/export/emit_driver.h"

using namespace mlir;
using namespace mlir::coll;

static CollConvolutionKind getKind(StringRef kind) {
  if (kind == kConvolutionForward)
    return kCollConvolutionForward;
  return kind == kConvolutionData ? kCollConvolutionData : kCollConvolutionFilter;
}

/// The runtime has three spatial dimensions; those that are missing come first.
static void fill(int64_t (&sizes)[3], ArrayRef<int64_t> list, int64_t missing) {
  std::fill(std::begin(sizes), std::end(sizes), missing);
  std::copy(list.begin(), list.end(), std::end(sizes) - list.size());
}

/// The shape of a convolution is a constant of the module, a CollConvolution.
void DriverEmitter::emitConvolution(exec::ConvolutionOp op) {
  CollConvolution call = {};
  call.dtype = *getDtype(op.getElement());
  call.compute =
      getCompute(op.getElement(), *exec::symbolizePrecision(op.getPrecision().value_or("highest")));
  call.kind = getKind(op.getKind());
  call.batch = op.getSizes()[0], call.groups = op.getSizes()[1];
  call.channels = op.getSizes()[2], call.features = op.getSizes()[3];
  fill(call.in, op.getInput(), 1);
  fill(call.window, op.getWindow(), 1);
  fill(call.out, op.getOutput(), 1);
  fill(call.stride, op.getStrides(), 1);
  fill(call.dilation, op.getDilations(), 1);
  fill(call.pad, op.getPads(), 0);
  callAbi(AbiFunction::convolve,
          {ctx_, i32(computation("convolution")), makeTable("convolution", call),
           address(op.getA()), address(op.getB()), address(op.getResult())});
}
