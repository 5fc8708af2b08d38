#!/usr/bin/env bash
# run.sh BIN REPORT: the ctest case `vm`. Runs suite.sh in the virtual machine and joins
# what its programs report into REPORT, so that their cases can be counted.
set -uo pipefail
bin=$1 report=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
rm -f "$report"
"$here/rdma_vm.sh" --share="$out" --limit=300 "$here/suite.sh" "$bin" "$out"
status=$?
[ $status -eq 77 ] && exit 77
mkdir -p "$(dirname "$report")"
python3 - "$report" "$out"/*.xml <<'PYTHON'
import sys, xml.etree.ElementTree as ElementTree
root = ElementTree.Element("testsuites")
for file in sys.argv[2:]:
    root.extend(ElementTree.parse(file).getroot())
ElementTree.ElementTree(root).write(sys.argv[1])
PYTHON
exit $status
