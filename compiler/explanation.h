//===- explanation.h - what a compiled step does on its ranks ------------*- C++ -*-===//
//
// Made from a step that is partitioned already (L4 and L5), and kept with its code: which
// collectives there are and why, what they send and how long they take.
//
//===------------------------------------------------------------------------------===//

#ifndef COLL_COMPILER_EXPLANATION_H
#define COLL_COMPILER_EXPLANATION_H

#include "plan/schedule/pipeline.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coll::run {

/// A use that needs a value in another sharding than it has.
struct ExplainedUse {
  std::string operation; // "linalg.generic"
  std::string location;
  std::string needs; // "[dp, -]"
};

struct ExplainedCollective {
  std::string kind;              // "all_reduce"
  std::string reduction;         // "sum"; empty if nothing is reduced
  std::vector<std::string> axes; // of the mesh, major to minor; empty if ranks are listed
  int64_t groupSize = 1;
  std::string value;    // what a rank hands in: "tensor<8x4xf32>"
  std::string location; // "train.py:12:3"; empty if it is not known
  std::string name;     // the operation's, as JAX has it
  std::string why;
  // The next fields are empty if the step itself has the collective.
  std::string from, to; // shardings: "[dp, -], partial sum over tp"
  std::vector<ExplainedUse> uses;
  int64_t boundBytes = 0; // sent by an average rank in every plan of this change
  std::string runnerUp, whyNot;
  int64_t runnerUpBytes = 0;
  std::string avoid;       // the annotation that avoids a gather for work which every rank repeats
  int64_t groupBytes = 0;  // sent by the ranks of a group in one call, together
  int64_t calls = 1;       // in one step
  bool isCounted = true;   // false: calls depend on values; those of one turn and of all branches
  double microseconds = 0; // predicted, of one call; its share of one for several tensors
  bool sharesCall = false; // it is in the call of the one before

  /// Sent by an average rank in one call.
  double wireBytes() const { return double(groupBytes) / double(groupSize); }
};

/// A way to distribute a step.
struct PlanCandidate {
  std::string mesh;                // "dp=2,tp=2"
  std::string strategy;            // "fsdp,tensor"; may be empty
  std::vector<std::string> shards; // patterns, each with a sharding
  double us = 0;                   // predicted, of a step
  double calls = 0;                // of collectives, of an average rank in a step
  double wireBytes = 0;            // sent by an average rank in a step
  int64_t memoryBytes = 0;         // of a rank, estimated before kernels are fused

  /// The options that request this plan.
  std::string describe() const;
};

/// The result of --strategy=auto.
struct PlanSearch {
  std::vector<PlanCandidate> plans; // first the one that was compiled, then by their times
  int64_t tried = 0;
  double boundUs = 0;      // no plan is faster: the work of one device, divided by the ranks
  int64_t memoryLimit = 0; // 0: none
};

struct Explanation {
  std::optional<PlanSearch> search;       // with --strategy=auto
  std::optional<plan::Pipeline> pipeline; // with --stages
  std::string topology; // the file whose links the times are for; empty: assumed links
  // The collectives of @step in program order. A pipeline lists one stage after the other, and a
  // collective that each of a stage's micro-batches runs stands there once.
  std::vector<ExplainedCollective> collectives;
  // What an average rank does in a step: calls of collectives, the bytes that it puts into them
  // (the payload that a run counts), and those that it sends in them.
  double calls = 0, payloadBytes = 0, wireBytes = 0;
  // Predicted time of a rank in a step; of the stage that takes longest.
  double computeUs = 0, communicationUs = 0;
};

/// Reads @step of `module`, or of its programs, whose types are those of one rank. `topology` names
/// a file (plan/topology.h); an error if it cannot be read, or has too few ranks. `ranks` counts
/// where the module has no mesh. Nothing to explain, such as code for one device: empty.
llvm::Expected<Explanation> explainStep(mlir::ModuleOp module, int64_t ranks,
                                        const std::string &topology);

llvm::json::Value toJSON(const PlanSearch &search);
bool fromJSON(const llvm::json::Value &value, PlanSearch &search, llvm::json::Path path);
llvm::json::Value toJSON(const Explanation &explanation);
bool fromJSON(const llvm::json::Value &value, Explanation &explanation, llvm::json::Path path);

} // namespace coll::run

#endif // COLL_COMPILER_EXPLANATION_H
