#!/usr/bin/env bash
# architectures.sh NVCC ARCH FOLDER: the kernels as code for another GPU than the build is for. FOLDER
# is for what comes out. Kernels that are many instances of the same code stop at PTX (they take an
# assembler minutes) or are left out; what differs between GPUs is in simt_*.cuh, which all have.
set -euo pipefail
nvcc=$1 arch=$2 out=$3
cd "$(dirname "$0")/../.."
mkdir -p "$out"
compile() { "$nvcc" -std=c++17 --expt-relaxed-constexpr -I. -arch="$arch" "$1" -o "$out/$2.$arch" "runtime/kernels/$2.cu"; }
for kernel in launch moe moe_low_latency moe_relay pack peer_init peer_launch reshard_copy unpack; do
  compile -cubin $kernel
done
compile -ptx channel
