//===- passes.td - the pass of this folder ----------------------*- tablegen -*-===//
//
// Part of passes/passes.td; in a file of its own because nothing but the pipelines sees it.
//
//===--------------------------------------------------------------------------===//

#ifndef COLL_PASSES_EXPORT_CONVOLUTIONS_PASSES_TD
#define COLL_PASSES_EXPORT_CONVOLUTIONS_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerConvolutionsPass : Pass<"coll-lower-convolutions", "::mlir::ModuleOp"> {
  let summary = "convolutions and their gradients to coll.convolution";
  let description = [{
    Finds the products that are summed over windows of one operand, and reads from their index maps
    which dimensions are batch, groups, channels, features and places: a gradient with respect to
    the filter is a convolution with batch and channels exchanged, and a gradient with respect to
    the data is a convolution of a tensor that was spread. Padding and spreading with zeros become
    attributes. Operands whose layout is not the one that coll.convolution needs are copied. A
    window of one place that does not move in steps stays a matrix product.
  }];
}

#endif // COLL_PASSES_EXPORT_CONVOLUTIONS_PASSES_TD
