// copy.h - copies strided boxes between the buffers of GPUs that access each other's memory.
//
// compileReshard() converts boxes into a table, which the caller keeps in GPU memory; a launch
// copies everything in the table. The kernel neither waits nor signals: the caller ensures that the
// sources are ready and the destinations free, and notifies the peers when it has ended. Work that
// is ordered after a launch's end on the stream sees the data that it has written.
//
// Accesses have 16 bytes if both addresses, the row and all strides are multiples of 16; else of
// the largest power of two that divides them. Neighbouring threads have neighbouring addresses.

#ifndef COLL_RUNTIME_KERNELS_RESHARD_COPY_H
#define COLL_RUNTIME_KERNELS_RESHARD_COPY_H

#include "runtime/base/status.h"
#include "runtime/base/strided_box.h"

#include <cstdint>
#include <vector>

namespace coll::kernels {

// A box with its buffers, at the addresses of the GPU that copies.
struct ReshardPiece {
  const void *src = nullptr;
  void *dst = nullptr;
  rt::StridedBox box;
  bool isLocal = false; // without a link in between: such pieces are spread evenly among the others
};

// A box in the kernel's form: `rows` rows of `perRow` words of `width` bytes.
struct ReshardEntry {
  const char *src = nullptr;
  char *dst = nullptr;
  uint64_t firstUnit = 0; // among the entries of its kind (remote, local)
  uint64_t items = 0;     // rows * perRow
  uint32_t perRow = 0;
  uint32_t width = 0; // 1, 2, 4, 8 or 16
  uint32_t numLoops = 0;
  uint32_t count[rt::kMaxBoxLoops] = {};
  int64_t srcStride[rt::kMaxBoxLoops] = {}, dstStride[rt::kMaxBoxLoops] = {};
};

// Plain numbers about a table.
struct ReshardCounts {
  uint32_t remoteEntries = 0, localEntries = 0;
  uint64_t remoteUnits = 0, localUnits = 0;
};

// Entries of pieces between GPUs, in the given order, then the local ones.
struct ReshardTable {
  std::vector<ReshardEntry> entries;
  ReshardCounts counts;
};

// kCollInvalidCall names the piece. Empty pieces are left out.
rt::Result<ReshardTable> compileReshard(const std::vector<ReshardPiece> &pieces);

struct ReshardCopy {
  const ReshardEntry *entries = nullptr; // of a table, in memory of the GPU
  ReshardCounts counts;
  int blocks = 0; // 0: two for each multiprocessor
  // Several launches can share a table: this one does units `part`, `part + parts`, ...
  uint32_t part = 0, parts = 1;
};
rt::Status checkReshardCopy(const ReshardCopy &copy);

// Runs on the current GPU; `stream` is a CUDA stream of it. Validates, neither blocks nor
// allocates, and may be captured; the table must outlive the work on the stream. Any thread may
// call it. kCollInvalidCall: arguments; kCollUnsupported: no CUDA, or no code for the GPU;
// kCollDevice: CUDA failed.
rt::Status launchReshardCopy(const ReshardCopy &copy, void *stream);
// Loads the kernel now. Without this call the first launch loads it, and may wait for running
// kernels.
rt::Status loadReshardCopy();

// The same on the host, byte by byte. Pointers are to host memory.
void reshardReference(const ReshardTable &table);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_RESHARD_COPY_H
