// emulate.h - runs gpu.func on this machine: each thread of a block is a call, or a fiber.

#ifndef COLL_TEST_KERNEL_DIFF_EMULATE_H
#define COLL_TEST_KERNEL_DIFF_EMULATE_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/export/gpu/lower_kernels.h"
#include "test/kernel_diff/native.h"

#include <map>
#include <utility>
#include <vector>

// The properties of a function that the host needs to run a launch.
struct HostFunction {
  bool waits = false;               // the threads of a block wait for each other
  std::vector<int64_t> sharedBytes; // of each buffer in shared memory
};

// Moves the functions of `code` to a module of llvm.func: shared memory becomes additional
// parameters at the end, and queries of the GPU's state become calls.
mlir::OwningOpRef<mlir::ModuleOp> toHost(mlir::gpu::GPUModuleOp code,
                                         std::map<std::string, HostFunction> &functions);

// Runs every thread of the grid. `arguments` has the address of each parameter's value.
void emulate(const mlir::coll::GpuLaunch &launch, const HostFunction &host, PackedFunction function,
             std::vector<void *> arguments);

// Names and addresses of the functions that the code calls.
std::vector<std::pair<const char *, void (*)()>> emulationFunctions();

#endif // COLL_TEST_KERNEL_DIFF_EMULATE_H
