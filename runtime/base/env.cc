#include "runtime/base/env.h"

#include "runtime/base/log.h"

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <iterator>

namespace coll::rt {

namespace {

// In the order of EnvVar.
const EnvInfo kTable[] = {
    {EnvVar::TimeoutUs, "COLL_TIMEOUT_US", "60000000",
     "longest wait for the peers of one operation, where the caller sets none", 1, kMostTimeoutUs},
    {EnvVar::Log, "COLL_LOG", "warn",
     "least severe messages to print: error, warn, info, debug, off"},
    {EnvVar::FlightRecorderOps, "COLL_FLIGHT_RECORDER_OPS", "64",
     "operations per rank that are remembered for the dump after a failure", 0, 1 << 20},
    {EnvVar::SpinUs, "COLL_SPIN_US", "20",
     "time that a waiting rank polls before it sleeps; unset, 200 in backend net where a rank has "
     "two cores or fewer to itself"},
    {EnvVar::Affinity, "COLL_AFFINITY", "none",
     "processors of rank threads: none, compact, spread (over NUMA nodes), a list as 0,2,4-7"},
    {EnvVar::Blas, "COLL_BLAS", "libopenblas.so.0",
     "library with the CBLAS interface for matrix products; none: own loops"},
    {EnvVar::Bootstrap, "COLL_BOOTSTRAP", "",
     "where rank 0 listens, host:port or [host]:port; otherwise taken from the launcher"},
    {EnvVar::Secret, "COLL_SECRET", "",
     "the job's secret, at least 16 characters; every process has to know it"},
    {EnvVar::Rank, "COLL_RANK", "", "this process's rank; otherwise taken from the launcher"},
    {EnvVar::WorldSize, "COLL_WORLD_SIZE", "",
     "number of processes; otherwise taken from the launcher"},
    {EnvVar::LocalRank, "COLL_LOCAL_RANK", "",
     "this process's number on its host, which chooses its GPU; unset, the launcher's, or the "
     "rank"},
    {EnvVar::NetIface, "COLL_NET_IFACE", "",
     "interfaces to use, in order of preference: names or subnets, separated by commas"},
    {EnvVar::NetRails, "COLL_NET_RAILS", "1",
     "devices (of COLL_NET_IFACE or COLL_NET_RDMA_DEVICES) that one connection uses at once, 1 to "
     "8, alike on all ranks: it is striped over them, and goes on with the others when one fails",
     1, 8},
    {EnvVar::NetSockets, "COLL_NET_SOCKETS", "0",
     "sockets for the data of one tcp connection, 1 to 16; 0: 4, or one for everything where a "
     "process has two cores or fewer to itself",
     0, 16},
    {EnvVar::NetThreads, "COLL_NET_THREADS", "0",
     "progress threads of a transport, 1 to 64; 0: tcp one per core, 2 to 16, and one where one "
     "socket is for everything, verbs 1",
     0, 64},
    {EnvVar::NetSpinUs, "COLL_NET_SPIN_US", "100",
     "how long a progress thread of tcp looks for work before it sleeps, where there are four "
     "cores for each; 0: not at all"},
    {EnvVar::NetTransport, "COLL_NET_TRANSPORT", "tcp",
     "what carries messages between processes: tcp or verbs; in one process loopback, too"},
    {EnvVar::NetAlgorithm, "COLL_NET_ALGORITHM", "auto",
     "of backend net, where an operation has it: auto, direct, ring, halving, tree"},
    {EnvVar::NetGpuPath, "COLL_NET_GPU_PATH", "kernel",
     "how GPU buffers of backend net travel, on all ranks alike: kernel (through slices of "
     "pinned memory), unpack (received as pages), pack (sent as pages, too), copy (by the copy "
     "engine); unset, a path of "
     "COLL_ROUTES' table comes before the default"},
    {EnvVar::NetGpuCompress, "COLL_NET_GPU_COMPRESS", "0",
     "1: messages of GPU buffers of backend net travel compressed, without loss, on the path "
     "kernel; on "
     "all ranks alike",
     0, 1},
    {EnvVar::NetGpuBlocks, "COLL_NET_GPU_BLOCKS", "8",
     "blocks of a channel kernel, 2 to 8: half of them for what leaves the GPU", 2, 8},
    {EnvVar::NetGpuIdleUs, "COLL_NET_GPU_IDLE_US", "200",
     "time without work after which a channel kernel leaves the GPU"},
    {EnvVar::NetSpeedMbps, "COLL_NET_SPEED_MBPS", "0",
     "speed of each interface that NCCL is told, which its choices depend on; 0: as the "
     "system says",
     0, INT32_MAX},
    {EnvVar::NcclChannels, "COLL_NET_NCCL_CHANNELS", "8",
     "channels, with chunks of 512 KiB, that the NCCL plugin asks NCCL for over tcp; 0: leaves "
     "NCCL's own defaults"},
    {EnvVar::Cuda, "COLL_CUDA", "libcuda.so.1", "the CUDA driver's library; none: no GPU is used"},
    {EnvVar::Nccl, "COLL_NCCL", "libnccl.so.2",
     "NCCL's library, 2.19 or later; none: backend nccl is not used"},
    {EnvVar::NcclCheck, "COLL_NCCL_CHECK", "1",
     "which calls of backend nccl the members compare; on all ranks alike. 0: the first on a "
     "group, 1: each that is like none before it, the others by a running hash, 2: every one",
     0, 2},
    {EnvVar::NcclBlocking, "COLL_NCCL_BLOCKING", "1",
     "0: communicators of backend nccl do not block; NCCL then starts a thread for each call", 0,
     1},
    {EnvVar::DirectMemory, "COLL_DIRECT_MEMORY", "auto",
     "how processes of backend direct share GPU memory: vmm, ipc, or auto (vmm, if all have it)"},
    {EnvVar::DirectPoolBytes, "COLL_DIRECT_POOL_BYTES", "268435456",
     "GPU memory that backend direct takes at once for the workspaces and small symmetric memory "
     "of its groups, at least, if there is so much"},
    {EnvVar::DirectCheck, "COLL_DIRECT_CHECK", "1",
     "which calls of backend direct the members compare on the host, too, and say what differs "
     "(kernels compare all); on all ranks alike. 0: the first on a group, 1: each that is like "
     "none before it, the others by a running hash, 2: every one",
     0, 2},
    {EnvVar::Routes, "COLL_ROUTES", "",
     "table that coll-perf tune wrote: routes of backend auto, and paths of messages of GPU "
     "memory; "
     "none: the defaults"},
    {EnvVar::NetUnpack, "COLL_NET_DEVICE_UNPACK", "auto",
     "received GPU data: 1 a kernel unpacks it, 0 the host copies it, auto 1 where it lands "
     "scattered; NCCL_NET_DEVICE_UNPACK_ENABLED where unset; both unset, and the threshold, a path "
     "of COLL_ROUTES' table comes before the default"},
    {EnvVar::NetUnpackThreshold, "COLL_NET_DEVICE_UNPACK_THRESHOLD", "0",
     "bytes below which the host copies received GPU data even so; "
     "NCCL_NET_DEVICE_UNPACK_THRESHOLD where unset"},
    {EnvVar::NetPages, "COLL_NET_DEVICE_PAGES", "nccl",
     "pieces that a kernel unpacks: nccl, whole, or divisor:min:max in bytes"},
    {EnvVar::NetScatter, "COLL_NET_SCATTER", "0",
     "1: messages travel as shuffled fragments, to try what datagrams do; on both sides", 0, 1},
    {EnvVar::NetBounceBytes, "COLL_NET_BOUNCE_BYTES", "2147483648",
     "most host memory that is pinned per GPU for messages of GPU memory, up to 4294967296", 0,
     int64_t{1} << 32},
    {EnvVar::NetRdmaDevices, "COLL_NET_RDMA_DEVICES", "",
     "RDMA devices to use, in order of preference: names, each with a port or without, separated "
     "by commas"},
    {EnvVar::NetGidIndex, "COLL_NET_GID_INDEX", "",
     "which GID of an RDMA port to use; otherwise RoCE v2 before v1, IPv4 before IPv6", 0, 254},
    {EnvVar::NetQps, "COLL_NET_QPS", "2",
     "queue pairs for the data of one verbs connection, 1 to 16", 1, 16},
    {EnvVar::NetRdmaRetry, "COLL_NET_RDMA_RETRY", "6",
     "how often an RDMA device sends again without an answer, 0 to 6", 0, 6},
    {EnvVar::NetRdmaTimeout, "COLL_NET_RDMA_TIMEOUT", "14",
     "how long it waits each time, as an exponent: 4.096 us * 2^n, 1 to 31", 1, 31},
    {EnvVar::NetRegCacheBytes, "COLL_NET_REG_CACHE_BYTES", "0",
     "registrations of unregistered buffers that the verbs transport keeps for later; only for "
     "programs that never unmap such a buffer"},
    {EnvVar::CacheDir, "COLL_CACHE_DIR", "",
     "folder where coll-run keeps compiled steps, $XDG_CACHE_HOME/coll where unset; none: "
     "nothing is kept"},
    {EnvVar::CacheBytes, "COLL_CACHE_BYTES", "1073741824",
     "most bytes of compiled steps that are kept; those not used for longest go first; 0: no "
     "limit"},
};

const EnvInfo &infoOf(EnvVar var) { return kTable[static_cast<size_t>(var)]; }

std::optional<int64_t> parse(const std::string &text) {
  int64_t value = 0;
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end)
    return std::nullopt;
  return value;
}

} // namespace

