//===- stage_placement.h - where and when each operation runs ---------*- C++ -*-===//
//
// Derives the chunks of all other operations from those of the forward pass. Every placement gives
// right results, because values are sent where they are needed; the placement only decides how much
// is sent.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_TRANSFORM_STAGES_STAGE_PLACEMENT_H
#define COLL_PASSES_TRANSFORM_STAGES_STAGE_PLACEMENT_H

#include "passes/transform/stages/stage_cut.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::coll {

/// When an operation runs.
enum class Phase : uint8_t {
  Once,           // before the first micro-batch
  Forward,        // for each micro-batch
  InputGradient,  // for each micro-batch; other chunks wait for it
  WeightGradient, // for each micro-batch; only sums follow from it
  Update,         // after the last micro-batch
};

struct Placement {
  Phase phase = Phase::Update;
  int chunk = 0;
};

class StagePlacement {
public:
  StagePlacement(const StepParts &parts, const ChunkOf &forward, int numChunks);

  /// The place of an operation that is not free. A sum over micro-batches is at the chunk that adds
  /// up.
  Placement get(Operation *op) const { return placements_.lookup(op); }
  /// The phase in which a sum's terms come up.
  Phase getSumPhase(AllReduceOp sum) const;
  /// The chunk that makes a value that is not free, or keeps it where it is state.
  int getChunk(Value value) const;

private:
  using Chunks = llvm::SmallBitVector;

  void placeForward(const ChunkOf &forward);
  void findWanted();
  void findTargets();
  std::optional<int> getTarget(OpOperand &use) const;
  void placeBackward();
  void splitBackward();
  void placeUpdate();
  void placeRest();

  bool isUniform(Operation *op) const;
  std::optional<int> findChunk(Value value) const;
  int chooseBackwardChunk(Operation *op);
  Chunks getChunksWith(Value value) const;
  Chunks getChunksFor(Operation *op) const;
  Chunks getWanted(Value value) const;
  int chooseUpdateChunk(Operation *op) const;

  const StepParts &parts_;
  int numChunks_;
  Block &block_;
  DenseMap<Operation *, Placement> placements_;
  DenseMap<Value, int> homes_;           // of state
  DenseMap<Operation *, Chunks> wanted_; // update: chunks whose state it makes
  DenseMap<Operation *, int> targets_;   // backward: the chunk whose gradients alone it makes
};

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_STAGES_STAGE_PLACEMENT_H
