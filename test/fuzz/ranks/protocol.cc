#include "test/fuzz/ranks/protocol.h"

#include "test/fuzz/random.h"

#include <algorithm>

namespace coll::fuzz {
namespace {

constexpr int kBuffers = 3;

std::string str(int64_t number) { return std::to_string(number); }

class Printer {
public:
  explicit Printer(const Protocol &protocol) : protocol_(protocol), random_(protocol.spelling) {}

  std::string print() {
    text_ = "coll.mesh @m [\"dp\" = " + str(protocol_.replicas) +
            ", \"pp\" = " + str(protocol_.stages) + "]\n";
    if (protocol_.isOneProgram)
      printOneProgram();
    else
      for (size_t i = 0; i < protocol_.classes.size(); ++i)
        printProgram(int(i));
    return std::move(text_);
  }

private:
  void line(const std::string &words) { text_ += words + "\n"; }
  std::string fresh() { return "%v" + str(next_++); }
  std::string constant(int64_t value) {
    std::string name = fresh();
    line(name + " = arith.constant " + str(value) + " : index");
    return name;
  }
  const std::string &typeOf(const Action &action) { return protocol_.types[size_t(action.type)]; }
  std::string buffer(const Action &action) {
    return "%b" + str(action.buffer) + "_" + str(action.type);
  }
  std::string group(int number) {
    const char *axes[] = {"\"pp\"", "\"dp\"", "\"dp\", \"pp\""};
    return std::string("@m[") + axes[number] + "]";
  }

  void printProgram(int number) {
    std::string ranks;
    for (int rank = 0; rank < protocol_.numRanks(); ++rank)
      if (protocol_.classOf[size_t(rank)] == number)
        ranks += (ranks.empty() ? "" : ", ") + str(rank);
    if (!protocol_.hasRanks(number))
      return;
    line("coll.program @class" + str(number) + " ranks [" + ranks + "] {");
    printFunction([&] { printClass(number); });
    line("}");
  }

  void printOneProgram() {
    printFunction([&] {
      extract("%class", {protocol_.classOf.begin(), protocol_.classOf.end()}, "%rank");
      line("scf.index_switch %class");
      for (size_t i = 0; i < protocol_.classes.size(); ++i) {
        // Buffers in flight are looked at in code that nothing runs, too.
        if (!protocol_.hasRanks(int(i)))
          continue;
        line("case " + str(int64_t(i)) + " {");
        printClass(int(i));
        line("  scf.yield");
        line("}");
      }
      line("default {");
      line("}");
    });
  }

  template <typename Body>
  void printFunction(Body body) {
    std::string arguments;
    for (size_t type = 0; type < protocol_.types.size(); ++type)
      for (int i = 0; i < kBuffers; ++i)
        arguments += (arguments.empty() ? "%b" : ", %b") + str(i) + "_" + str(int64_t(type)) +
                     ": " + protocol_.types[type];
    line("func.func @step(" + arguments + ") {");
    line("%rank = coll.rank");
    line("%stage = coll.axis_index @m[\"pp\"]");
    line("%zero = arith.constant 0 : index");
    line("%one = arith.constant 1 : index");
    body();
    line("return");
    line("}");
  }

  void printClass(int number) {
    stage_ = protocol_.stageOf(number);
    for (const Segment &segment : protocol_.classes[size_t(number)]) {
      if (segment.trips > 1) {
        std::string bound = constant(segment.trips);
        variable_ = fresh();
        line("scf.for " + variable_ + " = %zero to " + bound + " step %one {");
      }
      for (const Action &action : segment.actions)
        printAction(action);
      if (segment.trips > 1) {
        line("}");
        variable_.clear();
      }
    }
  }

  void extract(const std::string &name, const std::vector<int64_t> &entries,
               const std::string &index) {
    std::string table = fresh(), list;
    for (int64_t entry : entries)
      list += (list.empty() ? "" : ", ") + str(entry);
    std::string type = "tensor<" + str(int64_t(entries.size())) + "xindex>";
    line(table + " = arith.constant dense<[" + list + "]> : " + type);
    line(name + " = tensor.extract " + table + "[" + index + "] : " + type);
  }

