// Operations in flight that loops carry.
//
// The sources and results of such an operation have memory of their own, which stays where it is
// from the start to the await: the future, the loop's argument, the yielded future and the loop's
// result share it. A source is copied there before the start, and a result is copied from there
// after the await; if lifetimes allow it, they share the buffer instead.

#include "passes/export/exec/plan_buffers_impl.h"

#include "dialect/futures.h"

using namespace mlir;
using namespace mlir::coll;

static StartOp getAnyStart(Value future) { return cast<StartOp>(getStarts(future).front()); }

FutureMemory BufferPlanner::defineFuture(Value future, ArrayRef<Interval> live) {
  FutureMemory memory;
  StartOp start = getAnyStart(future);
  for (Value source : start.getSources())
    if (isInMemory(source))
      memory.sources.push_back(define(Value(), getBytes(source.getType()), live));
  for (Type type : start.getFuture().getType().getTypes())
    memory.results.push_back(define(Value(), getBytes(type), live));
  for (ArrayRef<unsigned> contents : {ArrayRef(memory.sources), ArrayRef(memory.results)})
    for (unsigned content : contents)
      contents_[content].loc = start.getLoc();
  return plan_.memoryOf[future] = memory;
}

/// The memory of `future` is needed until `end`.
void BufferPlanner::useFuture(Value future, int64_t end) {
  const FutureMemory &memory = plan_.memoryOf[future];
  for (ArrayRef<unsigned> contents : {ArrayRef(memory.sources), ArrayRef(memory.results)})
    for (unsigned content : contents) {
      Interval &live = contents_[content].live[contents_[content].usesExtend];
      live.end = std::max(live.end, end);
    }
}

/// `to` holds the future that `from` held before `at`.
void BufferPlanner::tieFuture(Value from, Value to, Operation *at) {
  useFuture(from, 2 * position(at) + 1);
  const FutureMemory a = plan_.memoryOf[from], b = plan_.memoryOf[to];
  auto tieAll = [&](ArrayRef<unsigned> sources, ArrayRef<unsigned> targets) {
    for (auto [source, target] : llvm::zip_equal(sources, targets)) {
      if (source == target)
        continue;
      allow(source, target, {2 * position(at), 2 * position(at) + 1});
      ties_.push_back({Tie::Kind::Future, source, target, at, /*depth=*/0});
    }
  };
  tieAll(a.sources, b.sources);
  tieAll(a.results, b.results);
}

void BufferPlanner::visitStart(StartOp op) {
  if (isa<AwaitOp>(*op.getFuture().user_begin()))
    return; // visitAwait() sees to it
  int64_t now = 2 * position(op);
  FutureMemory memory = defineFuture(op.getFuture(), writtenBy(op));
  unsigned next = 0;
  for (Value source : op.getSources()) {
    if (!isInMemory(source))
      continue;
    use(source, op);
    unsigned held = memory.sources[next++];
    allow(contentOf(source), held, {now, now + 1});
    tie(Tie::Kind::ReadWrite, source, held, op);
  }
}

void BufferPlanner::visitCarriedAwait(AwaitOp op) {
  int64_t now = 2 * position(op);
  useFuture(op.getFuture(), now + 2);
  const FutureMemory memory = plan_.memoryOf[op.getFuture()];
  for (auto [from, result] : llvm::zip_equal(memory.results, op.getResults())) {
    unsigned to = define(result, getBytes(result.getType()), Interval{now + 1, now + 2});
    allow(from, to, {now, now + 2});
    ties_.push_back({Tie::Kind::Alias, from, to, op, /*depth=*/0});
  }
}

/// All starts whose future may be `future` need memory of the same sizes.
static LogicalResult checkStarts(scf::ForOp loop, Value future) {
  auto getSizes = [](StartOp start) {
    SmallVector<int64_t> sizes;
    for (Value source : start.getSources())
      if (livesInMemory(source.getType()))
        sizes.push_back(getBytes(source.getType()));
    return sizes;
  };
  StartOp first = getAnyStart(future);
  for (Operation *other : getStarts(future)) {
    if (getSizes(cast<StartOp>(other)) == getSizes(first))
      continue;
    InFlightDiagnostic diagnostic = loop.emitOpError(
        "carries operations in flight that read tensors of different sizes; carry each in a "
        "future of its own");
    diagnostic.attachNote(first.getLoc()) << "one is started here";
    diagnostic.attachNote(other->getLoc()) << "another one here";
    return diagnostic;
  }
  return success();
}

LogicalResult BufferPlanner::visitCarriedFutures(scf::ForOp op) {
  int64_t begin = 2 * position(op), end = 2 * end_.lookup(op);
  int64_t again = 2 * position(op.getBody()->getTerminator());
  for (auto [argument, init, yielded, result] : llvm::zip_equal(
           op.getRegionIterArgs(), op.getInitArgs(), op.getYieldedValues(), op.getResults())) {
    if (!isa<FutureType>(argument.getType()))
      continue;
    if (failed(checkStarts(op, argument)))
      return failure();
    defineFuture(argument, {{begin, begin + 1}, {again, end + 1}});
    FutureMemory out = defineFuture(result, Interval{end, end + 1});
    const FutureMemory in = plan_.memoryOf[argument];
    for (auto [a, b] : llvm::zip_equal(out.sources, in.sources))
      identify(a, b);
    for (auto [a, b] : llvm::zip_equal(out.results, in.results))
      identify(a, b);
    tieFuture(init, argument, op);
    if (yielded == argument) // in flight for the whole loop
      useFuture(argument, end + 1);
  }
  return success();
}

void BufferPlanner::visitYieldedFutures(scf::ForOp op) {
  for (auto [argument, yielded] : llvm::zip_equal(op.getRegionIterArgs(), op.getYieldedValues()))
    if (isa<FutureType>(argument.getType()))
      tieFuture(yielded, argument, op.getBody()->getTerminator());
}

LogicalResult BufferPlanner::checkFutures() const {
  for (const Tie &tie : ties_) {
    if (tie.kind != Tie::Kind::Future || find(tie.src) == find(tie.dst))
      continue;
    InFlightDiagnostic diagnostic =
        tie.at->emitError("an operation in flight is carried to another place while the one that "
                          "is carried there is not awaited yet: await it before the next start, "
                          "or give the loop constant bounds");
    diagnostic.attachNote(Location(contents_[tie.src].loc)) << "it is started here";
    return diagnostic;
  }
  return success();
}
