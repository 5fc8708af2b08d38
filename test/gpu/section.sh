# What the sections of ./dev gpu-test share; a section sources it first, defines `tests` and
# `measurements` (either may be missing), and ends with `section "$@"`.
#
# Each section is a script test/gpu/NAME.sh, run from the root of the tree with
#   COLL_BUILD   the build folder: programs are in $COLL_BUILD/bin
#   COLL_ROWS    the folder where measurements append their rows (*.jsonl)
#   COLL_REPORT  the folder for results, as JUnit XML, and the cases' output (*.log)
#   COLL_GPUS    how many GPUs there are
#   COLL_BEGIN   when ./dev gpu-test began, in seconds of the epoch
# The tests of all sections run at the same time, then the measurements, one by one. A test names
# the number of GPUs that it needs: `on N command…` or `on all command…`. A section goes on after a
# failure and always ends with exit code 0: the report says what failed.

set -uo pipefail
section=$(basename "$0" .sh)
mkdir -p "$COLL_REPORT/gpus"
# Modules are loaded at the start: loading one later waits for running kernels, which may wait for
# it. NVLink multicast is off: it is not needed, and not every machine has it set up.
export CUDA_MODULE_LOADING=EAGER NCCL_NVLS_ENABLE=0 COLL_LOG=${COLL_LOG:-error}

since() { echo $(($(date +%s) - COLL_BEGIN)); }

xml_text() { sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/"/\&quot;/g' | tr -cd '\11\12\40-\176'; }

# result NAME passed|failed|skipped [reason]: one case of the report.
result() {
  local name=$1 outcome=$2 reason=${3:-} file
  file=$COLL_REPORT/$section.${name//[^A-Za-z0-9_]/_}.xml
  {
    printf '<testsuites><testsuite name="%s"><testcase name="%s" classname="%s">' \
      "$section" "$(xml_text <<<"$name" | tr -d '\n')" "$section"
    case $outcome in
      failed) printf '<failure message="%s"/>' "$(xml_text <<<"$reason" | tr '\n' ' ')" ;;
      skipped) printf '<skipped message="%s"/>' "$(xml_text <<<"$reason" | tr '\n' ' ')" ;;
    esac
    printf '</testcase></testsuite></testsuites>\n'
  } >"$file"
  printf -- '-- %4d s %s: %s %s: %s\n' "$(since)" "$outcome" "$section" "$name" "$reason"
}

# on N|all command…: with so many GPUs, or as many as there are; COLL_GPUS says how many. Cases of one
# GPU share it two by two, others have their GPUs to themselves. Cases get GPUs in the order in which
# they ask; those that need more than a half ask later, because the others wait meanwhile.
on() (
  wanted=$1 halves=('0 1')
  shift
  if [ "$wanted" = 1 ]; then
    halves=(0 1)
  else
    sleep 2
  fi
  [ "$wanted" != all ] && [ "$wanted" -lt "$COLL_GPUS" ] || wanted=$COLL_GPUS
  mine=() held=()
  trap 'rmdir ${held[@]+"${held[@]}"}' EXIT
  exec {turn}>"$COLL_REPORT/gpus/turn"
  flock $turn # so that no other case takes any
  while [ ${#mine[@]} -lt "$wanted" ]; do
    for half in "${halves[@]}"; do
      for gpu in $(seq -f "$COLL_REPORT/gpus/%g" 0 $((COLL_GPUS - 1))); do
        # shellcheck disable=SC2086 # one half, or both
        [ ${#mine[@]} -eq "$wanted" ] || ! free "$gpu" $half || take "$gpu" $half
      done
    done
    [ ${#mine[@]} -eq "$wanted" ] || sleep 0.05
  done
  exec {turn}>&-
  export COLL_GPUS=$wanted CUDA_VISIBLE_DEVICES
  CUDA_VISIBLE_DEVICES=$(IFS=,; echo "${mine[*]}")
  "$@"
)
free() { # GPU HALF…
  local half
  for half in "${@:2}"; do
    [ ! -e "$1.$half" ] || return 1
  done
}
take() {
  local half
  for half in "${@:2}"; do
    mkdir "$1.$half"
    held+=("$1.$half")
  done
  mine+=("${1##*/}")
}

# check NAME SECONDS command…: passes with exit code 0, is skipped with 77.
check() {
  local name=$1 seconds=$2 code=0 begin=$SECONDS log
  log=$COLL_REPORT/$section.${1//[^A-Za-z0-9_]/_}.log
  shift 2
  timeout --kill-after=5 "$seconds" "$@" </dev/null >"$log" 2>&1 || code=$?
  case $code in
    0) [ "$pass" = tests ] || cat "$log" ;; # figures
    77) ;;
    *) printf -- '-- %s\n%s\n' "$*" "$(tail -n 40 "$log")" ;;
  esac
  case $code in
    0) result "$name" passed "$((SECONDS - begin)) s" ;;
    77) result "$name" skipped "$(tail -n 1 "$log")" ;;
    124 | 137) result "$name" failed "no end after $seconds s" ;;
    *) result "$name" failed "exit code $code after $((SECONDS - begin)) s" ;;
  esac
}

# run_gtest NAME SECONDS program…: every case of the program counts.
run_gtest() {
  local name=$1 seconds=$2 code=0 begin=$SECONDS file=$COLL_REPORT/$section.$1.xml log=$COLL_REPORT/$section.$1.log
  shift 2
  rm -f "$file"
  GTEST_OUTPUT=xml:$file timeout --kill-after=5 "$seconds" "$@" </dev/null >"$log" 2>&1 || code=$?
  if [ -e "$file" ]; then
    grep -B 15 '^\[  FAILED  \]' "$log" | head -n 60
    printf -- '-- %4d s ended: %s %s: exit code %s after %s s, %s\n' "$(since)" "$section" "$name" \
      $code "$((SECONDS - begin))" "$(grep -c '^\[       OK \]' "$log") passed"
  else # a crash writes no report
    tail -n 20 "$log"
    result "$name" failed "exit code $code without a report after $((SECONDS - begin)) s"
  fi
}

# killed NAME SECONDS command…: a rank is killed once the program has printed its heading (three
# lines) and runs. The others have to end in an error by themselves, within SECONDS.
killed() {
  local name=$1 seconds=$2 log=$COLL_REPORT/$section.$1.log running begin ms code=0 early=
  shift 2
  : >"$log"
  timeout --kill-after=5 $((seconds + 60)) "$@" </dev/null >"$log" 2>&1 &
  running=$!
  for _ in $(seq 300); do
    [ "$(wc -l <"$log")" -lt 3 ] && kill -0 $running 2>/dev/null || break
    sleep 0.1
  done
  sleep 2
  kill -0 $running 2>/dev/null || early="before it was killed, "
  begin=$(date +%s%N)
  [ -n "$early" ] || pkill -KILL --newest -P "$(pgrep -P $running | head -1)"
  wait $running || code=$?
  ms=$((($(date +%s%N) - begin) / 1000000))
  tail -n 1 "$log"
  if [ $code -eq 77 ]; then
    result "$name" skipped "$(tail -n 1 "$log")"
  elif [ -z "$early" ] && [ $code -eq 1 ] && [ $ms -lt $((seconds * 1000)) ]; then
    result "$name" passed "the others ended after $ms ms"
  else
    result "$name" failed "${early}exit code $code after $ms ms"
  fi
}

# section tests|measurements: what the script defines of it.
section() {
  pass=$1
  ! declare -F "$pass" >/dev/null || "$pass"
  wait
}
