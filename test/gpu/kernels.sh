#!/usr/bin/env bash
# The kernels on a GPU: their tests, and a part of them under compute-sanitizer; then times.
source "$(dirname "$0")/section.sh"

bin=$COLL_BUILD/bin

sanitized() {
  local sanitizer tool
  sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
  if [ ! -x "$sanitizer" ]; then
    result memcheck skipped "compute-sanitizer is not installed"
    return
  fi
  sanitizer="env COLL_TEST_SLOW=1 $sanitizer"
  on 1 check memcheck 150 $sanitizer --tool memcheck --error-exitcode 9 "$bin/kernel-tests" \
    --gtest_brief=1 --gtest_filter='cuda/*' &
  on 1 check racecheck 150 $sanitizer --tool racecheck --racecheck-report all --error-exitcode 9 \
    "$bin/kernel-tests" --gtest_brief=1 --gtest_filter='cuda/*Random*:cuda/*Messages*:cuda/*OneLarge*' &
  for tool in memcheck racecheck initcheck; do
    on 1 check attention_$tool 100 $sanitizer --tool $tool --error-exitcode 9 \
      "$bin/attention-tests" --gtest_brief=1 --gtest_filter='cuda/*' &
  done
  # The tool runs kernels one by one, so members that wait for each other would never end.
  for tool in memcheck racecheck; do
    on 1 check root_update_$tool 60 $sanitizer --tool $tool --error-exitcode 9 \
      "$bin/root-update-tests" --gtest_brief=1 --gtest_filter='cuda/*OfOneMember*' &
    on 1 check moe_$tool 60 $sanitizer --tool $tool --error-exitcode 9 \
      "$bin/moe-tests" --gtest_brief=1 --gtest_filter='cuda/*' &
  done
}

tests() {
  sanitized
  on 1 run_gtest kernel_tests 120 "$bin/kernel-tests" &
  on 1 run_gtest attention_tests 120 "$bin/attention-tests" --gtest_filter='cuda/*' &
  on all run_gtest peer_tests 240 "$bin/peer-tests" --gtest_filter='cuda/*' &
  on all run_gtest root_update_tests 120 "$bin/root-update-tests" --gtest_filter='cuda/*' &
  on all run_gtest moe_tests 120 "$bin/moe-tests" --gtest_filter='cuda/*' &
}

measurements() {
  check bench-unpack 120 "$bin/bench-unpack" --out="$COLL_ROWS/unpack.jsonl"
  if python3 -c 'import torch' 2>/dev/null; then
    check bench-attention 120 python3 test/perf/bench_attention.py \
      --library="$COLL_BUILD/lib/libcoll-bench-attention.so" --out="$COLL_ROWS/attention.jsonl"
  else
    result bench-attention skipped "needs PyTorch"
  fi
  check bench-root-update 120 "$bin/bench-root-update" --out="$COLL_ROWS/root_update.jsonl"
}

section "$@"
