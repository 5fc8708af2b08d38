// RUN: coll-opt %s --coll-fuse-root-updates -verify-diagnostics -o %t
// RUN: FileCheck %s < %t
// RUN: coll-opt %t --coll-to-exec=gpu=sm_90 --coll-verify-exec | FileCheck %s --check-prefix=EXEC

// A gradient is summed up, an optimizer with one moment updates this rank's part, and all get all parts.
// Where GPUs reach each other's memory that is one kernel between two barriers.

#id = affine_map<(i, j) -> (i, j)>

coll.mesh @m ["dp" = 2]

// CHECK-LABEL: func.func @step
// CHECK-SAME:    %[[M:.+]]: tensor<3x16xf32> {{.+}}, %[[G:.+]]: tensor<6x16xf32>
// CHECK:       %[[REACHED:.+]] = exec.reaches over @m["dp"]
// CHECK:       %[[ALL:.+]]:2 = scf.if %[[REACHED]]
// CHECK:         %[[PLACE:.+]], %{{.+}} = coll.group over @m["dp"]
// CHECK:         %[[FIRST:.+]] = arith.muli %[[PLACE]], %c3
// CHECK:         coll.barrier over @m["dp"] {coll.why = "the gradients of all members are complete"}
// CHECK:         %[[WHOLE:.+]] = tensor.empty() : tensor<6x16xf32>
// CHECK:         %[[R:.+]]:2 = func.call @root_update_0(%[[G]], %[[M]], %[[FIRST]], %[[WHOLE]], %{{.+}})
// CHECK:         coll.barrier over @m["dp"] {coll.why = "all members have the updated parameters"}
// CHECK:         scf.yield %[[R]]#0, %[[R]]#1
// CHECK:       } else {
// CHECK:         %[[S:.+]] = coll.reduce_scatter sum %[[G]] dim 0
// CHECK:         %[[P:.+]]:2 = func.call @kernel_0(%[[S]], %[[M]]
// CHECK:         %[[T:.+]] = coll.all_gather %[[P]]#0 dim 0
// CHECK:         scf.yield %[[T]], %[[P]]#1
// CHECK:       return %[[ALL]]#1, %[[ALL]]#0
// CHECK:       func.func private @root_update_0(%[[WG:.+]]: tensor<6x16xf32> {coll.access = "read", coll.may_alias = array<i64: 0>}, %{{.+}}: tensor<3x16xf32> {coll.access = "read", coll.may_alias = array<i64: 1>}, %[[AT:.+]]: index, %[[INTO:.+]]: tensor<6x16xf32> {coll.access = "write"}
// CHECK-SAME:    exec.members = {copies = 3 : i64, group = #coll.group<@m["dp"]>, size = 2 : i64, sums = 0 : i64}
// CHECK:         tensor.extract_slice %[[WG]][%[[AT]], 0] [3, 16] [1, 1]
// CHECK:         tensor.insert_slice %{{.+}} into %[[INTO]][%[[AT]], 0] [3, 16] [1, 1]

// The state is updated in its place in both forms, without a copy. The kernel adds up what the members have, and
// stores what it made to each of them.

// EXEC:       func.func private @root_update_0(%{{.+}}: memref<6x16xf32>, %{{.+}}: memref<3x16xf32>, %{{.+}}: index, %{{.+}}: memref<6x16xf32>, %{{.+}}: memref<3x16xf32>, %[[G0:.+]]: memref<6x16xf32>, %[[G1:.+]]: memref<6x16xf32>, %[[P0:.+]]: memref<6x16xf32>, %[[P1:.+]]: memref<6x16xf32>)
// EXEC:         gpu.launch_func @gpu_kernels::@[[LAUNCH:.+]] blocks {{.+}} %[[G0]] : memref<6x16xf32>, %[[G1]] : memref<6x16xf32>, %[[P0]] : memref<6x16xf32>, %[[P1]] : memref<6x16xf32>)
// EXEC:       gpu.func @[[LAUNCH]]({{.+}}, %[[A:[a-z0-9]+]]: memref<6x16xf32>, %[[B:[a-z0-9]+]]: memref<6x16xf32>, %[[C:[a-z0-9]+]]: memref<6x16xf32>, %[[D:[a-z0-9]+]]: memref<6x16xf32>) kernel
// EXEC-DAG:     %[[VA:.+]] = memref.subview %[[A]]
// EXEC-DAG:     %[[VB:.+]] = memref.subview %[[B]]
// EXEC-DAG:     %[[VC:.+]] = memref.subview %[[C]]
// EXEC-DAG:     %[[VD:.+]] = memref.subview %[[D]]
// EXEC:         %[[X:.+]] = memref.load %[[VA]]
// EXEC:         %[[Y:.+]] = memref.load %[[VB]]
// EXEC:         arith.addf %[[X]], %[[Y]]
// EXEC:         memref.store %[[NEW:.+]], %[[VC]]
// EXEC:         memref.store %[[NEW]], %[[VD]]
// EXEC:       exec.function @step
// EXEC:         %[[STATE:.+]] = exec.view %arg0
// EXEC-NOT:     exec.copy
// EXEC:         scf.if
// EXEC:           exec.communicate {
// EXEC:             coll.barrier
// EXEC:           exec.call @root_update_0(read %arg1, reuse %arg0
// EXEC:           exec.communicate {
// EXEC:             coll.barrier
// EXEC:         } else {
// EXEC:           coll.reduce_scatter
// EXEC:           exec.call @kernel_0
// EXEC:           coll.all_gather
// EXEC-NOT:     exec.copy
// EXEC:         exec.return
func.func @step(%m: tensor<3x16xf32> {coll.role = "state"}, %g: tensor<6x16xf32> {coll.role = "batch"}) -> (tensor<3x16xf32>, tensor<6x16xf32>) {
  %s = coll.reduce_scatter sum %g dim 0 over @m["dp"] : tensor<6x16xf32> -> tensor<3x16xf32>
  %e = tensor.empty() : tensor<3x16xf32>
  %f = tensor.empty() : tensor<3x16xf32>
  // expected-remark@+1 {{a root update of 2 members is one kernel where their GPUs reach each other's memory}}
  %u:2 = call @kernel_0(%s, %m, %e, %f) : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> (tensor<3x16xf32>, tensor<3x16xf32>)
  %all = coll.all_gather %u#0 dim 0 over @m["dp"] : tensor<3x16xf32> -> tensor<6x16xf32>
  return %u#1, %all : tensor<3x16xf32>, tensor<6x16xf32>
}

func.func private @kernel_0(%g: tensor<3x16xf32> {coll.access = "read", coll.may_alias = array<i64: 0, 1>},
                            %m: tensor<3x16xf32> {coll.access = "read", coll.may_alias = array<i64: 0, 1>},
                            %e: tensor<3x16xf32> {coll.access = "write"}, %f: tensor<3x16xf32> {coll.access = "write"})
    -> (tensor<3x16xf32>, tensor<3x16xf32>) {
  %decay = arith.constant 0.875 : f32
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g, %m : tensor<3x16xf32>, tensor<3x16xf32>) outs(%e, %f : tensor<3x16xf32>, tensor<3x16xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32, %q: f32):
    %a = arith.mulf %y, %decay : f32
    %b = arith.addf %a, %x : f32
    %c = arith.mulf %b, %b : f32
    linalg.yield %c, %b : f32, f32
  } -> (tensor<3x16xf32>, tensor<3x16xf32>)
  return %r#0, %r#1 : tensor<3x16xf32>, tensor<3x16xf32>
}
