#include "test/fuzz/programs/program.h"

#include <set>
#include <sstream>

namespace coll::fuzz {

bool isFloat(Dtype dtype) { return dtype <= Dtype::F8E5M2; }

bool isFloat8(Dtype dtype) { return dtype == Dtype::F8E4M3 || dtype == Dtype::F8E5M2; }

bool isUnsigned(Dtype dtype) { return dtype >= Dtype::U64; }

const char *nameOf(Dtype dtype) {
  static constexpr const char *kNames[] = {"f64",    "f32", "f16",  "bf16", "f8E4M3FN",
                                           "f8E5M2", "i64", "i32",  "i16",  "i8",
                                           "i4",     "i1",  "ui64", "ui32", "ui8"};
  return kNames[static_cast<int>(dtype)];
}

int precisionOf(Dtype dtype) {
  static constexpr int kBits[] = {53, 24, 11, 8, 4, 3, 63, 31, 15, 7, 3, 1, 64, 32, 8};
  return kBits[static_cast<int>(dtype)];
}

int64_t Type::numElements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

std::string Type::text() const {
  if (isScalar)
    return nameOf(dtype);
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + nameOf(dtype) + ">";
}

bool Program::isRepeatable() const {
  for (int i = 0; i < numState; ++i) {
    const Facts &in = values[body.args[i]].facts, &out = values[body.results[i]].facts;
    if (!out.isExact() || out.bound > in.bound || out.quantum < in.quantum)
      return false;
  }
  return true;
}

namespace {

class Printer {
public:
  explicit Printer(const Program &program) : program_(program) {}

  std::string print() {
    printMesh();
    out_ << "func.func @step(";
    for (size_t i = 0; i < program_.body.args.size(); ++i)
      printArgument(i);
    out_ << ") -> (";
    for (size_t i = 0; i < program_.body.results.size(); ++i)
      printResult(i);
    out_ << ") {\n";
    for (const Node &node : program_.body.nodes)
      printNode(node, 1);
    out_ << "  return ";
    printList(program_.body.results, &Printer::printName);
    out_ << " : ";
    printList(program_.body.results, &Printer::printType);
    out_ << "\n}\n";
    return out_.str();
  }

private:
  void printName(Id id) { out_ << "%v" << id; }
  void printType(Id id) { out_ << program_.values[id].type.text(); }

  void printList(const std::vector<Id> &ids, void (Printer::*print)(Id)) {
    for (size_t i = 0; i < ids.size(); ++i) {
      out_ << (i ? ", " : "");
      (this->*print)(ids[i]);
    }
  }

  void printShardyMesh() {
    out_ << "\"sdy.mesh\"() <{mesh = #sdy.mesh<[";
    for (size_t i = 0; i < program_.shardyMesh.size(); ++i)
      out_ << (i ? ", \"" : "\"") << program_.shardyMesh[i].name
           << "\"=" << program_.shardyMesh[i].size;
    out_ << "]>, sym_name = \"mesh\"}> : () -> ()\n";
  }

  void printMesh() {
    if (!program_.shardyMesh.empty())
      return printShardyMesh();
    if (program_.mesh.empty())
      return;
    out_ << "coll.mesh @mesh [";
    for (size_t i = 0; i < program_.mesh.size(); ++i)
      out_ << (i ? ", " : "") << '"' << program_.mesh[i].name << "\" = " << program_.mesh[i].size;
    out_ << "]\n";
  }

  void printShardy(const Sharding &sharding) {
    out_ << "sdy.sharding = #sdy.sharding<@mesh, [";
    for (size_t dim = 0; dim < sharding.size(); ++dim)
      out_ << (dim ? ", " : "") << shardyAxes(sharding[dim].axes);
    out_ << "]>";
  }

  void printSharding(const Sharding &sharding) {
    if (!program_.shardyMesh.empty())
      return printShardy(sharding);
    out_ << "coll.sharding = #coll.sharding<@mesh, [";
    for (size_t dim = 0; dim < sharding.size(); ++dim) {
      out_ << (dim ? ", [" : "[");
      for (size_t i = 0; i < sharding[dim].axes.size(); ++i)
        out_ << (i ? ", \"" : "\"") << sharding[dim].axes[i] << '"';
      out_ << ']';
      if (sharding[dim].unit > 1)
        out_ << " unit " << sharding[dim].unit;
    }
    out_ << "]>";
  }

