//===- passes.td - the pass of this folder ----------------------*- tablegen -*-===//
//
// Part of passes/passes.td; in a file of its own because nothing but the pipelines sees it.
//
//===--------------------------------------------------------------------------===//

#ifndef COLL_PASSES_EXPORT_EPILOGUES_PASSES_TD
#define COLL_PASSES_EXPORT_EPILOGUES_PASSES_TD

include "mlir/Pass/PassBase.td"

def FuseEpiloguesPass : Pass<"coll-fuse-epilogues", "::mlir::ModuleOp"> {
  let summary = "bias, relu, gelu and its gradient to the products that they follow";
  let description = [{
    A product that nothing but the addition of a bias, relu or gelu reads computes them itself, if
    the result has to be in memory anyway: elementwise kernels that read it would have computed them
    for nothing. gelu and its gradient are recognised by what they compute, as polynomials of x and
    tanh, whatever their operations and their order. If the gradient or anything else reads the
    argument of gelu, the product stores it, too. The gradient of gelu becomes the epilogue of the
    product that it multiplies, together with the sum of its columns, the gradient of the bias.
    Results are rounded once, where a step may round them after each operation. A remark says how
    many products have an epilogue.
  }];
  let options = [
    Option<"gelu", "gelu", "bool", /*default=*/"true", "also gelu">,
    Option<"gradient", "gradient", "bool", /*default=*/"true", "with gelu, also its gradient">,
    Option<"library", "library", "bool", /*default=*/"false",
           "only what cuBLASLt computes: nothing of f64, and the argument of gelu only of 16 bits">,
  ];
}

#endif // COLL_PASSES_EXPORT_EPILOGUES_PASSES_TD
