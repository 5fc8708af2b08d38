#!/usr/bin/env bash
# architectures.sh NVCC ARCH FOLDER: the kernels as code for another GPU than the build is for. FOLDER
# takes the output; skipped where NVCC is empty. Nothing runs this code, so it is compiled quickly.
set -euo pipefail
compiler=$1 arch=$2 out=$3
if [ -z "$compiler" ]; then
  echo "SKIPPED: code for $arch needs nvcc"
  exit 77
fi
cd "$(dirname "$0")/../.."
mkdir -p "$out"
for kernel in $(cd runtime/kernels && ls *.cu */*.cu | grep -v '^root_update/'); do
  "$compiler" -std=c++17 --expt-relaxed-constexpr -I. -arch="$arch" -Ofc=max -cubin \
    -o "$out/${kernel//\//_}.$arch" "runtime/kernels/$kernel"
done
# The root update is many instances of the same code, so one optimizer is compiled for all.
"$compiler" -std=c++17 --expt-relaxed-constexpr -I. -arch="$arch" -Ofc=max -ptx \
  -o "$out/root_update.$arch" -x cu - <<'CODE'
#include "runtime/kernels/root_update/launch.cuh"
namespace coll::kernels {
template rt::Status launchRootUpdateAs<Sgd>(const PeerGroup &, const RootUpdate &, const Sgd &, void *);
} // namespace coll::kernels
CODE