  void printArgument(size_t i) {
    Id id = program_.body.args[i];
    out_ << (i ? ", " : "");
    printName(id);
    out_ << ": ";
    printType(id);
    out_ << " {coll.role = \"" << (int(i) < program_.numState ? "state" : "batch") << '"';
    if (!program_.mesh.empty()) {
      out_ << ", ";
      printSharding(program_.argShardings[i]);
    }
    out_ << '}';
  }

  void printResult(size_t i) {
    out_ << (i ? ", " : "");
    printType(program_.body.results[i]);
    if (!program_.mesh.empty() && i < program_.stateShardings.size()) {
      out_ << " {";
      printSharding(program_.stateShardings[i]);
      out_ << '}';
    }
  }

  void printNode(const Node &node, int depth) {
    out_ << std::string(2 * depth, ' ');
    printList(node.results, &Printer::printName);
    out_ << " = \"" << node.name << "\"(";
    printList(node.operands, &Printer::printName);
    out_ << ")";
    if (!node.attributes.empty())
      out_ << " <{" << node.attributes << "}>";
    for (size_t i = 0; i < node.regions.size(); ++i) {
      out_ << (i ? ", " : " (");
      printRegion(node.regions[i], depth);
    }
    out_ << (node.regions.empty() ? " : (" : ") : (");
    printList(node.operands, &Printer::printType);
    out_ << ") -> (";
    printList(node.results, &Printer::printType);
    out_ << ")\n";
  }

  void printRegion(const Region &region, int depth) {
    std::string indent(2 * depth, ' ');
    out_ << "{\n" << indent << "^bb0(";
    for (size_t i = 0; i < region.args.size(); ++i) {
      out_ << (i ? ", " : "");
      printName(region.args[i]);
      out_ << ": ";
      printType(region.args[i]);
    }
    out_ << "):\n";
    for (const Node &node : region.nodes)
      printNode(node, depth + 1);
    out_ << indent << "  \"" << region.terminator << "\"(";
    printList(region.results, &Printer::printName);
    out_ << ") : (";
    printList(region.results, &Printer::printType);
    out_ << ") -> ()\n" << indent << "}";
  }

  const Program &program_;
  std::ostringstream out_;
};

bool isUsed(const Node &node, const std::set<Id> &used) {
  for (Id id : node.results)
    if (used.count(id))
      return true;
  return false;
}

// Walks backwards, so that one pass finds everything.
void dropUnused(Region &region, std::set<Id> &used) {
  used.insert(region.results.begin(), region.results.end());
  std::vector<Node> kept;
  for (size_t i = region.nodes.size(); i-- > 0;) {
    Node &node = region.nodes[i];
    if (!isUsed(node, used))
      continue;
    used.insert(node.operands.begin(), node.operands.end());
    for (Region &nested : node.regions)
      dropUnused(nested, used);
    kept.push_back(std::move(node));
  }
  region.nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
}

} // namespace

std::string shardyAxes(const std::vector<std::string> &axes, const std::string &more) {
  std::string text;
  for (const std::string &axis : axes) {
    const size_t end = axis.find(':');
    text += (text.empty() ? "\"" : ", \"") + axis.substr(0, end) + "\"";
    if (end != std::string::npos)
      text += axis.substr(end);
  }
  if (!more.empty())
    text += (text.empty() ? "" : ", ") + more;
  return "{" + text + "}";
}

std::string Program::text() const { return Printer(*this).print(); }

void dropUnused(Program &program) {
  std::set<Id> used;
  dropUnused(program.body, used);
  for (size_t i = program.body.args.size(); i-- > size_t(program.numState);) {
    if (used.count(program.body.args[i]))
      continue;
    program.body.args.erase(program.body.args.begin() + long(i));
    if (i < program.argShardings.size())
      program.argShardings.erase(program.argShardings.begin() + long(i));
  }
}

} // namespace coll::fuzz
