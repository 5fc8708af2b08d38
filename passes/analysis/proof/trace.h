//===- trace.h - the communication of a function, as a tree -----------*- C++ -*-===//
//
// One trace serves all ranks of a class: what depends on the rank is a RankExpr.
// The trace holds the communication of the function and of its callees in program
// order, and the control flow around it; everything else is left out.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_ANALYSIS_PROOF_TRACE_H
#define COLL_PASSES_ANALYSIS_PROOF_TRACE_H

#include "passes/analysis/rank_classes.h"
#include "passes/analysis/rank_expr.h"
#include "passes/analysis/rank_groups.h"

#include "llvm/ADT/StringMap.h"

namespace mlir::coll {

/// One communication operation.
struct CommEvent {
  Operation *op;      // the collective, send or recv
  unsigned group = 0; // in the GroupTable
  int64_t stream = 0;
  unsigned signature = 0; // equal on all members; for send and recv: the tensor's type
  // Of send and recv only:
  bool isSend = false, isRecv = false;
  int64_t tag = 0;
  unsigned link = 0; // in the trace

  bool isPointToPoint() const { return isSend || isRecv; }
};

/// A peer that a trace names, as a position in a group. All ports of a trace differ.
struct TracePort {
  unsigned group;
  RankExpr peer;
};

/// The sends or the receives of a trace through one port with one tag. All links differ.
struct TraceLink {
  unsigned port;
  int64_t tag;
  bool isSend;
};

struct TraceNode;
using TraceList = std::vector<TraceNode>;

/// How often an scf.while runs, found by running its integers alone.
struct CountedWhile {
  struct Carry {
    unsigned slot;
    RankExpr value;
  };
  std::vector<Carry> init, before, after; // before: condition to body; after: body to condition
  std::optional<RankExpr> condition;

  /// Whether ranks that agree in every slot may still differ in the count.
  bool dependsOnRank() const;
};

struct TraceNode {
  enum class Kind {
    Run,      // event, to its completion
    Start,    // event, into `request`
    Wait,     // for `request`
    Move,     // `moves`: requests that a loop carries, all at once
    Assign,   // assignments, all at once
    Branch,   // bodies[i + 1] where exprs[0] is cases[i], else bodies[0]
    Loop,     // bodies[0]; trips from exprs (lower, upper, step) or from `counted`
    Lockstep, // any number of times any of the bodies; all ranks choose alike
  };
  Kind kind;
  Operation *op;
  std::optional<CommEvent> event = std::nullopt;
  unsigned request = 0;
  std::vector<std::pair<unsigned, unsigned>> moves = {}; // from request to request
  std::vector<std::pair<unsigned, std::optional<RankExpr>>> assignments = {};
  std::vector<RankExpr> exprs = {};
  std::vector<int64_t> cases = {};
  std::optional<CountedWhile> counted = std::nullopt;
  std::vector<TraceList> bodies = {};
  /// Loop: slot of the induction variable, if the body needs it.
  std::optional<unsigned> inductionSlot = std::nullopt;
  /// Loop: nothing in the body depends on the number of the iteration.
  bool isUniform = false;
};

struct Trace {
  TraceList body;
  std::vector<TracePort> ports;
  std::vector<TraceLink> links;
  int64_t numNodes = 0;
  unsigned numSlots = 0;
  unsigned numRequests = 0;
  func::FuncOp function;
};

/// Data that the traces of all classes share.
struct TraceContext {
  explicit TraceContext(int64_t numRanks) : groups(numRanks) {}

  GroupTable groups;
  CommunicationFinder communication;
  /// All ranks run one program: a value that is equal on all ranks of the class is
  /// equal on all ranks.
  bool singleClass = true;

  unsigned getSignature(StringRef text);
  StringRef getSignatureText(unsigned signature) const { return texts_[signature]; }

private:
  llvm::StringMap<unsigned> signatures_;
  std::vector<std::string> texts_;
};

/// The trace of `function`. Emits an error if control flow around communication cannot be followed,
/// or may differ between ranks.
FailureOr<Trace> buildTrace(func::FuncOp function, TraceContext &context);

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_PROOF_TRACE_H
