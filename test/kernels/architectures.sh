#!/usr/bin/env bash
# architectures.sh NVCC ARCH FOLDER: the kernels as code for another GPU than the build is for. FOLDER
# is for what comes out; skipped where NVCC is empty. Kernels that are many instances of the same
# code stop at PTX (they take an assembler minutes), and the root update is made for one optimizer.
set -euo pipefail
compiler=$1 arch=$2 out=$3
if [ -z "$compiler" ]; then
  echo "SKIPPED: code for $arch needs nvcc"
  exit 77
fi
cd "$(dirname "$0")/../.."
mkdir -p "$out"
nvcc() { "$compiler" -std=c++17 --expt-relaxed-constexpr -I. -arch="$arch" "$@"; }
compile() { nvcc "$1" -o "$out/$2.$arch" "runtime/kernels/$2.cu"; }
for kernel in launch moe moe_low_latency moe_relay pack peer_init peer_launch reshard_copy unpack; do
  compile -cubin $kernel
done
for kernel in channel channel_compress slices_packet slices_ring; do
  compile -ptx $kernel
done
nvcc -ptx -o "$out/root_update.$arch" -x cu - <<'CODE'
#include "runtime/kernels/root_update/launch.cuh"
namespace coll::kernels {
template rt::Status launchRootUpdateAs<Sgd>(const PeerGroup &, const RootUpdate &, const Sgd &, void *);
} // namespace coll::kernels
CODE
