//===- trace.cc - events of traces and their equality ---------------------------===//

#include "dialect/sharding.h"
#include "passes/analysis/proof/trace_builder.h"

using namespace mlir;
using namespace mlir::coll;

unsigned TraceContext::getSignature(StringRef text) {
  auto [entry, isNew] = signatures_.try_emplace(text, texts_.size());
  if (isNew)
    texts_.push_back(text.str());
  return entry->second;
}

bool CountedWhile::dependsOnRank() const {
  bool result = condition->dependsOnRank();
  for (const std::vector<Carry> *carries : {&init, &before, &after})
    for (const Carry &carry : *carries)
      result |= carry.value.dependsOnRank();
  return result;
}

/// " rows of 32 x f32"
static void describeRows(raw_ostream &out, Value rows) {
  auto type = cast<RankedTensorType>(rows.getType());
  out << " rows of " << type.getDimSize(1) << " x " << type.getElementType();
}

/// Everything that all members must agree on, as text: kind, reduction, accumulation, order, root,
/// dimensions and types; for a send or receive the type.
static std::string describe(CollectiveOpInterface op) {
  std::string text;
  llvm::raw_string_ostream out(text);
  auto getType = [](Value value) { return value ? value.getType() : Type(); };
  Type input = getType(op.getCommInput()), result = getType(op.getCommResult());
  if (isa<SendOp, RecvOp>(op)) {
    out << (input ? input : result);
    return text;
  }
  out << op->getName();
  if (std::optional<ReductionKind> reduction = op.getCommReduction()) {
    out << ' ' << stringifyReductionKind(*reduction);
    if (Type accumulation = op.getCommAccumulation())
      out << " in " << accumulation;
    if (op.getCommOrder() != Order::Any)
      out << " order " << stringifyOrder(op.getCommOrder());
  }
  if (std::optional<int64_t> root = op.getCommRoot())
    out << " root " << *root;
  for (StringRef name : {"dim", "split_dim", "concat_dim"})
    if (auto dim = op->getAttrOfType<IntegerAttr>(name))
      out << ' ' << name << ' ' << dim.getInt();
  if (auto permute = dyn_cast<PermuteOp>(op.getOperation())) {
    GroupAttr group = permute.getGroup();
    int64_t size = getGroupSize(group, lookupMesh(op, group.getMesh()));
    if (std::optional<PermuteShift> shift = permute.getAsShift(size)) {
      out << " shift " << shift->by << (shift->wraps ? " wraps" : "");
    } else {
      out << " pairs [";
      llvm::interleaveComma(permute.getPairs(), out);
      out << ']';
    }
  }
  // In a token exchange, the numbers of rows are each rank's own.
  if (auto dispatch = dyn_cast<DispatchOp>(op.getOperation())) {
    describeRows(out, dispatch.getInput());
    out << " topk " << dispatch.getRoute().getType().getTopk() << " local_experts "
        << dispatch.getLocalExperts();
    if (Value scales = dispatch.getScales())
      out << " scales " << cast<RankedTensorType>(scales.getType()).getDimSize(1);
    return text;
  }
  if (auto combine = dyn_cast<CombineOp>(op.getOperation())) {
    describeRows(out, combine.getInput());
    return text;
  }
  if (input)
    out << ", " << input;
  if (result && result != input)
    out << " -> " << result;
  return text;
}

/// The value that `value`, an argument of `start`'s region, stands for.
static Value getOutside(StartOp start, Value value) {
  if (!start)
    return value;
  auto argument = cast<BlockArgument>(value);
  return start.getSources()[argument.getArgNumber()];
}

LogicalResult TraceBuilder::addPeer(CommEvent &event, Value peer) {
  std::optional<RankExpr> expr = compile(peer);
  if (!expr)
    return event.op->emitOpError("has a peer that does not follow from the rank, constants and "
                                 "counted loops alone");
  unsigned number = peers_.try_emplace(*expr, peers_.size()).first->second;
  auto [port, isNewPort] = portOf_.try_emplace({event.group, number}, trace_.ports.size());
  if (isNewPort)
    trace_.ports.push_back({event.group, std::move(*expr)});
  auto [link, isNewLink] =
      linkOf_.try_emplace({port->second, event.tag, event.isSend}, trace_.links.size());
  if (isNewLink)
    trace_.links.push_back({port->second, event.tag, event.isSend});
  event.link = link->second;
  return success();
}

