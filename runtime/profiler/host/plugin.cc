#include "runtime/profiler/host/plugin.h"

#include "runtime/base/log.h"
#include "runtime/profiler/host/translate.h"

#include <algorithm>
#include <atomic>

namespace coll::profiler {

using rt::LogLevel;
using rt::Result;
using rt::Status;
namespace dl = rt::dl;

namespace {

template <int kVersion>
struct Abi;
template <>
struct Abi<2> {
  using Table = abi::ProfilerV2;
  using Descriptor = abi::EventDescriptorV2;
  static constexpr char kSymbol[] = "ncclProfiler_v2";
};
template <>
struct Abi<3> {
  using Table = abi::ProfilerV3;
  using Descriptor = abi::EventDescriptorV3;
  static constexpr char kSymbol[] = "ncclProfiler_v3";
};
template <>
struct Abi<4> {
  using Table = abi::ProfilerV4;
  using Descriptor = abi::EventDescriptorV4;
  static constexpr char kSymbol[] = "ncclProfiler_v4";
};
template <>
struct Abi<5> {
  using Table = abi::ProfilerV5;
  using Descriptor = abi::EventDescriptorV5;
  static constexpr char kSymbol[] = "ncclProfiler_v5";
};
template <>
struct Abi<6> {
  using Table = abi::ProfilerV6;
  using Descriptor = abi::EventDescriptorV6;
  static constexpr char kSymbol[] = "ncclProfiler_v6";
};
template <>
struct Abi<7> {
  using Table = abi::ProfilerV7;
  using Descriptor = abi::EventDescriptorV7;
  static constexpr char kSymbol[] = "ncclProfiler_v7";
};

template <int kVersion>
class VersionedPlugin final : public Plugin {
public:
  using Table = typename Abi<kVersion>::Table;

  VersionedPlugin(const dl::Library &library, const Table &table)
      : Plugin(table.name, kVersion), library_(library), table_(table) {}

  bool init(void **context, int *mask, const CommunicatorInfo &info) override {
    abi::NcclResult result = abi::kNcclInternalError;
    guarded([&] {
      if constexpr (kVersion < 4)
        result = table_.init(context, mask);
      else if constexpr (kVersion == 4)
        result = table_.init(context, mask, info.name, info.id, info.numNodes, info.numRanks,
                             info.rank, info.logger);
      else
        result = table_.init(context, info.id, mask, info.name, info.numNodes, info.numRanks,
                             info.rank, info.logger);
    });
    return result == abi::kNcclSuccess;
  }

  void *start(void *context, const abi::EventDescriptorV7 &event) override {
    void *handle = nullptr;
    typename Abi<kVersion>::Descriptor descriptor;
    if (!lower(event, descriptor))
      return nullptr;
    // If a plugin fails, the handle that it has written is ignored.
    abi::NcclResult result = abi::kNcclInternalError;
    guarded([&] { result = table_.startEvent(context, &handle, &descriptor); });
    return result == abi::kNcclSuccess ? handle : nullptr;
  }

  void stop(void *handle) override {
    guarded([&] { (void)table_.stopEvent(handle); });
  }

  void record(void *handle, abi::EventState state, const abi::StateArgsV7 &args) override {
    if (!hasState(kVersion, state))
      return;
    guarded([&] {
      if constexpr (kVersion < 4) {
        abi::StateArgsV2 lowered = lowerArgs(state, args);
        (void)table_.recordEventState(handle, state, &lowered);
      } else {
        abi::StateArgsV7 own = args;
        (void)table_.recordEventState(handle, state, &own);
      }
    });
  }

  void finalize(void *context) override {
    guarded([&] { (void)table_.finalize(context); });
  }

private:
  template <typename Call>
  void guarded(Call call) {
    if (hasThrown_.load(std::memory_order_relaxed))
      return;
    try {
      call();
    } catch (...) {
      if (!hasThrown_.exchange(true))
        rt::log(LogLevel::Warn, "profiler plugin " + name() +
                                    " has thrown an exception; it is not called any more");
    }
  }

  const dl::Library library_; // stays loaded: plugins may leave threads behind
  const Table table_;
  std::atomic<bool> hasThrown_{false};
};

template <typename Table>
bool isComplete(const Table &table) {
  return table.init && table.startEvent && table.stopEvent && table.recordEventState &&
         table.finalize;
}

template <int kVersion>
Result<std::shared_ptr<Plugin>> newestFrom(const dl::Library &library) {
  if constexpr (kVersion < abi::kOldestVersion) {
    return Status(kCollUnsupported,
                  "it exports no ncclProfiler_v2 to ncclProfiler_v7, of NCCL 2.24.3 to 2.31");
  } else {
    using Table = typename Abi<kVersion>::Table;
    const Table *table = library.symbol<Table>(Abi<kVersion>::kSymbol);
    if (!table)
      return newestFrom<kVersion - 1>(library);
    if (!isComplete(*table))
      return Status(kCollUnsupported,
                    std::string("its table ") + Abi<kVersion>::kSymbol + " lacks a function");
    return std::shared_ptr<Plugin>(std::make_shared<VersionedPlugin<kVersion>>(library, *table));
  }
}

} // namespace

Result<std::shared_ptr<Plugin>> pluginOf(const dl::Library &library) {
  // A plugin that runs without NCCL cannot ask it which layouts it follows.
  if (auto *tell = library.symbol<abi::SetNcclVersion>(abi::kSetNcclVersionSymbol))
    tell(kHostNcclVersion);
  return newestFrom<abi::kNewestVersion>(library);
}

Result<std::shared_ptr<Plugin>> loadPlugin(const std::string &name) {
  Result<dl::Library> library = name == "STATIC_PLUGIN" ? dl::Library::program()
                                : name.empty()          ? dl::Library::open("libnccl-profiler.so")
                                                        : dl::Library::open(name);
  if (!library && !name.empty() && name.find('/') == std::string::npos) {
    const std::string file = "libnccl-profiler-" + name + ".so";
    Result<dl::Library> longer = dl::Library::open(file);
    if (!longer)
      return Status(kCollUnsupported,
                    library.status().message() + "; " + longer.status().message());
    library = longer;
  }
  if (!library)
    return library.status();
  return pluginOf(*library);
}

std::vector<std::string> splitNames(const std::string &list) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin)
      names.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

std::vector<std::shared_ptr<Plugin>> loadPlugins(const std::vector<std::string> &names) {
  std::vector<std::shared_ptr<Plugin>> plugins;
  for (const std::string &name : names) {
    Result<std::shared_ptr<Plugin>> plugin = loadPlugin(name);
    if (plugin)
      plugins.push_back(plugin.take());
    else
      rt::log(LogLevel::Warn,
              "profiler plugin " + name + " is not used: " + plugin.status().message());
  }
  return plugins;
}

} // namespace coll::profiler
