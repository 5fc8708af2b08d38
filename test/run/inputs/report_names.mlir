// One rank's scalars under names that mean something to a browser.
func.func @step(%x: tensor<f32> {coll.name = "x</script><script>alert(1)</script>", coll.role = "batch"})
    -> (tensor<f32> {coll.name = "loss"},
        tensor<f32> {coll.name = "<img src=x onerror=alert(1)> & \22quoted\22 'a' {{x}} a_very_long_name_without_any_space_that_could_be_broken_a_very_long_name_without_any_space_that_could_be_broken"}) {
  %y = arith.addf %x, %x : tensor<f32>
  return %x, %y : tensor<f32>, tensor<f32>
}