LogicalResult TraceBuilder::addEvent(Operation *op, StartOp start, TraceList &list) {
  auto collective = cast<CollectiveOpInterface>(op);
  CommEvent event{op};
  event.group = context_.groups.getGroup(op, collective.getCommGroup());
  event.stream = start ? start.getStream() : 0;
  std::string text = describe(collective);
  if (start) // what is one call is one event
    for (Operation &other : llvm::drop_begin(start.getCommunications()))
      text += "; " + describe(cast<CollectiveOpInterface>(other));
  event.signature = context_.getSignature(text);
  Value peer;
  if (auto send = dyn_cast<SendOp>(op)) {
    event.isSend = true;
    event.tag = send.getTag();
    peer = getOutside(start, send.getPeer());
  } else if (auto recv = dyn_cast<RecvOp>(op)) {
    event.isRecv = true;
    event.tag = recv.getTag();
    peer = getOutside(start, recv.getPeer());
  }
  if (peer && failed(addPeer(event, peer)))
    return failure();
  TraceNode node{start ? TraceNode::Kind::Start : TraceNode::Kind::Run,
                 start ? start.getOperation() : op};
  node.event = std::move(event);
  if (start) {
    node.request = getRequest(start.getFuture());
  }
  list.push_back(std::move(node));
  return success();
}

unsigned TraceBuilder::getRequest(Value future) {
  auto [entry, isNew] = requests_.try_emplace(future, trace_.numRequests);
  if (isNew)
    ++trace_.numRequests;
  return entry->second;
}

void TraceBuilder::addAwait(AwaitOp await, TraceList &list) {
  TraceNode node{TraceNode::Kind::Wait, await};
  node.request = getRequest(await.getFuture());
  list.push_back(std::move(node));
}

void TraceBuilder::addMoves(Operation *op, ValueRange from, ValueRange to, TraceList &list) {
  TraceNode node{TraceNode::Kind::Move, op};
  for (auto [source, target] : llvm::zip(from, to))
    if (isa<FutureType>(source.getType()))
      node.moves.push_back({getRequest(source), getRequest(target)});
  if (!node.moves.empty())
    list.push_back(std::move(node));
}

//===----------------------------------------------------------------------===//
// Equality
//===----------------------------------------------------------------------===//

static bool isSameEvent(const CommEvent &a, const CommEvent &b) {
  return a.group == b.group && a.stream == b.stream && a.signature == b.signature &&
         a.isPointToPoint() == b.isPointToPoint() && a.link == b.link;
}

static bool isSameList(const TraceList &a, const TraceList &b,
                       DenseMap<unsigned, unsigned> &requests);

static bool isSameMove(const TraceNode &a, const TraceNode &b,
                       DenseMap<unsigned, unsigned> &requests) {
  if (a.moves.size() != b.moves.size())
    return false;
  for (auto [moveA, moveB] : llvm::zip(a.moves, b.moves))
    if (requests.lookup(moveA.first) != moveB.first)
      return false;
  for (auto [moveA, moveB] : llvm::zip(a.moves, b.moves))
    requests[moveA.second] = moveB.second;
  return true;
}

static bool isSameNode(const TraceNode &a, const TraceNode &b,
                       DenseMap<unsigned, unsigned> &requests) {
  if (a.kind != b.kind || a.event.has_value() != b.event.has_value() ||
      a.bodies.size() != b.bodies.size())
    return false;
  if (a.event && !isSameEvent(*a.event, *b.event))
    return false;
  if (a.kind == TraceNode::Kind::Start)
    requests[a.request] = b.request;
  if (a.kind == TraceNode::Kind::Wait && requests.lookup(a.request) != b.request)
    return false;
  if (a.kind == TraceNode::Kind::Move && !isSameMove(a, b, requests))
    return false;
  // Loops of unknown length, and values that only one branch carries, count as different.
  if (a.kind == TraceNode::Kind::Lockstep || a.counted || b.counted || a.inductionSlot ||
      b.inductionSlot || !a.assignments.empty() || !b.assignments.empty())
    return false;
  if (!(a.exprs == b.exprs) || a.cases != b.cases)
    return false;
  for (auto [bodyA, bodyB] : llvm::zip(a.bodies, b.bodies))
    if (!isSameList(bodyA, bodyB, requests))
      return false;
  return true;
}

static bool isSameList(const TraceList &a, const TraceList &b,
                       DenseMap<unsigned, unsigned> &requests) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [&](const auto &pair) {
           return isSameNode(std::get<0>(pair), std::get<1>(pair), requests);
         });
}

bool coll::isSameTrace(const TraceList &a, const TraceList &b) {
  DenseMap<unsigned, unsigned> requests;
  return isSameList(a, b, requests);
}
