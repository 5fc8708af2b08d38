// program.h - a compiled step and what the runtime knows about it.
//
// The compiler puts a JSON text beside the code of each rank class: the descriptor.
// It is untrusted (it may come from a file): parsing checks every field that the
// runtime later relies on, and a Descriptor that exists is consistent.

#ifndef COLL_RUNTIME_PROGRAM_PROGRAM_H
#define COLL_RUNTIME_PROGRAM_PROGRAM_H

#include "runtime/base/status.h"
#include "runtime/step/abi/abi.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coll::rt {

struct MeshAxis {
  std::string name;
  int64_t size = 1;
};

// How one dimension is split: by the axes, major to minor, into blocks that are multiples of `unit`
// (see shard.h).
struct DimSharding {
  std::vector<std::string> axes;
  int64_t unit = 1;
};

// A state that shares an argument with others.
struct StatePart {
  std::string name;
  std::vector<int64_t> shape;
  int64_t state = 0;  // its place among the states
  int64_t offset = 0; // of its first element in the argument, row-major
};

struct TensorInfo {
  std::string name;
  std::string role; // "state", "batch", or empty
  CollDtype dtype = kCollF32;
  std::vector<int64_t> shape; // of the global tensor
  std::vector<int64_t> local; // of every rank's block
  std::vector<DimSharding> sharding;
  int arg = -1; // results: the argument that it is written into, or -1
  // Its number among the step's arguments or results. Differs from its position only if rank
  // classes have different arguments or results.
  int index = 0;
  std::vector<StatePart> parts; // of an argument that holds several states; the rest is zero
  // State that the compiler has added, with an empty list of parts: zeros at the start. The user
  // does not see it.
  bool isInternal = false;

  bool isState() const { return role == "state"; }
  int64_t localBytes() const;
  int64_t globalBytes() const;
};

// A state as the user sees it: an argument, or a part of one.
struct StateInfo {
  TensorInfo info;
  int arg = 0;
  bool isPart = false;
  int64_t offset = 0; // of a part
};

// The states in the user's order, without internal ones. A part has the number of its state; whole
// arguments are the other states, in order. Fails if parts contradict each other.
Result<std::vector<StateInfo>> listStates(const std::vector<TensorInfo> &args);

// One entry of the operation table: the source of a communication operation.
struct OpInfo {
  std::string kind;
  std::string loc; // "train.py:12:3"
  std::string name;
  bool isInit = false; // in @init, not in the step
  int64_t bytes = 0;
  int64_t count = 0;
  std::string dtype;
  std::string reduction;
  int group = -1;
  std::string why;
};

// One entry of the table of computations: a kernel, a product or a copy, for profiles and messages.
// Its id is kCollFirstComputation minus its position.
struct Computation {
  std::string kind; // "kernel", "product", "fused product" (with an epilogue), "copy", …
  std::string loc;
  std::string name;
};

// One value in the memory of temporaries, for messages.
struct TemporaryInfo {
  int64_t bytes = 0;
  std::string loc; // of the operation that makes it
  std::string name;
};

// Rank lists of one entry of the group table; they are disjoint.
using GroupLists = std::vector<std::vector<int>>;

struct Descriptor {
  std::string name;
  std::string meshName;
  std::vector<MeshAxis> axes;
  std::vector<std::pair<int, int>> ranks; // inclusive ranges of this class
  std::vector<GroupLists> groups;
  std::vector<OpInfo> ops;
  std::vector<Computation> computations;
  std::vector<TensorInfo> args;
  std::vector<TensorInfo> results;
  std::vector<StateInfo> states; // in the user's order
  int64_t arenaBytes = 0;
  TemporaryInfo largestTemporary; // of the arena
  bool isOnGpu = false;           // "device": "gpu": all buffers are GPU memory
  int reached = -1; // index of the group whose members' memory kernels are to reach; -1: none

  static Result<Descriptor> parse(std::string_view json);

  // Number of ranks of the mesh, the other classes' included.
  int numRanks() const;
  bool hasRank(int rank) const;
  // The entry of the operation table, or null if `op` is not an index of it.
  const OpInfo *findOp(int32_t op) const;
  // The computation with this id, or null.
  const Computation *findComputation(int32_t op) const;
};

// The parts of a program besides its descriptor and entries (abi.h); they outlive the program.
struct ProgramData {
  const char *gpuImage = nullptr;   // null: none
  const char *gpuKernels = nullptr; // null: none
  const void *constants = nullptr;
  int64_t constantsBytes = 0;
};

// One entry of coll_gpu_kernels.
struct GpuKernel {
  std::string name;
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  unsigned sharedBytes = 0; // dynamic
  std::string loc;

  static Result<std::vector<GpuKernel>> parse(std::string_view json);
};

struct Program {
  Descriptor descriptor;
  CollEntry step = nullptr;
  CollEntry init = nullptr; // null if the program has no @init
  ProgramData data;
  std::vector<GpuKernel> kernels;

  static Result<Program> create(std::string_view json, CollEntry step, CollEntry init,
                                ProgramData data = {});
};

} // namespace coll::rt

#endif // COLL_RUNTIME_PROGRAM_PROGRAM_H
