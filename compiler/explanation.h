//===- explanation.h - what a compiled step does on its ranks ------------*- C++ -*-===//
//
// Made from a step that is partitioned already (L4 and L5), and kept with its code: which
// collectives there are and why, what they send and how long they take.
//
//===------------------------------------------------------------------------------===//

#ifndef COLL_COMPILER_EXPLANATION_H
#define COLL_COMPILER_EXPLANATION_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <cstdint>
#include <string>
#include <vector>

namespace coll::run {

struct ExplainedCollective {
  std::string kind;              // "all_reduce"
  std::string reduction;         // "sum"; empty where nothing is reduced
  std::vector<std::string> axes; // of the mesh, major to minor; empty where ranks are listed
  int64_t groupSize = 1;
  std::string value;    // what a rank hands in: "tensor<8x4xf32>"
  std::string location; // "train.py:12:3"; empty where it is not known
  std::string name;     // the operation's, as JAX has it
  std::string why;
  int64_t wireBytes = 0;   // sent by an average rank in one call
  int64_t calls = 1;       // in one step
  bool isCounted = true;   // false: it runs in a loop of unknown length; `calls` is of one turn
  double microseconds = 0; // predicted, of one call
};

struct Explanation {
  std::string topology; // the file whose links the times are for; empty: assumed links
  std::vector<ExplainedCollective> collectives; // of @step, in program order
  int64_t wireBytes = 0;                        // sent by an average rank in a step
  // Predicted time of a rank in a step.
  double computeUs = 0, communicationUs = 0;
};

/// Reads @step of `module`, whose types are those of one rank. `topology` names a file
/// (plan/topology.h); an error where it cannot be read, or has too few ranks. `ranks` counts where
/// the module has no mesh. Nothing to explain, such as code for one device: empty.
llvm::Expected<Explanation> explainStep(mlir::ModuleOp module, int64_t ranks,
                                        const std::string &topology);

llvm::json::Value toJSON(const Explanation &explanation);
bool fromJSON(const llvm::json::Value &value, Explanation &explanation, llvm::json::Path path);

} // namespace coll::run

#endif // COLL_COMPILER_EXPLANATION_H
