coll.mesh @m ["dp" = 2, "tp" = 2]
coll.program @class0 ranks [0 to 3] {
  func.func @init(%x: tensor<4xf32>) -> tensor<4xf32> {
    %r = coll.broadcast %x from 1 over @m["dp"] : tensor<4xf32>
    return %r : tensor<4xf32>
  }
  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
    %1 = coll.reduce max %0 to 1 over @m["tp"] order rank : tensor<4xf32>
    %2 = coll.all_gather %1 dim 0 over @m["dp", "tp"] : tensor<4xf32> -> tensor<16xf32>
    %3 = coll.reduce_scatter sum %2 dim 0 over @m["tp", "dp"] : tensor<16xf32> -> tensor<4xf32>
    %4 = coll.gather %3 dim 0 to 0 over @m["tp"] : tensor<4xf32> -> tensor<8xf32>
    %5 = coll.scatter %4 dim 0 from 0 over @m["tp"] : tensor<8xf32> -> tensor<4xf32>
    %6 = coll.all_to_all %5 split 0 concat 0 over @m["dp"] : tensor<4xf32> -> tensor<4xf32>
    %7 = coll.permute %6 pairs [[0, 1], [1, 0]] over [[0, 3], [1, 2]] : tensor<4xf32>
    return %7 : tensor<4xf32>
  }
}
