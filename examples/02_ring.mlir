// Point to point. Every rank passes a value to the next one round a ring, twice: once with
// coll.permute, in which all ranks take part at once, and once with send and recv.
//
//   coll-run examples/02_ring.mlir --print
//
// A send completes when the peer has received, so if every rank began by sending, all would
// wait for ever. Rank 0 therefore receives last. coll-verify-ranks proves, before anything runs,
// that this program cannot deadlock; swap the two lines of the first branch and it
// prints which ranks wait for each other. --no-verify runs the mistake until --timeout ends it.

coll.mesh @m ["x" = 3]

#rows = #coll.sharding<@m, [["x"]]>

func.func @step() -> (tensor<1xi32> {coll.name = "permuted", coll.sharding = #rows,
                                     coll.global_type = tensor<3xi32>},
                      tensor<1xi32> {coll.name = "received", coll.sharding = #rows,
                                     coll.global_type = tensor<3xi32>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %rank = coll.rank
  %int = arith.index_cast %rank : index to i32
  %empty = tensor.empty() : tensor<1xi32>
  %mine = linalg.fill ins(%int : i32) outs(%empty : tensor<1xi32>) -> tensor<1xi32>
  %permuted = coll.permute %mine pairs [[0, 1], [1, 2], [2, 0]] over @m["x"] : tensor<1xi32>

  %after = arith.addi %rank, %c1 : index
  %next = arith.remui %after, %c3 : index
  %before = arith.addi %rank, %c2 : index
  %previous = arith.remui %before, %c3 : index
  %is_first = arith.cmpi eq, %rank, %c0 : index
  %received = scf.if %is_first -> tensor<1xi32> {
    coll.send %mine to %next over @m["x"] : tensor<1xi32>
    %r = coll.recv from %previous over @m["x"] : tensor<1xi32>
    scf.yield %r : tensor<1xi32>
  } else {
    %r = coll.recv from %previous over @m["x"] : tensor<1xi32>
    coll.send %mine to %next over @m["x"] : tensor<1xi32>
    scf.yield %r : tensor<1xi32>
  }
  return %permuted, %received : tensor<1xi32>, tensor<1xi32>
}

// CHECK: permuted: i32[3] = [2, 0, 1]
// CHECK: received: i32[3] = [2, 0, 1]
