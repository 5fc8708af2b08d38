// Parsing and checking of a program's descriptor and of its table of GPU kernels.

#include "runtime/base/dtype.h"
#include "runtime/program/json_reader.h"
#include "runtime/program/program.h"
#include "runtime/program/shard.h"

#include <algorithm>
#include <limits>
#include <set>

namespace coll::rt {

namespace {

constexpr int64_t kMaxRanks = int64_t(1) << 24;
constexpr int64_t kMaxTensors = 1 << 24;
constexpr int64_t kMaxUnit = std::numeric_limits<int32_t>::max();

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
    readDevice(root);
    readMesh(root);
    readRanks(root);
    in_.arrayField(root, "groups", "", false,
                   [&](const Json &v, const std::string &path) { readGroup(v, path); });
    out_.reached = static_cast<int>(in_.integerField(root, "reached", "descriptor", -1, -1,
                                                     static_cast<int64_t>(out_.groups.size()) - 1));
    in_.arrayField(root, "ops", "", false,
                   [&](const Json &v, const std::string &path) { readOp(v, path); });
    in_.arrayField(root, "computations", "", false, [&](const Json &v, const std::string &path) {
      out_.computations.push_back({in_.stringField(v, "kind", path),
                                   in_.stringField(v, "loc", path),
                                   in_.stringField(v, "name", path)});
    });
    in_.arrayField(root, "args", "", true, [&](const Json &v, const std::string &path) {
      out_.args.push_back(readTensor(v, path));
      readIndex(v, path, out_.args);
    });
    in_.arrayField(root, "results", "", true,
                   [&](const Json &v, const std::string &path) { readResult(v, path); });
    if (in_.ok())
      readStates();
    out_.arenaBytes = in_.integerField(root, "arena_bytes", "descriptor", 0, 0,
                                       std::numeric_limits<int64_t>::max() / 2);
    readLargest(root);
    if (!in_.ok())
      return Status::invalid("program descriptor: " + in_.error());
    return std::move(out_);
  }

private:
  void readLargest(const Json &root) {
    const Json *largest = in_.find(root, "largest_temporary");
    if (!largest)
      return; // the table is only used in messages
    const char *path = "largest_temporary";
    out_.largestTemporary.bytes =
        in_.integerField(*largest, "bytes", path, 0, 0, std::numeric_limits<int64_t>::max() / 2);
    out_.largestTemporary.loc = in_.stringField(*largest, "loc", path);
    out_.largestTemporary.name = in_.stringField(*largest, "name", path);
  }

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

  // The last of `tensors` has just been read. Numbers ascend, so that classes agree in the order.
  void readIndex(const Json &value, const std::string &path, std::vector<TensorInfo> &tensors) {
    const int64_t place = static_cast<int64_t>(tensors.size()) - 1;
    const int64_t index = in_.integerField(value, "index", path, place, 0, kMaxTensors);
    if (in_.ok() && place > 0 && index <= tensors[static_cast<size_t>(place) - 1].index)
      in_.fail(path + ".index", "is not above the one before");
    tensors.back().index = static_cast<int>(index);
    isPart_ |= in_.find(value, "index") != nullptr;
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
    readParts(value, path, info);
    return info;
  }

  void readParts(const Json &value, const std::string &path, TensorInfo &info) {
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max() / 8;
    const int64_t elements = numElements(info.shape).value_or(0);
    int64_t position = 0;
    info.isInternal = in_.find(value, "parts") != nullptr;
    in_.arrayField(value, "parts", path, false, [&](const Json &v, const std::string &p) {
      StatePart part;
      part.name = in_.stringField(v, "name", p);
      part.shape = readShape(v, "shape", p, true);
      part.state = in_.integerField(v, "state", p, -1, 0, kMax);
      part.offset = in_.integerField(v, "offset", p, -1, 0, kMax);
      int64_t length = numElements(part.shape).value_or(0);
      if (in_.ok() && (!info.isState() || part.offset < position || length > elements ||
                       part.offset > elements - length))
        return in_.fail(p, "parts must lie within a state argument, in order and without overlap");
      position = part.offset + length;
      info.parts.push_back(std::move(part));
    });
    info.isInternal &= info.parts.empty();
    if (in_.ok() && info.isInternal && !info.isState())
      in_.fail(path + ".parts", "only a state argument can have parts");
  }

