# What the sections of ./dev gpu-test share; a section sources it first.
#
# Each section is a script test/gpu/NAME.sh, run from the root of the tree with
#   COLL_BUILD   the build folder: programs are in $COLL_BUILD/bin
#   COLL_ROWS    the folder where measurements append their rows (*.jsonl)
#   COLL_REPORT  the folder where results go, as JUnit XML; the functions below write it
#   COLL_GPUS    how many GPUs there are
# A section runs all it has, whatever fails, and ends with exit code 0: what counts is the
# report.

set -uo pipefail
section=$(basename "$0" .sh)
mkdir -p "$COLL_REPORT"

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
  printf -- '-- %s: %s %s\n' "$outcome" "$name" "$reason"
}

# check NAME SECONDS command…: passes with exit code 0, is skipped with 77.
check() {
  local name=$1 seconds=$2 code=0 begin=$SECONDS
  shift 2
  printf -- '-- %s: %s\n' "$name" "$*"
  timeout --kill-after=5 "$seconds" "$@" </dev/null || code=$?
  case $code in
    0) result "$name" passed "$((SECONDS - begin)) s" ;;
    77) result "$name" skipped "says the program" ;;
    124 | 137) result "$name" failed "no end after $seconds s" ;;
    *) result "$name" failed "exit code $code" ;;
  esac
}

# run_gtest NAME SECONDS program…: every case of the program counts.
run_gtest() {
  local name=$1 seconds=$2 code=0 begin=$SECONDS file=$COLL_REPORT/$section.$1.xml
  shift 2
  printf -- '-- %s: %s\n' "$name" "$*"
  rm -f "$file"
  GTEST_BRIEF=1 GTEST_OUTPUT=xml:$file timeout --kill-after=5 "$seconds" "$@" </dev/null || code=$?
  printf -- '-- ended: %s after %s s\n' "$name" "$((SECONDS - begin))"
  # A crash writes no report.
  [ -e "$file" ] || result "$name" failed "exit code $code without a report"
}

# killed NAME SECONDS command…: a rank is killed once the program has printed its heading (three
# lines) and runs. The others have to end in an error by themselves, within SECONDS.
killed() {
  local name=$1 seconds=$2 log=$COLL_REPORT/$section.$1.log running begin ms code=0
  shift 2
  if [ "$COLL_GPUS" -lt 2 ]; then
    result "$name" skipped "needs 2 GPUs, $COLL_GPUS here"
    return
  fi
  printf -- '-- %s: %s\n' "$name" "$*"
  timeout --kill-after=5 $((seconds + 60)) "$@" </dev/null >"$log" 2>&1 &
  running=$!
  for _ in $(seq 300); do
    [ "$(wc -l <"$log")" -lt 3 ] && kill -0 $running 2>/dev/null || break
    sleep 0.1
  done
  sleep 2
  begin=$(date +%s%N)
  pkill -KILL --newest -P "$(pgrep -P $running | head -1)" 2>/dev/null # where it still runs
  wait $running || code=$?
  ms=$((($(date +%s%N) - begin) / 1000000))
  tail -1 "$log"
  if [ $code -eq 77 ]; then
    result "$name" skipped "$(tail -1 "$log")"
  elif [ $code -eq 1 ] && [ $ms -lt $((seconds * 1000)) ]; then
    result "$name" passed "the others ended after $ms ms"
  else
    result "$name" failed "exit code $code after $ms ms"
  fi
}