const std::vector<EnvInfo> &envTable() {
  static const std::vector<EnvInfo> table(std::begin(kTable), std::end(kTable));
  return table;
}

std::string envString(EnvVar var) {
  const EnvInfo &info = infoOf(var);
  const char *text = std::getenv(info.name);
  return text && *text ? text : info.defaultValue;
}

int64_t envInt(EnvVar var) {
  const EnvInfo &info = infoOf(var);
  const std::string text = envString(var);
  const std::optional<int64_t> value = parse(text);
  if (value && *value >= info.least && *value <= info.most)
    return *value;
  // Several places may ask; the user is told once.
  static std::atomic<bool> hasWarned[std::size(kTable)];
  if (!hasWarned[static_cast<size_t>(var)].exchange(true))
    log(LogLevel::Warn, std::string(info.name) + "=" + text + ": expected a number from " +
                            std::to_string(info.least) +
                            (info.most < INT64_MAX ? " to " + std::to_string(info.most) : " on") +
                            "; using " + info.defaultValue);
  return parse(info.defaultValue).value_or(info.least);
}

std::optional<std::string> foreignEnv(const char *name) {
  const char *text = std::getenv(name);
  if (!text || !*text)
    return std::nullopt;
  return text;
}

void setForeignEnv(const char *name, const char *value) { setenv(name, value, /*overwrite=*/1); }

ScopedEnv::ScopedEnv(const char *name, const char *value)
    : name_(value && !std::getenv(name) ? name : nullptr) {
  if (name_)
    setenv(name_, value, /*overwrite=*/0);
}

ScopedEnv::~ScopedEnv() {
  if (name_)
    unsetenv(name_);
}

} // namespace coll::rt
