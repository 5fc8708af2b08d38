//===- verify_exec.cc - the plan of the memory, checked ---------------------------===//
//
// Tracks which content is in which bytes. A read is right if, on every path to it, nothing has been
// written over the content since it was written through its own view. So two contents that are
// alive at the same time cannot overlap: the later write ends the earlier content, and its next
// read is an error.
//
// State: disjoint pieces of memory with the view whose content each holds, and the pieces that
// communications in flight read and write. Where paths meet, a content is present if it is present
// on all of them; loops are repeated until the state does not change.
//
//===----------------------------------------------------------------------------===//

#include "passes/passes.h"

#include "dialect/exec/convolution.h"
#include "dialect/exec/epilogue.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <map>

namespace mlir::coll {
#define GEN_PASS_DEF_VERIFYEXECPASS
#include "passes/passes.h.inc"
} // namespace mlir::coll

using namespace mlir;
using namespace mlir::coll;
using exec::Extent;

namespace {

/// The contents of the memory at one point of the program.
class Memory {
public:
  bool operator==(const Memory &other) const { return pieces_ == other.pieces_; }

  void keepCommon(const Memory &other) {
    for (auto it = pieces_.begin(); it != pieces_.end();) {
      auto same = other.pieces_.find(it->first);
      it = same != other.pieces_.end() && same->second == it->second ? std::next(it)
                                                                     : pieces_.erase(it);
    }
  }

  /// The content that has been written through `view` is there.
  bool holds(Value view, const Extent &extent) const {
    auto it = pieces_.find({extent.base.getAsOpaquePointer(), extent.offset});
    return it != pieces_.end() && it->second.view == view && it->second.end == extent.end();
  }

  /// A content that is in the extent, at least in part; null if there is none.
  Value findIn(const Extent &extent) const {
    auto it = firstIn(extent);
    return it == pieces_.end() ? Value() : it->second.view;
  }

  void erase(const Extent &extent) {
    for (auto it = firstIn(extent); it != pieces_.end(); it = firstIn(extent))
      pieces_.erase(it);
  }

  void write(Value view, const Extent &extent) {
    erase(extent);
    pieces_[{extent.base.getAsOpaquePointer(), extent.offset}] = {extent.end(), view};
  }

private:
  struct Piece {
    int64_t end;
    Value view;
    bool operator==(const Piece &other) const { return end == other.end && view == other.view; }
  };
  using Pieces = std::map<std::pair<const void *, int64_t>, Piece>;

  Pieces::const_iterator firstIn(const Extent &extent) const {
    const void *base = extent.base.getAsOpaquePointer();
    auto it = pieces_.lower_bound({base, extent.offset});
    if (it != pieces_.begin()) {
      auto before = std::prev(it);
      if (before->first.first == base && before->second.end > extent.offset)
        return before;
    }
    bool isIn = it != pieces_.end() && it->first.first == base && it->first.second < extent.end();
    return isIn ? it : pieces_.end();
  }

  Pieces pieces_;
};

/// A view that a communication in flight reads or writes.
struct InFlight {
  Extent extent;
  bool isWritten;
  exec::StartOp start;
  Value request; // that holds it now: a loop carries requests on
};

class FunctionChecker {
public:
  explicit FunctionChecker(exec::FunctionOp function) : function_(function) {}

  LogicalResult check() {
    Memory memory;
    Block &body = function_.getBody().front();
    for (BlockArgument argument : body.getArguments().take_front(function_.getNumArguments()))
      write(argument, memory);
    follow(body, memory, /*isQuiet=*/false);
    return failure(isWrong_);
  }

private:
  void follow(Block &block, Memory &memory, bool isQuiet) {
    for (Operation &op : block) {
      if (isWrong_)
        return;
      isQuiet_ = isQuiet;
      visit(&op, memory, isQuiet);
    }
  }

  void visit(Operation *op, Memory &memory, bool isQuiet);
  void visitCall(exec::CallOp op, Memory &memory);
  void visitStart(exec::StartOp op, Memory &memory);
  void visitWait(exec::WaitOp op, Memory &memory);
  void visitReturn(Memory &memory);
  void visitIf(scf::IfOp op, Memory &memory, bool isQuiet);
  void visitLoop(Operation *op, Memory &memory, bool isQuiet);
  void carry(ValueRange from, ValueRange to);

  Extent extentOf(Value view);
  void read(Operation *op, Value view, const Memory &memory);
  void write(Value view, Memory &memory);
  void write(Operation *op, Value view, Memory &memory);
  void checkInFlight(Operation *op, const Extent &extent, bool isWrite);
  InFlightDiagnostic report(Operation *op, const Twine &text) {
    isWrong_ = true;
    return op->emitOpError(text);
  }

