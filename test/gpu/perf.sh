#!/usr/bin/env bash
# Measurements on a GPU; each appends its rows to a file of $COLL_ROWS.
source "$(dirname "$0")/section.sh"

check bench-unpack 120 "$COLL_BUILD/bin/bench-unpack" --out="$COLL_ROWS/unpack.jsonl"
exit 0
