// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

// CHECK-LABEL: @window
// CHECK: %{{.*}} = coll.window %{{.*}}, %{{.*}} {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<8xf32>, %[[INIT:.*]]: tensor<8xf32>):
// CHECK: tensor.pad %{{.*}} low[1] high[1]
// CHECK: %[[R:.*]] = linalg.generic
// CHECK: coll.yield %[[R]] : tensor<8xf32>
// CHECK-NEXT: } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
func.func @window(%x: tensor<8xf32>, %zero: tensor<8xf32>) -> tensor<8xf32> {
  %r = coll.window %x, %zero {
  ^bb0(%input: tensor<8xf32>, %init: tensor<8xf32>):
    %c = arith.constant 0.0 : f32
    %p = tensor.pad %input low[1] high[1] {
    ^bb1(%i: index):
      tensor.yield %c : f32
    } : tensor<8xf32> to tensor<10xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(o) -> (o + 1)>, affine_map<(o) -> (o)>],
                         iterator_types = ["parallel"]}
         ins(%p : tensor<10xf32>) outs(%init : tensor<8xf32>) {
    ^bb1(%in: f32, %out: f32):
      %sum = arith.addf %in, %out : f32
      linalg.yield %sum : f32
    } -> tensor<8xf32>
    coll.yield %s : tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
