#!/usr/bin/env bash
# The kernels on a GPU: their tests, then a part of them under compute-sanitizer.
source "$(dirname "$0")/section.sh"

tests=$COLL_BUILD/bin/kernel-tests
run_gtest kernel_tests 120 "$tests"

sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if [ -x "$sanitizer" ]; then
  export COLL_TEST_SLOW=1
  check memcheck 120 "$sanitizer" --tool memcheck --error-exitcode 9 "$tests" \
    --gtest_brief=1 --gtest_filter='cuda/*'
  check racecheck 120 "$sanitizer" --tool racecheck --racecheck-report all --error-exitcode 9 \
    "$tests" --gtest_brief=1 --gtest_filter='cuda/*Random*:cuda/*Messages*:cuda/*OneLarge*'
else
  result memcheck skipped "compute-sanitizer is not installed"
fi
exit 0
