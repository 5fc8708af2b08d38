#include "test/net/nccl_plugin_api.h"

#include <type_traits>

namespace coll::net::nccl::test {
namespace {

template <typename Table>
constexpr bool kSinceV11 = std::is_same_v<Table, NetV11> || std::is_same_v<Table, NetV12>;
template <typename Table>
constexpr bool kSinceV10 = kSinceV11<Table> || std::is_same_v<Table, NetV10>;
template <typename Table>
constexpr bool kSinceV9 = kSinceV10<Table> || std::is_same_v<Table, NetV9>;

template <typename Table, typename RawProperties>
class ApiOf final : public Api {
public:
  ApiOf(const Table &table, int number) : table_(table) { version = number; }

  NcclResult init(NcclLogger logger, NcclProfilerCallback profiler) override {
    CommConfig config{-1};
    if constexpr (kSinceV11<Table>)
      return table_.init(&context_, 0x1234, &config, logger, profiler);
    else if constexpr (kSinceV10<Table>)
      return table_.init(logger, profiler);
    else
      return table_.init(logger);
  }
  NcclResult finalize() override {
    if constexpr (kSinceV11<Table>)
      return table_.finalize(context_);
    return kNcclSuccess;
  }
  NcclResult devices(int *count) override { return table_.devices(count); }
  NcclResult properties(int device, Properties &to) override {
    RawProperties raw;
    NcclResult result = table_.getProperties(device, &raw);
    if (result == kNcclSuccess)
      take(raw, to);
    return result;
  }
  NcclResult listen(int device, void *handle, void **comm) override {
    if constexpr (kSinceV11<Table>)
      return table_.listen(context_, device, handle, comm);
    else
      return table_.listen(device, handle, comm);
  }
  NcclResult connect(int device, void *handle, void **comm) override {
    NcclDeviceHandle *none = nullptr;
    CommConfig config{-1};
    if constexpr (kSinceV11<Table>)
      return table_.connect(context_, device, handle, comm, &none);
    else if constexpr (kSinceV10<Table>)
      return table_.connect(device, &config, handle, comm, &none);
    else
      return table_.connect(device, handle, comm, &none);
  }
  NcclResult accept(void *listenComm, void **comm, NcclDeviceHandle **handle) override {
    return table_.accept(listenComm, comm, handle);
  }
  NcclResult regMr(void *comm, void *data, size_t bytes, int type, void **memory) override {
    return table_.regMr(comm, data, bytes, type, memory);
  }
  NcclResult deregMr(void *comm, void *memory) override { return table_.deregMr(comm, memory); }
  NcclResult isend(void *comm, void *data, size_t bytes, int tag, void *memory, void *parent,
                   void **request) override {
    if constexpr (kSinceV10<Table>)
      return table_.isend(comm, data, bytes, tag, memory, parent, request);
    else if constexpr (kSinceV9<Table>)
      return table_.isend(comm, data, bytes, tag, memory, request);
    else
      return table_.isend(comm, data, static_cast<int>(bytes), tag, memory, request);
  }
  NcclResult irecv(void *comm, void *data, size_t bytes, int tag, void *memory, void *parent,
                   void **request) override {
    int size = static_cast<int>(bytes);
    // NCCL marks a receive whose completion it does not need like this.
    *request = reinterpret_cast<void *>(1);
    if constexpr (kSinceV10<Table>)
      return table_.irecv(comm, 1, &data, &bytes, &tag, &memory, &parent, request);
    else if constexpr (kSinceV9<Table>)
      return table_.irecv(comm, 1, &data, &bytes, &tag, &memory, request);
    else
      return table_.irecv(comm, 1, &data, &size, &tag, &memory, request);
  }
  NcclResult irecvTwo(void *comm, void **request) override {
    void *data[2] = {}, *memory[2] = {};
    int tags[2] = {}, sizes[2] = {};
    size_t bytes[2] = {};
    (void)bytes, (void)sizes;
    if constexpr (kSinceV10<Table>)
      return table_.irecv(comm, 2, data, bytes, tags, memory, nullptr, request);
    else if constexpr (kSinceV9<Table>)
      return table_.irecv(comm, 2, data, bytes, tags, memory, request);
    else
      return table_.irecv(comm, 2, data, sizes, tags, memory, request);
  }
  NcclResult iflush(void *comm, void *data, int bytes, void *memory, void **request) override {
    return table_.iflush(comm, 1, &data, &bytes, &memory, request);
  }
  NcclResult test(void *request, int *done, int *bytes) override {
    return table_.test(request, done, bytes);
  }
  NcclResult consumed(void *comm, void *request) override {
    return table_.irecvConsumed(comm, 1, request);
  }
  NcclResult closeSend(void *comm) override { return table_.closeSend(comm); }
  NcclResult closeRecv(void *comm) override { return table_.closeRecv(comm); }
  NcclResult closeListen(void *comm) override { return table_.closeListen(comm); }

private:
  template <typename Raw>
  static void takeCommon(const Raw &raw, Properties &to) {
    to.name = raw.name;
    to.pointers = raw.ptrSupport;
    to.speedMbps = raw.speedMbps;
    to.maxRecvs = raw.maxRecvs;
    to.maxComms = raw.maxComms;
    to.deviceType = raw.deviceType;
    to.deviceVersion = raw.deviceVersion;
  }
  static void take(const PropertiesV8 &raw, Properties &to) { takeCommon(raw, to); }
  template <typename Virtual>
  static void take(const PropertiesSinceV9<Virtual> &raw, Properties &to) {
    takeCommon(raw, to);
    to.maxP2pBytes = raw.maxP2pBytes;
  }
  static void take(const PropertiesV11 &raw, Properties &to) { take(raw.base, to); }
  static void take(const PropertiesV12 &raw, Properties &to) { take(raw.base, to); }

  const Table &table_;
  void *context_ = nullptr;
};

template <typename Table, typename RawProperties>
std::unique_ptr<Api> find(const rt::dl::Library &library, int version) {
  std::string name = "ncclNetPlugin_v" + std::to_string(version);
  const Table *table = library.symbol<const Table>(name.c_str());
  if (!table)
    return nullptr;
  return std::make_unique<ApiOf<Table, RawProperties>>(*table, version);
}

} // namespace

std::unique_ptr<Api> findApi(const rt::dl::Library &library, int version) {
  switch (version) {
  case 8:
    return find<NetV8, PropertiesV8>(library, version);
  case 9:
    return find<NetV9, PropertiesV9>(library, version);
  case 10:
    return find<NetV10, PropertiesV10>(library, version);
  case 11:
    return find<NetV11, PropertiesV11>(library, version);
  case 12:
    return find<NetV12, PropertiesV12>(library, version);
  default:
    return nullptr;
  }
}

} // namespace coll::net::nccl::test
