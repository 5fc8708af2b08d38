//===- lower_kernels.h - kernel functions to GPU launches --------------*- C++ -*-===//
//
// A kernel function (coll-outline-kernels) becomes launches of gpu.func, in order on one stream.
// Temporaries that live from one launch to the next are in scratch memory. This needs no library of
// the vendor: the result is PTX text.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_EXPORT_GPU_LOWER_KERNELS_H
#define COLL_PASSES_EXPORT_GPU_LOWER_KERNELS_H

#include "dialect/exec/exec.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "passes/export/exec/plan_buffers.h"

#include <array>
#include <string>
#include <vector>

namespace mlir::coll {

/// One parameter of a launch: eight bytes for an address; a scalar has its own size (an index and
/// an i64 eight bytes, an i1 one).
struct GpuParam {
  enum class Kind {
    Argument, // argument `index` of the kernel: its address, or the value of a scalar
    Scratch,  // byte `index` of the scratch memory
  };
  Kind kind = Kind::Argument;
  int64_t index = 0;
};

struct GpuLaunch {
  std::string symbol;  // of the PTX entry
  unsigned module = 0; // number of the PTX text that holds it
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  uint32_t sharedBytes = 0; // of dynamic shared memory
  std::vector<GpuParam> params;
};

/// The launches of one kernel function. All buffers are aligned to 64 bytes.
struct GpuKernel {
  /// As getKernelInfo has it, with the scratch memory needed. Arguments that may no longer share a
  /// result's buffer, because an earlier launch writes it, have lost that result in `mayAlias`.
  /// A caller that lets an argument share a result's buffer passes the same address for both.
  KernelInfo info;
  std::vector<GpuLaunch> launches;
  /// Parameters of launches after the arguments of `info` and the scratch memory are addresses on
  /// the members of a group: exec.members.
  std::optional<exec::Members> members;
};

struct GpuOptions {
  std::string chip = "sm_90"; // sm_80, sm_90, sm_100, …
  /// Path of the bitcode of the vendor's math functions. If it is empty or there is no such file, a
  /// function without an approximation is an error at its operation.
  std::string libdevice;
  unsigned threads = 0; // that compile PTX; 0: one per processor
};

/// The dialects that the functions below create operations of.
void registerGpuCodeDialects(DialectRegistry &registry);

/// The path of libdevice when this program was built; empty if it was not found.
std::string getDefaultLibdevice();

/// An empty module for GPU code, in `module`.
gpu::GPUModuleOp createGpuModule(ModuleOp module);

/// Rewrites each of `kernels` in place: its body becomes gpu.launch_func of functions that go to
/// `code`. Tensors become buffers, and scratch memory, if needed, the last argument.
FailureOr<llvm::StringMap<GpuKernel>> outlineGpuLaunches(ArrayRef<func::FuncOp> kernels,
                                                         gpu::GPUModuleOp code);

/// The launches of a kernel function that outlineGpuLaunches has rewritten.
FailureOr<std::vector<GpuLaunch>> readLaunches(func::FuncOp kernel);

/// The PTX of all functions of `code`, which are consumed. `kernels` gets the number of the text
/// that holds each launch. Errors are reported at the operation that has no GPU form.
FailureOr<std::vector<std::string>>
emitPtx(gpu::GPUModuleOp code, llvm::StringMap<GpuKernel> &kernels, const GpuOptions &options);

/// One text of all that emitPtx has made.
std::string joinPtx(ArrayRef<std::string> texts);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_GPU_LOWER_KERNELS_H
