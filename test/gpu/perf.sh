#!/usr/bin/env bash
# Measurements on a GPU; each appends its rows to a file of $COLL_ROWS.
source "$(dirname "$0")/section.sh"

check bench-unpack 120 "$COLL_BUILD/bin/bench-unpack" --out="$COLL_ROWS/unpack.jsonl"
check bench-root-update 120 "$COLL_BUILD/bin/bench-root-update" --out="$COLL_ROWS/root_update.jsonl"
exit 0
