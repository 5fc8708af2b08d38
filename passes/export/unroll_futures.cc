//===- unroll_futures.cc - a place for each operation in flight ------------------===//
//
// The future that a loop carries at a place has to be awaited before the operation is started whose
// future a round leaves at that place: the two share their memory. Unrolling makes it so:
//
//   f0, f1 = for (a, b): await a; c = start; yield b, c        two in flight, which change places
//   f0, f1 = for (a, b): await a; c = start; await b; d = start; yield c, d
//
//===----------------------------------------------------------------------------===//

#include "dialect/dialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "passes/passes.h"

namespace mlir::coll {
#define GEN_PASS_DEF_UNROLLFUTURESPASS
#include "passes/passes.h.inc"
} // namespace mlir::coll

using namespace mlir;
using namespace mlir::coll;

namespace {

/// More operations in flight than this are not carried.
constexpr unsigned kMaxFactor = 64;

/// What an iteration does with the futures that it receives, by place.
class Round {
public:
  explicit Round(scf::ForOp loop) : loop_(loop) {
    for (BlockArgument argument : loop.getRegionIterArgs())
      if (isa<FutureType>(argument.getType()))
        places_.push_back(argument.getArgNumber() - loop.getNumInductionVars());
  }

  bool carriesFutures() const { return !places_.empty(); }

  /// The smallest number of rounds that leave each place free for what they leave there; 0 if there
  /// is none.
  unsigned getFactor() const {
    for (unsigned factor = 1; factor <= kMaxFactor; ++factor)
      if (llvm::all_of(places_, [&](unsigned place) { return isFree(place, factor); }))
        return factor;
    return 0;
  }

private:
  /// An operation in a round.
  struct Time {
    unsigned round;
    Operation *op;
  };

  static bool isBefore(Time a, Time b) {
    return a.round < b.round ||
           (a.round == b.round && (a.op == b.op || a.op->isBeforeInBlock(b.op)));
  }

  bool isFree(unsigned place, unsigned factor) const {
    // Backwards: where the future comes from that `factor` rounds leave here.
    unsigned round = factor - 1, source = place;
    while (auto passed = dyn_cast<BlockArgument>(loop_.getYieldedValues()[source])) {
      source = passed.getArgNumber() - loop_.getNumInductionVars();
      if (round-- == 0)
        return source == place; // it stays in flight, or it has come from elsewhere
    }
    Time start{round, loop_.getYieldedValues()[source].getDefiningOp()};
    // Forwards: when the future is awaited that was here at first.
    unsigned target = place;
    for (unsigned until = 0; until < factor; ++until) {
      OpOperand &use = *loop_.getRegionIterArgs()[target].use_begin();
      if (!isa<scf::YieldOp>(use.getOwner()))
        return isBefore({until, use.getOwner()}, start);
      target = use.getOperandNumber();
    }
    return false;
  }

  mutable scf::ForOp loop_;
  SmallVector<unsigned> places_;
};

LogicalResult unroll(scf::ForOp loop) {
  Round round(loop);
  if (!round.carriesFutures())
    return success();
  unsigned factor = round.getFactor();
  if (factor == 1)
    return success();
  if (factor == 0)
    return loop.emitOpError("carries operations in flight that change places, and no ")
           << kMaxFactor << " rounds bring them back; carry fewer of them";
  std::optional<APInt> trips = loop.getStaticTripCount();
  if (!trips)
    return loop.emitOpError("starts operations before the ones that it carries are awaited; that "
                            "needs a buffer for each of ")
           << factor << " rounds and so constant bounds: give it constant bounds, or await what is "
           << "carried before the next start";
  if (trips->isZero()) {
    loop->replaceAllUsesWith(loop.getInitArgs());
    loop.erase();
    return success();
  }
  if (trips->ule(factor))
    return loopUnrollFull(loop);
  FailureOr<UnrolledLoopInfo> unrolled = loopUnrollByFactor(loop, factor);
  if (failed(unrolled))
    return loop.emitOpError("cannot be unrolled by ") << factor;
  if (unrolled->epilogueLoopOp && failed(loopUnrollFull(*unrolled->epilogueLoopOp)))
    return unrolled->epilogueLoopOp->emitOpError("cannot be unrolled");
  return success();
}

struct UnrollFuturesPass : coll::impl::UnrollFuturesPassBase<UnrollFuturesPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); }); // inner loops first
    for (scf::ForOp loop : loops)
      if (failed(unroll(loop)))
        return signalPassFailure();
  }
};

} // namespace
