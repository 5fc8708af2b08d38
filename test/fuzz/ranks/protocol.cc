#include "test/fuzz/ranks/protocol.h"

#include "test/fuzz/random.h"

#include <algorithm>

namespace coll::fuzz {
namespace {

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
  std::string source(const Action &action) { return "%x" + str(action.type); }
  std::string futureOf(const Action &action) {
    return action.isSend() ? "!coll.future" : "!coll.future<" + typeOf(action) + ">";
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
      arguments +=
          (arguments.empty() ? "%x" : ", %x") + str(int64_t(type)) + ": " + protocol_.types[type];
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
      const std::vector<Action> carried = segment.getCarried();
      for (const Action &start : carried)
        printAction(start);
      if (segment.trips > 1)
        printLoop(segment, carried);
      else
        printActions(segment);
      for (const Action &start : carried)
        printWait(start.request);
    }
  }

  void printActions(const Segment &segment) {
    for (const Action &action : segment.actions)
      printAction(action);
  }

  void printLoop(const Segment &segment, const std::vector<Action> &carried) {
    std::string bound = constant(segment.trips), result = fresh(), arguments, types;
    variable_ = fresh();
    for (const Action &start : carried) {
      Open &open = open_[size_t(start.request)];
      std::string argument = fresh(), separator = arguments.empty() ? "" : ", ";
      arguments += separator + argument + " = " + open.name;
      types += separator + open.type;
      open.name = argument;
    }
    if (carried.empty())
      line("scf.for " + variable_ + " = %zero to " + bound + " step %one {");
    else
      line(result + ":" + str(int64_t(carried.size())) + " = scf.for " + variable_ +
           " = %zero to " + bound + " step %one iter_args(" + arguments + ") -> (" + types + ") {");
    printActions(segment);
    std::string yielded;
    for (size_t i = 0; i < carried.size(); ++i) {
      Open &open = open_[size_t(carried[i].request)];
      yielded += (i ? ", " : "") + open.name;
      open.name = result + "#" + str(int64_t(i));
    }
    if (!carried.empty())
      line("scf.yield " + yielded + " : " + types);
    line("}");
    variable_.clear();
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
      line("coll.send " + source(action) + " to " + peer + end);
      break;
    case Action::Kind::Recv:
      line(fresh() + " = coll.recv from " + peer + end);
      break;
    case Action::Kind::StartSend:
      open(action, source(action) + ", " + peer + " : " + type + ", index");
      line("^bb0(%a: " + type + ", %p: index):");
      line("  coll.send %a to %p" + end);
      line("  coll.yield");
      line("} : " + futureOf(action));
      break;
    default:
      open(action, peer + " : index");
      line("^bb0(%p: index):");
      line("  %r = coll.recv from %p" + end);
      line("  coll.yield %r : " + type);
      line("} : " + futureOf(action));
    }
  }

  void printAction(const Action &action) {
    if (action.kind == Action::Kind::Wait) {
      printWait(action.request);
    } else if (action.kind == Action::Kind::Reduce) {
      line(fresh() + " = coll.all_reduce sum " + source(action) + " over " + group(action.group) +
           " : " + typeOf(action));
    } else {
      printTransfer(action, printPeer(action));
    }
  }

  // The future of a request.
  struct Open {
    std::string name, type;
    bool hasResult;
  };

  void open(const Action &action, const std::string &sources) {
    open_.resize(std::max(open_.size(), size_t(action.request) + 1));
    open_[size_t(action.request)] = {fresh(), futureOf(action), !action.isSend()};
    line(open_[size_t(action.request)].name + " = coll.start ins(" + sources + ") {");
  }

  void printWait(int request) {
    const Open &open = open_[size_t(request)];
    line((open.hasResult ? fresh() + " = " : "") + "coll.await " + open.name + " : " + open.type);
  }

  const Protocol &protocol_;
  Random random_;
  std::string text_, variable_;
  int next_ = 0, stage_ = 0;
  std::vector<Open> open_; // by request
};

} // namespace

bool Segment::isCarried(const Action &start) const {
  for (const Action &action : actions) {
    if (action.kind == Action::Kind::Wait && action.request == start.request)
      return true;
    if (action.isStart() && action.request == start.request)
      return false;
  }
  return false;
}

std::vector<Action> Segment::getCarried() const {
  std::vector<Action> carried;
  for (const Action &action : actions)
    if (action.isStart() && isCarried(action))
      carried.push_back(action);
  return carried;
}

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
