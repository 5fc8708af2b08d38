// Every exported training step imports, and nothing but a step is left.
// RUN: coll-opt %data/jax/mlp_digits_momentum/step.mlir --allow-unregistered-dialect --coll-import-stablehlo | FileCheck %s
// RUN: coll-opt %data/jax/cnn_digits_adam/step.mlir --allow-unregistered-dialect --coll-import-stablehlo | FileCheck %s
// RUN: coll-opt %data/jax/rnn_scan_nesterov/step.mlir --allow-unregistered-dialect --coll-import-stablehlo | FileCheck %s
// RUN: coll-opt %data/jax/gpt_tiny_adamw/step.mlir --allow-unregistered-dialect --coll-import-stablehlo | FileCheck %s
// RUN: coll-opt %data/jax/gpt_tiny_bf16_adam/step.mlir --allow-unregistered-dialect --coll-import-stablehlo | FileCheck %s
// RUN: coll-opt %data/jax/gpt_12layer_adamw/step.mlir --allow-unregistered-dialect --coll-import-stablehlo | FileCheck %s
// RUN: coll-opt %data/jax/mlp_dropout_adamw/step.mlir --allow-unregistered-dialect --coll-import-stablehlo | FileCheck %s
// RUN: coll-opt %data/jax/cnn_batchnorm_rmsprop/step.mlir --allow-unregistered-dialect --coll-import-stablehlo | FileCheck %s
// RUN: coll-opt %data/jax/attention_lion/step.mlir --allow-unregistered-dialect --coll-import-stablehlo | FileCheck %s
// RUN: coll-opt %data/jax/lstm_adafactor/step.mlir --allow-unregistered-dialect --coll-import-stablehlo | FileCheck %s
// RUN: coll-opt %data/jax/gru_cond_sgd/step.mlir --allow-unregistered-dialect --coll-import-stablehlo | FileCheck %s
// RUN: coll-opt %data/jax/accumulate_scan/step.mlir --allow-unregistered-dialect --coll-import-stablehlo | FileCheck %s
// RUN: coll-opt %data/jax/vae_normal_adamax/step.mlir --allow-unregistered-dialect --coll-import-stablehlo | FileCheck %s
// RUN: coll-opt %data/jax/conv_transpose_adagrad/step.mlir --allow-unregistered-dialect --coll-import-stablehlo | FileCheck %s
// RUN: coll-opt %data/jax/bag_of_words_momentum/step.mlir --allow-unregistered-dialect --coll-import-stablehlo | FileCheck %s

// CHECK: func.func @step(%arg0: {{.*}} {coll.name = "s[0]{{.*}}", coll.role = "state"}
// CHECK-SAME: coll.role = "batch"}) -> ({{.*}}, tensor<f32> {coll.name = "loss"})
// CHECK-NOT: stablehlo
// CHECK-NOT: func.func