  // The same position or rank in one of many spellings.
  std::string printPeer(const Action &action) {
    std::string name = fresh();
    if (protocol_.peers == Protocol::Peers::Ranks && action.cross != 0) {
      std::vector<int64_t> names;
      for (int rank = 0; rank < protocol_.numRanks(); ++rank)
        names.push_back(protocol_.nameOf(rank, action));
      extract(name, names, "%rank");
      return name;
    }
    if (protocol_.peers == Protocol::Peers::Ranks) {
      std::string offset = constant(action.peer - stage_);
      line(name + " = arith.addi %rank, " + offset + " : index");
      return name;
    }
    int64_t spelling = random_.below(4);
    if (spelling == 0)
      return constant(action.peer);
    if (spelling == 1) {
      std::string offset = constant(action.peer - stage_);
      line(name + " = arith.addi %stage, " + offset + " : index");
    } else if (spelling == 2) {
      std::vector<int64_t> names;
      for (int i = 0; i < protocol_.stages; ++i)
        names.push_back(i == stage_ ? action.peer : random_.below(protocol_.stages));
      extract(name, names, "%stage");
    } else if (variable_.empty()) {
      return constant(action.peer);
    } else {
      // Seems to depend on the round.
      std::string nothing = fresh(), peer = constant(action.peer);
      line(nothing + " = arith.muli " + variable_ + ", %zero : index");
      line(name + " = arith.addi " + peer + ", " + nothing + " : index");
    }
    return name;
  }

  void printTransfer(const Action &action, const std::string &peer) {
    std::string type = typeOf(action);
    std::string end = " tag " + str(action.tag) + " over " +
                      group(protocol_.peers == Protocol::Peers::Positions ? 0 : 2) + " : " + type;
    switch (action.kind) {
    case Action::Kind::Send:
      line("coll.send " + buffer(action) + " to " + peer + end);
      break;
    case Action::Kind::Recv:
      line(fresh() + " = coll.recv from " + peer + end);
      break;
    case Action::Kind::StartSend:
      open(action, "ins(" + buffer(action) + ", " + peer + " : " + type + ", index)");
      line("^bb0(%a: " + type + ", %p: index):");
      line("  coll.send %a to %p" + end);
      line("  coll.yield");
      line("}");
      break;
    default:
      open(action, "ins(" + peer + " : index) outs(" + buffer(action) + " : " + type + ")");
      line("^bb0(%p: index):");
      line("  %r = coll.recv from %p" + end);
      line("  coll.yield %r : " + type);
      line("}");
    }
  }

  void printAction(const Action &action) {
    if (action.kind == Action::Kind::Wait) {
      const Open &open = open_[size_t(action.request)];
      line((open.hasResult ? fresh() + " = " : "") + "coll.wait " + open.name + " " +
           open.operands);
    } else if (action.kind == Action::Kind::Reduce) {
      line(fresh() + " = coll.all_reduce sum " + buffer(action) + " over " + group(action.group) +
           " : " + typeOf(action));
    } else {
      printTransfer(action, printPeer(action));
    }
  }

  struct Open {
    std::string name, operands;
    bool hasResult;
  };

  void open(const Action &action, const std::string &operands) {
    open_.resize(std::max(open_.size(), size_t(action.request) + 1));
    open_[size_t(action.request)] = {fresh(), operands, !action.isSend()};
    line(open_[size_t(action.request)].name + " = coll.start " + operands + " {");
  }

  const Protocol &protocol_;
  Random random_;
  std::string text_, variable_;
  int next_ = 0, stage_ = 0;
  std::vector<Open> open_; // by request
};

} // namespace

bool Protocol::hasRanks(int number) const {
  return std::find(classOf.begin(), classOf.end(), number) != classOf.end();
}

int Protocol::stageOf(int number) const {
  for (int rank = 0; rank < numRanks(); ++rank)
    if (classOf[size_t(rank)] == number)
      return rank % stages;
  return 0;
}

int Protocol::nameOf(int rank, const Action &action) const {
  if (peers == Peers::Positions)
    return action.peer;
  if (action.cross == 0)
    return rank + action.peer - rank % stages;
  int replica = crossing[action.cross - 1][size_t(rank / stages)];
  return replica * stages + action.peer;
}

int Protocol::peerOf(int rank, const Action &action) const {
  int name = nameOf(rank, action);
  bool isPosition = peers == Peers::Positions;
  int peer = isPosition ? rank / stages * stages + name : name;
  return name >= 0 && name < (isPosition ? stages : numRanks()) && peer != rank ? peer : -1;
}

std::string Protocol::text() const { return Printer(*this).print(); }

} // namespace coll::fuzz
