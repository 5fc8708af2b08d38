// RUN: not coll-opt %s --coll-propagate --coll-insert-reshards --coll-isolate-micro-batches --coll-partition --coll-loop-micro-batches 2>&1 | FileCheck %s

// A mean over all rows, taken from each row: the mean is known behind the last micro-batch.
coll.mesh @mesh ["mb" = 2]
func.func @step(%x: tensor<8xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [["mb"]]>}) -> tensor<8xf32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<8xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %out, %in : f32
    linalg.yield %sum : f32
  } -> tensor<f32>
  %mean = math.sqrt %0 : tensor<f32>
  // CHECK: invalid.mlir:[[@LINE+1]]:{{.*}}: error: needs, for each micro-batch, a sum over all of them; make the rows independent of one another, or run without micro-batches
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %mean : tensor<8xf32>, tensor<f32>) outs(%x : tensor<8xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %d = arith.subf %in, %m : f32
    linalg.yield %d : f32
  } -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
