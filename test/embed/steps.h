/* steps.h - small steps for the tests of the C API. */

#ifndef COLL_TEST_EMBED_STEPS_H
#define COLL_TEST_EMBED_STEPS_H

/* w += sum of the batch's rows; returns the sum of x as "loss". */
static const char kStep[] =
    "func.func @step(%w: tensor<4xf32> {coll.role = \"state\", coll.name = \"w\"},\n"
    "                %x: tensor<8x4xf32> {coll.role = \"batch\", coll.name = \"x\"})\n"
    "    -> (tensor<4xf32>, tensor<f32> {coll.name = \"loss\"}) {\n"
    "  %zero = arith.constant 0.0 : f32\n"
    "  %rows = linalg.fill ins(%zero : f32) outs(%w : tensor<4xf32>) -> tensor<4xf32>\n"
    "  %sum = linalg.reduce {arith.addf} ins(%x : tensor<8x4xf32>)\n"
    "      outs(%rows : tensor<4xf32>) dimensions = [0]\n"
    "  %new = arith.addf %w, %sum : tensor<4xf32>\n"
    "  %empty = tensor.empty() : tensor<f32>\n"
    "  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>\n"
    "  %loss = linalg.reduce {arith.addf} ins(%sum : tensor<4xf32>)\n"
    "      outs(%none : tensor<f32>) dimensions = [0]\n"
    "  return %new, %loss : tensor<4xf32>, tensor<f32>\n"
    "}\n";

/* Does nothing: what a call costs beside the step. */
static const char kEmptyStep[] =
    "func.func @step(%w: tensor<4xf32> {coll.role = \"state\"}) -> tensor<4xf32> {\n"
    "  return %w : tensor<4xf32>\n"
    "}\n";

#endif /* COLL_TEST_EMBED_STEPS_H */
