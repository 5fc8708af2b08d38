//===- rank_classes.cc - the number of ranks, and the program of each ------------===//

#include "passes/analysis/rank_classes.h"

using namespace mlir;
using namespace mlir::coll;

/// The limit that meshes have, too.
static constexpr int64_t kMaxRanks = int64_t(1) << 24;

/// The largest rank that `op` names, or -1.
static int64_t getLargestRank(Operation *op) {
  int64_t largest = -1;
  if (auto program = dyn_cast<ProgramOp>(op))
    for (int64_t rank : program.getRanks())
      largest = std::max(largest, rank);
  GroupAttr group;
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    group = collective.getCommGroup();
  else if (auto query = dyn_cast<GroupOp>(op))
    group = query.getGroup();
  if (group)
    for (DenseI64ArrayAttr ranks : group.getLists())
      for (int64_t rank : ranks.asArrayRef())
        largest = std::max(largest, rank);
  return largest;
}

/// The first of the module's meshes, which all have the same number of ranks; null without a mesh.
static FailureOr<MeshOp> getMesh(ModuleOp module) {
  MeshOp first;
  for (MeshOp mesh : module.getOps<MeshOp>()) {
    if (!first) {
      first = mesh;
    } else if (mesh.getNumRanks() != first.getNumRanks()) {
      InFlightDiagnostic diag = mesh.emitError("mesh @")
                                << mesh.getSymName() << " has " << mesh.getNumRanks()
                                << " ranks, but mesh @" << first.getSymName() << " has "
                                << first.getNumRanks();
      diag.attachNote(first.getLoc()) << "first mesh";
      return diag;
    }
  }
  return first;
}

FailureOr<int64_t> coll::getNumRanks(ModuleOp module, int64_t requested) {
  FailureOr<MeshOp> mesh = getMesh(module);
  if (failed(mesh))
    return failure();
  int64_t numRanks = *mesh ? mesh->getNumRanks() : requested;
  if (requested > 0 && numRanks != requested)
    return mesh->emitError("the mesh has ")
           << numRanks << " ranks, but " << requested << " are asked for";
  Operation *largestOp = module;
  int64_t largest = 0;
  module.walk([&](Operation *op) {
    int64_t rank = getLargestRank(op);
    if (rank > largest) {
      largest = rank;
      largestOp = op;
    }
  });
  if (numRanks > 0 && largest >= numRanks)
    return largestOp->emitError("names rank ")
           << largest << ", but there are " << numRanks << " ranks";
  if (numRanks <= 0)
    numRanks = largest + 1;
  if (numRanks > kMaxRanks)
    return largestOp->emitError("names rank ")
           << largest << "; at most " << kMaxRanks << " ranks are supported";
  return numRanks;
}

func::FuncOp RankClass::lookup(StringRef function) const {
  auto found = llvm::find_if(
      functions, [&](func::FuncOp candidate) { return candidate.getSymName() == function; });
  return found == functions.end() ? func::FuncOp() : *found;
}

SmallVector<RankClass> coll::getRankClasses(ModuleOp module, int64_t numRanks) {
  SmallVector<RankClass> classes;
  for (ProgramOp program : module.getOps<ProgramOp>())
    classes.push_back({program, program.getSymName().str(), llvm::to_vector(program.getRanks()),
                       llvm::to_vector(program.getBody().getOps<func::FuncOp>())});
  if (classes.empty())
    classes.push_back({module, "class0", llvm::to_vector(llvm::seq<int64_t>(0, numRanks)),
                       llvm::to_vector(module.getOps<func::FuncOp>())});
  return classes;
}

func::FuncOp CommunicationFinder::resolve(func::CallOp call) {
  return symbols_.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
}

bool CommunicationFinder::communicates(Operation *op) {
  if (isa<CollectiveOpInterface, StartOp, AwaitOp>(op) ||
      llvm::any_of(op->getResultTypes(), llvm::IsaPred<FutureType>))
    return true;
  auto call = dyn_cast<func::CallOp>(op);
  if (!call && op->getNumRegions() == 0)
    return false;
  // A function that calls itself counts as communicating: callers reject recursion.
  auto [entry, isNew] = known_.try_emplace(op, true);
  if (!isNew)
    return entry->second;
  bool found = false;
  if (call) {
    func::FuncOp callee = resolve(call);
    found = callee && communicates(callee);
  }
  for (Region &region : op->getRegions())
    for (Operation &nested : region.getOps())
      found |= communicates(&nested);
  known_[op] = found;
  return found;
}