  exec::FunctionOp function_;
  llvm::DenseMap<Value, Extent> extents_;
  SmallVector<InFlight> inFlight_;
  bool isQuiet_ = false; // the state of a loop is not known yet: an error may not be one
  bool isWrong_ = false;
};

} // namespace

Extent FunctionChecker::extentOf(Value view) {
  auto [it, isNew] = extents_.try_emplace(view);
  if (isNew)
    it->second = *exec::getExtent(view);
  return it->second;
}

void FunctionChecker::checkInFlight(Operation *op, const Extent &extent, bool isWrite) {
  for (const InFlight &other : inFlight_) {
    if (isQuiet_ || isWrong_ || !(isWrite || other.isWritten) || !other.extent.overlaps(extent))
      continue;
    InFlightDiagnostic diagnostic =
        report(op, Twine(isWrite ? "writes" : "reads") + " memory that a communication in flight " +
                       (other.isWritten ? "writes" : "reads"));
    diagnostic.attachNote(other.start->getLoc()) << "it was started here";
  }
}

void FunctionChecker::read(Operation *op, Value view, const Memory &memory) {
  if (view.getDefiningOp<exec::ConstantOp>())
    return;
  Extent extent = extentOf(view);
  checkInFlight(op, extent, /*isWrite=*/false);
  if (isQuiet_ || isWrong_ || extent.bytes == 0 || memory.holds(view, extent))
    return;
  Value other = memory.findIn(extent);
  if (!other || other == view) {
    report(op, "reads a content that has not been written").attachNote(view.getLoc())
        << "this is the view";
    return;
  }
  Extent taken = extentOf(other);
  InFlightDiagnostic diagnostic =
      report(op, "reads " + Twine(extent.bytes) + " bytes at " + Twine(extent.offset) +
                     ", over which another content was written, of " + Twine(taken.bytes) +
                     " bytes at " + Twine(taken.offset));
  diagnostic.attachNote(view.getLoc()) << "this is the view that is read";
  diagnostic.attachNote(other.getLoc()) << "this is the view that was written";
}

void FunctionChecker::write(Value view, Memory &memory) {
  if (Extent extent = extentOf(view); extent.bytes)
    memory.write(view, extent);
}

void FunctionChecker::write(Operation *op, Value view, Memory &memory) {
  checkInFlight(op, extentOf(view), /*isWrite=*/true);
  write(view, memory);
}

void FunctionChecker::visitCall(exec::CallOp op, Memory &memory) {
  using exec::Access;
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    Access access = op.getAccess(i);
    if (access == Access::Read || access == Access::Reuse || access == Access::Update)
      read(op, operand, memory);
  }
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    Access access = op.getAccess(i);
    if (access == Access::Write || access == Access::Update || access == Access::Scratch)
      write(op, operand, memory);
    if (access == Access::Scratch)
      memory.erase(extentOf(operand));
  }
}

void FunctionChecker::visitStart(exec::StartOp op, Memory &memory) {
  for (Value view : op.getReads())
    read(op, view, memory);
  for (Value view : op.getWrites())
    checkInFlight(op, extentOf(view), /*isWrite=*/true);
  for (Value view : op.getReads())
    inFlight_.push_back({extentOf(view), /*isWritten=*/false, op, op.getRequest()});
  for (Value view : op.getWrites()) {
    memory.erase(extentOf(view));
    inFlight_.push_back({extentOf(view), /*isWritten=*/true, op, op.getRequest()});
  }
}

void FunctionChecker::visitWait(exec::WaitOp op, Memory &memory) {
  llvm::erase_if(inFlight_,
                 [&](const InFlight &other) { return other.request == op.getRequest(); });
  for (Value view : op.getWrites())
    write(op, view, memory);
}

void FunctionChecker::visitReturn(Memory &memory) {
  Operation *end = function_.getBody().front().getTerminator();
  for (unsigned k = 0; k < function_.getNumResults() && !isWrong_; ++k) {
    BlockArgument buffer = function_.getResultBuffer(k);
    Extent extent = extentOf(buffer);
    if (extent.bytes && !memory.holds(buffer, extent))
      report(end, "result " + Twine(k) + " is not in its buffer");
  }
}

void FunctionChecker::visitIf(scf::IfOp op, Memory &memory, bool isQuiet) {
  Memory otherwise = memory;
  follow(*op.thenBlock(), memory, isQuiet);
  if (op.elseBlock())
    follow(*op.elseBlock(), otherwise, isQuiet);
  memory.keepCommon(otherwise);
}

