#include "test/fuzz/ranks/compiled.h"

#include "compiler/error.h"
#include "dialect/dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

#include <map>

namespace coll::fuzz {
namespace {

using namespace mlir::coll;
using Kind = Action::Kind;

class Reader {
public:
  explicit Reader(mlir::ModuleOp module) : module_(module) {}

  llvm::Expected<Protocol> read() {
    for (MeshOp mesh : module_.getOps<MeshOp>())
      mesh_ = mesh;
    if (!mesh_ || mesh_.getAxisNames().empty())
      return run::makeError("has no mesh");
    protocol_.types.clear();
    protocol_.stages = int(mesh_.getAxisSizes()[0]);
    protocol_.replicas = int(mesh_.getNumRanks()) / protocol_.stages;
    for (auto program : module_.getOps<ProgramOp>())
      if (llvm::Error error = readProgram(program))
        return error;
    if (int(protocol_.classes.size()) != protocol_.stages)
      return run::makeError("has no program for each stage");
    for (int rank = 0; rank < protocol_.numRanks(); ++rank)
      protocol_.classOf.push_back(rank % protocol_.stages);
    protocol_.numTags = int(tags_.size());
    return std::move(protocol_);
  }

private:
  llvm::Error readProgram(ProgramOp program) {
    actions_.clear();
    requests_.clear();
    auto step = program.lookupSymbol<mlir::func::FuncOp>(kStepFunction);
    if (!step)
      return run::makeError("a program has no @step");
    for (mlir::Operation &op : step.getBody().front())
      if (llvm::Error error = readOp(&op))
        return error;
    protocol_.classes.push_back({Segment{1, actions_}});
    return llvm::Error::success();
  }

  llvm::Error readOp(mlir::Operation *op) {
    if (auto start = llvm::dyn_cast<StartOp>(op)) {
      auto sends = start.getBody().getOps<SendOp>();
      if (sends.empty() || start.getSources().size() != 2)
        return run::makeError("starts something else than a send");
      const int request = int(requests_.size());
      requests_[start.getFuture()] = request;
      return addTransfer(Kind::StartSend, start.getSources()[1], (*sends.begin()).getTag(),
                         start.getSources()[0].getType(), request);
    }
    if (auto await = llvm::dyn_cast<AwaitOp>(op)) {
      Action action{Kind::Wait};
      action.request = requests_.lookup(await.getFuture());
      actions_.push_back(action);
      return llvm::Error::success();
    }
    if (auto send = llvm::dyn_cast<SendOp>(op))
      return addTransfer(Kind::Send, send.getPeer(), send.getTag(), send.getInput().getType(), 0);
    if (auto recv = llvm::dyn_cast<RecvOp>(op))
      return addTransfer(Kind::Recv, recv.getPeer(), recv.getTag(), recv.getType(), 0);
    if (auto reduce = llvm::dyn_cast<AllReduceOp>(op))
      return addReduce(reduce);
    bool communicates = false;
    op->walk([&](CollectiveOpInterface) { communicates = true; });
    return communicates ? run::makeError("has an operation that is not modelled: " +
                                         op->getName().getStringRef())
                        : llvm::Error::success();
  }

  llvm::Error addTransfer(Kind kind, mlir::Value peer, int64_t tag, mlir::Type type, int request) {
    llvm::APInt position;
    if (!mlir::matchPattern(peer, mlir::m_ConstantInt(&position)))
      return run::makeError("has a peer that is computed");
    Action action{kind};
    action.peer = int(position.getSExtValue());
    action.tag = tags_.try_emplace(tag, int(tags_.size())).first->second;
    action.type = typeOf(type);
    action.request = request;
    actions_.push_back(action);
    return llvm::Error::success();
  }

  /// Over the replicas: every axis but that of the stages.
  llvm::Error addReduce(AllReduceOp reduce) {
    GroupAttr group = reduce.getGroupAttr();
    const bool isOverStages = llvm::is_contained(group.getAxes(), mesh_.getAxisNames()[0]);
    if (!group.isMesh() || isOverStages ||
        group.getAxes().size() + 1 != mesh_.getAxisNames().size())
      return run::makeError("reduces over a group that is not modelled");
    Action action{Kind::Reduce};
    action.group = 1;
    action.type = typeOf(reduce.getType());
    actions_.push_back(action);
    return llvm::Error::success();
  }

  int typeOf(mlir::Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    auto found = llvm::find(protocol_.types, text);
    if (found == protocol_.types.end())
      found = protocol_.types.insert(found, text);
    return int(found - protocol_.types.begin());
  }

  mlir::ModuleOp module_;
  MeshOp mesh_;
  Protocol protocol_;
  std::vector<Action> actions_;
  llvm::DenseMap<mlir::Value, int> requests_; // by future
  std::map<int64_t, int> tags_;
};

} // namespace

llvm::Expected<Protocol> readProtocol(mlir::ModuleOp module) { return Reader(module).read(); }

} // namespace coll::fuzz
