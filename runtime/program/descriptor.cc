// Parsing and checking of a program's descriptor (Descriptor::parse).

#include "runtime/base/dtype.h"
#include "runtime/program/program.h"
#include "runtime/program/shard.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

namespace coll::rt {

namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxRanks = int64_t(1) << 24;
constexpr int64_t kMaxUnit = std::numeric_limits<int32_t>::max();

// Finds where a text stops being JSON; only used for the error message.
struct SyntaxProbe : nlohmann::json_sax<Json> {
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t &) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t at, const std::string &, const Json::exception &) override {
    position = at;
    return false;
  }
  std::size_t position = 0;
};

// Reads fields of JSON values. Keeps the first error, with the path to it; afterwards all reads
// return defaults.
class Reader {
public:
  bool ok() const { return error_.empty(); }
  const std::string &error() const { return error_; }

  void fail(const std::string &path, const std::string &what) {
    if (error_.empty())
      error_ = path + ": " + what;
  }

  // The field, or null (no failure) if it is absent or JSON's null.
  const Json *find(const Json &object, const char *key) const {
    if (!object.is_object())
      return nullptr;
    auto it = object.find(key);
    return it == object.end() || it->is_null() ? nullptr : &*it;
  }

  int64_t integer(const Json &value, const std::string &path, int64_t min, int64_t max) {
    bool fits = value.is_number_integer() &&
                (!value.is_number_unsigned() ||
                 value.get<uint64_t>() <= uint64_t(std::numeric_limits<int64_t>::max()));
    int64_t number = fits ? value.get<int64_t>() : 0;
    if (fits && number >= min && number <= max)
      return number;
    fail(path, "expected an integer from " + std::to_string(min) + " to " + std::to_string(max));
    return min;
  }

  int64_t integerField(const Json &object, const char *key, const std::string &path,
                       int64_t defaultValue, int64_t min, int64_t max) {
    const Json *value = find(object, key);
    return value ? integer(*value, path + "." + key, min, max) : defaultValue;
  }

  std::string string(const Json &value, const std::string &path) {
    if (value.is_string())
      return *value.get_ptr<const Json::string_t *>();
    fail(path, "expected a string");
    return {};
  }

  std::string stringField(const Json &object, const char *key, const std::string &path) {
    const Json *value = find(object, key);
    return value ? string(*value, path + "." + key) : std::string();
  }

  // Calls visit(element, path of it) for each element of an array.
  template <typename Visit>
  void array(const Json &value, const std::string &path, Visit visit) {
    if (!value.is_array())
      return fail(path, "expected an array");
    size_t i = 0;
    for (const Json &element : value) {
      if (!ok())
        return;
      visit(element, path + "[" + std::to_string(i++) + "]");
    }
  }

  template <typename Visit>
  void arrayField(const Json &object, const char *key, const std::string &path, bool required,
                  Visit visit) {
    if (const Json *value = find(object, key))
      array(*value, path.empty() ? key : path + "." + key, visit);
    else if (required)
      fail(path.empty() ? key : path + "." + key, "missing");
  }

private:
  std::string error_;
};

