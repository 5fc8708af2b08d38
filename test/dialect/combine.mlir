// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

// The rows need not be as wide as those of the dispatch, nor of their type.
// CHECK-LABEL: func.func @other_rows
// CHECK-SAME: (%[[ROWS:.+]]: tensor<8x6xbf16>, %[[ROUTE:.+]]: !coll.route<4 topk 2 to 8 over {{\[\[}}0, 1], [2, 3]]>)
func.func @other_rows(%rows: tensor<8x6xbf16>, %route: !coll.route<4 topk 2 to 8 over [[0, 1], [2, 3]]>)
    -> tensor<4x6xbf16> {
  // CHECK: %[[Y:.+]] = coll.combine %[[ROWS]] along %[[ROUTE]] : tensor<8x6xbf16>, !coll.route<4 topk 2 to 8 over {{\[\[}}0, 1], [2, 3]]>
  %y = coll.combine %rows along %route : tensor<8x6xbf16>, !coll.route<4 topk 2 to 8 over [[0, 1], [2, 3]]>
  // CHECK: return %[[Y]] : tensor<4x6xbf16>
  return %y : tensor<4x6xbf16>
}

// RUN: coll-opt %s --canonicalize --cse | FileCheck %s --check-prefix=KEPT
// KEPT-LABEL: func.func @unused
// KEPT-COUNT-2: coll.combine

// CHECK-LABEL: func.func @unused
func.func @unused(%rows: tensor<8x6xf32>, %route: !coll.route<4 topk 2 to 8 over [[0]]>) {
  // CHECK-COUNT-2: coll.combine
  %a = coll.combine %rows along %route : tensor<8x6xf32>, !coll.route<4 topk 2 to 8 over [[0]]>
  %b = coll.combine %rows along %route : tensor<8x6xf32>, !coll.route<4 topk 2 to 8 over [[0]]>
  return
}
