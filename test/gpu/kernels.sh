#!/usr/bin/env bash
# The kernels on a GPU: their tests, then a part of them under compute-sanitizer.
source "$(dirname "$0")/section.sh"

tests=$COLL_BUILD/bin/kernel-tests
run_gtest kernel_tests 120 "$tests"
# Members may share a GPU: a kernel that is loaded late waits for one that waits for it.
CUDA_MODULE_LOADING=EAGER run_gtest peer_tests 120 "$COLL_BUILD/bin/peer-tests" --gtest_filter='cuda/*'
run_gtest root_update_tests 120 "$COLL_BUILD/bin/root-update-tests"
CUDA_MODULE_LOADING=EAGER run_gtest moe_tests 120 "$COLL_BUILD/bin/moe-tests" --gtest_filter='cuda/*'

sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if [ -x "$sanitizer" ]; then
  export COLL_TEST_SLOW=1
  check memcheck 120 "$sanitizer" --tool memcheck --error-exitcode 9 "$tests" \
    --gtest_brief=1 --gtest_filter='cuda/*'
  check racecheck 120 "$sanitizer" --tool racecheck --racecheck-report all --error-exitcode 9 \
    "$tests" --gtest_brief=1 --gtest_filter='cuda/*Random*:cuda/*Messages*:cuda/*OneLarge*'
  # Members that wait for each other do not end where kernels run one by one.
  for tool in memcheck racecheck; do
    check root_update_$tool 60 "$sanitizer" --tool $tool --error-exitcode 9 \
      "$COLL_BUILD/bin/root-update-tests" --gtest_brief=1 --gtest_filter='cuda/*OfOneMember*'
    check moe_$tool 60 "$sanitizer" --tool $tool --error-exitcode 9 \
      "$COLL_BUILD/bin/moe-tests" --gtest_brief=1 --gtest_filter='cuda/*'
  done
else
  result memcheck skipped "compute-sanitizer is not installed"
fi
exit 0
