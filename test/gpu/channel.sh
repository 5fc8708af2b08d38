#!/usr/bin/env bash
# The channel kernel on a GPU: its tests, then a part of them under compute-sanitizer.
source "$(dirname "$0")/section.sh"

tests=$COLL_BUILD/bin/channel-tests
run_gtest channel_tests 120 "$tests"

sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if [ -x "$sanitizer" ]; then
  check channel_memcheck 120 "$sanitizer" --tool memcheck --error-exitcode 9 "$tests" \
    --gtest_brief=1 --gtest_filter='cuda/*'
else
  result channel_memcheck skipped "compute-sanitizer is not installed"
fi
exit 0
