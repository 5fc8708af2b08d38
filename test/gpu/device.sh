#!/usr/bin/env bash
# GPU memory in messages, with the real driver and the real kernels.
source "$(dirname "$0")/section.sh"

tests() {
  on 1 run_gtest device_tests 120 "$COLL_BUILD/bin/device-tests" --gtest_filter='*Gpu*'
}

section "$@"
