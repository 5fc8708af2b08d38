#!/usr/bin/env bash
# Compiled steps on one GPU: kernels, products, memory, graphs and faults, by hand-written programs.
source "$(dirname "$0")/section.sh"

tests() {
  on 1 run_gtest steps 120 "$COLL_BUILD/bin/gpu-steps-tests"
}

section "$@"