class DescriptorParser {
public:
  Result<Descriptor> parse(const Json &root) {
    if (!root.is_object())
      in_.fail("descriptor", "expected an object");
    int64_t abi = in_.integerField(root, "abi", "descriptor", 0, 0, 1 << 30);
    if (in_.ok() && abi != kCollAbiVersion)
      in_.fail("abi", "this runtime has version " + std::to_string(kCollAbiVersion) +
                          ", the program was compiled for " + std::to_string(abi));
    out_.name = in_.stringField(root, "name", "descriptor");
    readMesh(root);
    readRanks(root);
    in_.arrayField(root, "groups", "", false,
                   [&](const Json &v, const std::string &path) { readGroup(v, path); });
    in_.arrayField(root, "ops", "", false,
                   [&](const Json &v, const std::string &path) { readOp(v, path); });
    in_.arrayField(root, "args", "", true, [&](const Json &v, const std::string &path) {
      out_.args.push_back(readTensor(v, path));
    });
    in_.arrayField(root, "results", "", true,
                   [&](const Json &v, const std::string &path) { readResult(v, path); });
    out_.arenaBytes = in_.integerField(root, "arena_bytes", "descriptor", 0, 0,
                                       std::numeric_limits<int64_t>::max() / 2);
    if (!in_.ok())
      return Status::invalid("program descriptor: " + in_.error());
    return std::move(out_);
  }

private:
  void readMesh(const Json &root) {
    const Json *mesh = in_.find(root, "mesh");
    if (!mesh)
      return; // a program of one rank
    out_.meshName = in_.stringField(*mesh, "name", "mesh");
    int64_t ranks = 1;
    in_.arrayField(*mesh, "axes", "mesh", true, [&](const Json &value, const std::string &path) {
      MeshAxis axis;
      axis.name = in_.stringField(value, "name", path);
      axis.size = in_.integerField(value, "size", path, 0, 1, kMaxRanks);
      if (axis.name.empty() || axis.size < 1)
        return in_.fail(path, "an axis needs a name and a size");
      if (findAxis(axis.name))
        return in_.fail(path, "axis \"" + axis.name + "\" occurs twice");
      ranks *= axis.size; // stays below 2^48
      if (ranks > kMaxRanks)
        return in_.fail(path, "more than 2^24 ranks");
      out_.axes.push_back(std::move(axis));
    });
  }

  const MeshAxis *findAxis(const std::string &name) const {
    for (const MeshAxis &axis : out_.axes)
      if (axis.name == name)
        return &axis;
    return nullptr;
  }