/// Values `to` hold the requests of `from`.
void FunctionChecker::carry(ValueRange from, ValueRange to) {
  for (InFlight &other : inFlight_)
    if (auto it = llvm::find(from, other.request); it != from.end())
      other.request = to[it - from.begin()];
}

/// The state at the head of a loop: what is there before it, and still is after each round.
void FunctionChecker::visitLoop(Operation *op, Memory &memory, bool isQuiet) {
  auto loop = dyn_cast<scf::ForOp>(op);
  auto followRound = [&](Block *block, Memory &round, bool isRoundQuiet) {
    follow(*block, round, isRoundQuiet);
    if (loop)
      carry(loop.getYieldedValues(), loop.getRegionIterArgs());
  };
  if (loop)
    carry(loop.getInitArgs(), loop.getRegionIterArgs());
  SmallVector<Block *> blocks;
  for (Region &region : op->getRegions())
    blocks.push_back(&region.front());
  for (;;) {
    Memory round = memory, head = memory;
    for (Block *block : blocks)
      followRound(block, round, /*isRoundQuiet=*/true);
    head.keepCommon(round);
    if (head == memory || isWrong_)
      break;
    memory = std::move(head);
  }
  // A while loop ends after its first region, a for loop at its head.
  Memory round = memory;
  bool isWhile = isa<scf::WhileOp>(op);
  for (auto [i, block] : llvm::enumerate(blocks)) {
    followRound(block, round, isQuiet);
    if (isWhile && i == 0)
      memory = round;
  }
  if (loop)
    carry(loop.getRegionIterArgs(), loop.getResults());
}

void FunctionChecker::visit(Operation *op, Memory &memory, bool isQuiet) {
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return visitIf(branch, memory, isQuiet);
  if (isa<scf::ForOp, scf::WhileOp>(op))
    return visitLoop(op, memory, isQuiet);
  if (auto call = dyn_cast<exec::CallOp>(op))
    return visitCall(call, memory);
  if (auto start = dyn_cast<exec::StartOp>(op))
    return visitStart(start, memory);
  if (auto wait = dyn_cast<exec::WaitOp>(op))
    return visitWait(wait, memory);
  if (isa<exec::ReturnOp>(op))
    return visitReturn(memory);
  if (auto communicate = dyn_cast<exec::CommunicateOp>(op)) {
    for (Value view : communicate.getReads())
      read(op, view, memory);
    for (Value view : communicate.getWrites())
      write(op, view, memory);
  } else if (auto copy = dyn_cast<exec::CopyOp>(op)) {
    read(op, copy.getSource(), memory);
    write(op, copy.getTarget(), memory);
  } else if (auto rename = dyn_cast<exec::RenameOp>(op)) {
    read(op, rename.getSource(), memory);
    write(rename.getTarget(), memory);
  } else if (auto undefined = dyn_cast<exec::UndefinedOp>(op)) {
    write(op, undefined.getTarget(), memory);
  } else if (auto fill = dyn_cast<exec::FillOp>(op)) {
    write(op, fill.getTarget(), memory);
  } else if (auto store = dyn_cast<exec::StoreOp>(op)) {
    write(op, store.getTarget(), memory);
  } else if (auto load = dyn_cast<exec::LoadOp>(op)) {
    read(op, load.getSource(), memory);
  } else if (auto gemm = dyn_cast<exec::GemmOp>(op)) {
    read(op, gemm.getA(), memory);
    read(op, gemm.getB(), memory);
    if (gemm.getAccumulate())
      read(op, gemm.getC(), memory);
    write(op, gemm.getC(), memory);
  } else if (auto fused = dyn_cast<exec::FusedGemmOp>(op)) {
    for (Value view : fused.getReads())
      read(op, view, memory);
    for (Value view : fused.getWrites())
      write(op, view, memory);
  } else if (isa<exec::AttentionOp, exec::AttentionGradientOp, exec::ConvolutionOp>(op)) {
    unsigned reads = isa<exec::ConvolutionOp>(op) ? 2 : isa<exec::AttentionOp>(op) ? 3 : 6;
    for (Value view : op->getOperands().take_front(reads))
      read(op, view, memory);
    for (Value view : op->getOperands().drop_front(reads))
      write(op, view, memory);
  }
}

namespace {
class VerifyExecPass : public coll::impl::VerifyExecPassBase<VerifyExecPass> {
public:
  void runOnOperation() override {
    getOperation().walk([&](exec::FunctionOp function) {
      if (failed(FunctionChecker(function).check()))
        signalPassFailure();
    });
    markAllAnalysesPreserved();
  }
};
} // namespace
