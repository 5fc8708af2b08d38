  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<8xindex> {coll.sharding = #coll.sharding<@m, [["dp"]]>},
                  %y: tensor<8xindex>, %p: i1) -> tensor<8xindex> {
    %r = scf.if %p -> tensor<8xindex> {
      scf.yield %x : tensor<8xindex>
    } else {
      scf.yield %y : tensor<8xindex>
    }
    return %r : tensor<8xindex>
  }