  void readRanks(const Json &root) {
    int64_t numRanks = out_.numRanks();
    in_.arrayField(root, "ranks", "", true, [&](const Json &value, const std::string &path) {
      std::vector<int64_t> ends;
      in_.array(value, path, [&](const Json &v, const std::string &p) {
        ends.push_back(in_.integer(v, p, 0, numRanks - 1));
      });
      if (in_.ok() && (ends.size() != 2 || ends[0] > ends[1]))
        return in_.fail(path, "expected [first, last]");
      if (in_.ok())
        out_.ranks.emplace_back(static_cast<int>(ends[0]), static_cast<int>(ends[1]));
    });
    std::vector<std::pair<int, int>> sorted = out_.ranks;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 1; i < sorted.size(); ++i)
      if (sorted[i].first <= sorted[i - 1].second)
        in_.fail("ranks", "rank " + std::to_string(sorted[i].first) + " occurs twice");
    if (sorted.empty())
      in_.fail("ranks", "no rank runs this program");
  }

  void readGroup(const Json &value, const std::string &path) {
    GroupLists lists;
    std::set<int64_t> seen;
    int64_t numRanks = out_.numRanks();
    in_.array(value, path, [&](const Json &list, const std::string &listPath) {
      lists.emplace_back();
      in_.array(list, listPath, [&](const Json &v, const std::string &p) {
        int64_t rank = in_.integer(v, p, 0, numRanks - 1);
        if (in_.ok() && !seen.insert(rank).second)
          in_.fail(p, "rank " + std::to_string(rank) + " occurs twice");
        lists.back().push_back(static_cast<int>(rank));
      });
      if (lists.back().empty())
        in_.fail(listPath, "an empty list of ranks");
    });
    out_.groups.push_back(std::move(lists));
  }

  void readOp(const Json &value, const std::string &path) {
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
    if (!value.is_object())
      return in_.fail(path, "expected an object");
    OpInfo op;
    op.kind = in_.stringField(value, "kind", path);
    op.loc = in_.stringField(value, "loc", path);
    op.name = in_.stringField(value, "name", path);
    op.bytes = in_.integerField(value, "bytes", path, 0, -1, kMax);
    op.count = in_.integerField(value, "count", path, 0, -1, kMax);
    op.dtype = in_.stringField(value, "dtype", path);
    op.reduction = in_.stringField(value, "reduction", path);
    op.group = static_cast<int>(in_.integerField(value, "group", path, -1, -1,
                                                 static_cast<int64_t>(out_.groups.size()) - 1));
    op.why = in_.stringField(value, "why", path);
    op.isInit = in_.stringField(value, "function", path) == "init";
    out_.ops.push_back(std::move(op));
  }

  std::vector<int64_t> readShape(const Json &object, const char *key, const std::string &path,
                                 bool required) {
    std::vector<int64_t> shape;
    in_.arrayField(object, key, path, required, [&](const Json &v, const std::string &p) {
      shape.push_back(in_.integer(v, p, 0, std::numeric_limits<int64_t>::max() / 8));
    });
    if (in_.ok() && !numElements(shape))
      in_.fail(path + "." + key, "too many elements");
    return shape;
  }

  TensorInfo readTensor(const Json &value, const std::string &path) {
    TensorInfo info;
    if (!value.is_object()) {
      in_.fail(path, "expected an object");
      return info;
    }
    info.name = in_.stringField(value, "name", path);
    info.role = in_.stringField(value, "role", path);
    std::string dtype = in_.stringField(value, "dtype", path);
    if (std::optional<CollDtype> parsed = parseDtype(dtype))
      info.dtype = *parsed;
    else
      in_.fail(path + ".dtype", "unknown element type \"" + dtype + "\"");
    info.shape = readShape(value, "shape", path, true);
    info.local = in_.find(value, "local") ? readShape(value, "local", path, true) : info.shape;
    readSharding(value, path, info);
    if (in_.ok())
      checkLocalShape(info, path);
    return info;
  }

  void readSharding(const Json &value, const std::string &path, TensorInfo &info) {
    std::set<std::string> used;
    in_.arrayField(value, "sharding", path, false, [&](const Json &dim, const std::string &p) {
      DimSharding sharding;
      in_.arrayField(dim, "axes", p, true, [&](const Json &axis, const std::string &axisPath) {
        std::string name = in_.string(axis, axisPath);
        if (!findAxis(name))
          return in_.fail(axisPath, "the mesh has no axis \"" + name + "\"");
        if (!used.insert(name).second)
          return in_.fail(axisPath, "axis \"" + name + "\" occurs twice");
        sharding.axes.push_back(std::move(name));
      });
      sharding.unit = in_.integerField(dim, "unit", p, 1, 1, kMaxUnit);
      info.sharding.push_back(std::move(sharding));
    });
    if (info.sharding.empty())
      info.sharding.resize(info.shape.size());
    if (in_.ok() && info.sharding.size() != info.shape.size())
      in_.fail(path + ".sharding", "expected one entry per dimension");
  }

  void checkLocalShape(const TensorInfo &info, const std::string &path) {
    if (info.local.size() != info.shape.size())
      return in_.fail(path + ".local", "expected as many dimensions as the shape has");
    std::vector<BlockRange> blocks = blocksOf(info, out_.axes, 0);
    for (size_t d = 0; d < blocks.size(); ++d)
      if (blocks[d].extent != info.local[d])
        in_.fail(path + ".local[" + std::to_string(d) + "]",
                 "the sharding gives blocks of " + std::to_string(blocks[d].extent) + ", not " +
                     std::to_string(info.local[d]));
  }

  void readResult(const Json &value, const std::string &path) {
    TensorInfo info = readTensor(value, path);
    info.arg = static_cast<int>(
        in_.integerField(value, "arg", path, -1, -1, static_cast<int64_t>(out_.args.size()) - 1));
    if (in_.ok() && info.arg >= 0) {
      const TensorInfo &arg = out_.args[static_cast<size_t>(info.arg)];
      if (arg.dtype != info.dtype || arg.local != info.local || arg.shape != info.shape)
        in_.fail(path + ".arg",
                 "the result has not the type of argument " + std::to_string(info.arg));
      for (const TensorInfo &other : out_.results)
        if (other.arg == info.arg)
          in_.fail(path + ".arg", "another result updates this argument");
    }
    out_.results.push_back(std::move(info));
  }

  Reader in_;
  Descriptor out_;
};

} // namespace

Result<Descriptor> Descriptor::parse(std::string_view text) {
  Json root = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded()) {
    SyntaxProbe probe;
    Json::sax_parse(text.begin(), text.end(), &probe);
    return Status::invalid("program descriptor: no valid JSON near byte " +
                           std::to_string(probe.position));
  }
  return DescriptorParser().parse(root);
}

} // namespace coll::rt