  // A class of ranks has some of the step's states; class_check.h in runtime/step joins the lists
  // of all classes.
  void readStates() {
    if (isPart_)
      return;
    Result<std::vector<StateInfo>> states = listStates(out_.args);
    if (states)
      out_.states = states.take();
    else
      in_.fail("args", states.status().message());
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
                 "the result does not have the type of argument " + std::to_string(info.arg));
      for (const TensorInfo &other : out_.results)
        if (other.arg == info.arg)
          in_.fail(path + ".arg", "another result updates this argument");
    }
    out_.results.push_back(std::move(info));
    readIndex(value, path, out_.results);
  }

  void readDevice(const Json &root) {
    const std::string device = in_.stringField(root, "device", "descriptor");
    if (device != "gpu" && device != "cpu" && !device.empty())
      in_.fail("device", "expected \"cpu\" or \"gpu\"");
    out_.isOnGpu = device == "gpu";
  }

  JsonReader in_;
  Descriptor out_;
  bool isPart_ = false; // the tensors are numbered, because other classes have other tensors
};

// The limits of grids and blocks on every GPU: [x, y, z].
constexpr int64_t kMaxGrid[3] = {std::numeric_limits<int32_t>::max(), 65535, 65535};
constexpr int64_t kMaxBlock[3] = {1024, 1024, 64};
constexpr int64_t kMaxThreads = 1024;
constexpr int64_t kMaxShared = int64_t(1) << 20;

// [x, y, z], or x alone.
void readExtents(JsonReader &in, const Json &kernel, const char *key, const std::string &path,
                 const int64_t (&most)[3], unsigned (&extents)[3]) {
  const Json *value = in.find(kernel, key);
  const std::string place = path + "." + key;
  if (!value)
    return in.fail(place, "missing");
  if (!value->is_array()) {
    extents[0] = static_cast<unsigned>(in.integer(*value, place, 1, most[0]));
    return;
  }
  size_t d = 0;
  in.array(*value, place, [&](const Json &extent, const std::string &p) {
    if (d == 3)
      return in.fail(p, "expected three extents");
    extents[d] = static_cast<unsigned>(in.integer(extent, p, 1, most[d]));
    ++d;
  });
}

GpuKernel readKernel(JsonReader &in, const Json &value, const std::string &path) {
  GpuKernel kernel;
  if (!value.is_object()) {
    in.fail(path, "expected an object");
    return kernel;
  }
  kernel.name = in.stringField(value, "name", path);
  if (kernel.name.empty())
    in.fail(path + ".name", "missing");
  readExtents(in, value, "grid", path, kMaxGrid, kernel.grid);
  readExtents(in, value, "block", path, kMaxBlock, kernel.block);
  if (int64_t{kernel.block[0]} * kernel.block[1] * kernel.block[2] > kMaxThreads)
    in.fail(path + ".block", "more than 1024 threads");
  kernel.sharedBytes =
      static_cast<unsigned>(in.integerField(value, "shared", path, 0, 0, kMaxShared));
  kernel.loc = in.stringField(value, "loc", path);
  return kernel;
}

} // namespace

Result<Descriptor> Descriptor::parse(std::string_view text) {
  Result<Json> root = parseJson(text, "program descriptor");
  if (!root)
    return root.status();
  return DescriptorParser().parse(*root);
}

Result<std::vector<GpuKernel>> GpuKernel::parse(std::string_view text) {
  Result<Json> root = parseJson(text, "GPU kernels");
  if (!root)
    return root.status();
  JsonReader in;
  std::vector<GpuKernel> kernels;
  in.array(*root, "kernels", [&](const Json &value, const std::string &path) {
    kernels.push_back(readKernel(in, value, path));
  });
  if (!in.ok())
    return Status::invalid("GPU kernels: " + in.error());
  return kernels;
}

} // namespace coll::rt
