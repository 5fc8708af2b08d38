  coll.mesh @m ["dp" = 11]
  func.func @step(%x: tensor<8x32xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> tensor<256xf32> {
    %r = tensor.collapse_shape %x [[4294967296, 1]] : tensor<8x32xf32> into tensor<256xf32>
    return %r : tensor<256xf32>
  }
