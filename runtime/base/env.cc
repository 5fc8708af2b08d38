#include "runtime/base/env.h"

#include "runtime/base/log.h"

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <iterator>

namespace coll::rt {

namespace {

// In the order of EnvVar. Comments with two number signs are headings of docs/environment.md.
const EnvInfo kTable[] = {
    // ## Every run
    {EnvVar::TimeoutUs, "COLL_TIMEOUT_US", "60000000",
     "deadline of one operation, in microseconds, if the caller sets none; at most 30 years", 1,
     kMostTimeoutUs},
    {EnvVar::Log, "COLL_LOG", "warn",
     "least severe messages to print: error, warn, info, debug, off"},
    {EnvVar::FlightRecorderOps, "COLL_FLIGHT_RECORDER_OPS", "64",
     "operations per rank that are remembered for the dump after a failure", 0, 1 << 20},
    {EnvVar::FlightRecorderFile, "COLL_FLIGHT_RECORDER_FILE", "",
     "file for what the ranks of a process remember when a run fails, for `coll-trace diagnose`; "
     "%p "
     "becomes the process, %r its first rank; empty: none"},
    {EnvVar::SpinUs, "COLL_SPIN_US", "20",
     "microseconds that a waiting rank polls before it sleeps; if unset, 2000 in backend threads "
     "if every rank has a core, and 200 in backend net for a rank that has at most two cores to "
     "itself"},
    {EnvVar::Affinity, "COLL_AFFINITY", "none",
     "processors of rank threads: none, compact, spread (over NUMA nodes), or a list as 0,2,4-7"},
    {EnvVar::Blas, "COLL_BLAS", "libopenblas.so.0",
     "library with the CBLAS interface for matrix products; none: built-in loops; if unset, the "
     "Python package uses scipy-openblas32"},
    {EnvVar::StreamBytes, "COLL_STREAM_BYTES", "0",
     "bytes that an operation of backend threads reads and writes from which its results bypass "
     "the caches; 0: the last-level caches of the processors that the process may use"},
    // ## Jobs of several processes
    {EnvVar::Bootstrap, "COLL_BOOTSTRAP", "",
     "address on which rank 0 listens, host:port or [host]:port; if unset, the launcher's"},
    {EnvVar::Secret, "COLL_SECRET", "",
     "the job's secret, at least 16 characters, the same in every process"},
    {EnvVar::Rank, "COLL_RANK", "", "this process's rank; if unset, the launcher's"},
    {EnvVar::WorldSize, "COLL_WORLD_SIZE", "", "number of processes; if unset, the launcher's"},
    {EnvVar::LocalRank, "COLL_LOCAL_RANK", "",
     "this process's number on its host, which selects its GPU; if unset, the launcher's, or else "
     "the rank"},
    // ## Network
    {EnvVar::NetIface, "COLL_NET_IFACE", "",
     "interfaces to use, in order of preference: names or subnets, separated by commas"},
    {EnvVar::NetRails, "COLL_NET_RAILS", "1",
     "devices (of COLL_NET_IFACE or COLL_NET_RDMA_DEVICES) that one connection is striped over, 1 "
     "to 8, the same on all ranks; the connection goes on with the others when one fails",
     1, 8},
    {EnvVar::NetSockets, "COLL_NET_SOCKETS", "0",
     "sockets for the data of one tcp connection, 1 to 16; 0: 4, or a single socket for data and "
     "control if the process has at most two cores to itself; the NCCL plugin uses 8",
     0, 16},
    {EnvVar::NetThreads, "COLL_NET_THREADS", "0",
     "progress threads of a transport, 1 to 64; 0: verbs 1; tcp one per core, 2 to 16, and 1 with "
     "a single socket; in the NCCL plugin a quarter of the cores, 2 to 8",
     0, 64},
    {EnvVar::NetSpinUs, "COLL_NET_SPIN_US", "100",
     "microseconds that a progress thread of tcp polls before it sleeps, if it has four cores to "
     "itself; 0: it sleeps at once"},
    {EnvVar::NetTransport, "COLL_NET_TRANSPORT", "tcp",
     "transport between processes: tcp or verbs; loopback within one process"},
    {EnvVar::NetAlgorithm, "COLL_NET_ALGORITHM", "auto",
     "algorithm of backend net, for operations that have it: auto, direct, ring, halving, tree"},
    // ## GPU buffers of backend net
    {EnvVar::NetGpuPath, "COLL_NET_GPU_PATH", "kernel",
     "path of GPU buffers, the same on all ranks: kernel (a kernel copies through slices of pinned "
     "memory), unpack (a kernel reads received pages), pack (a kernel also writes the pages that "
     "are sent), copy (the copy engine); if unset, a path in the table of COLL_ROUTES comes before "
     "the default"},
    {EnvVar::NetGpuCompress, "COLL_NET_GPU_COMPRESS", "0",
     "1: messages of GPU buffers are compressed without loss on the path kernel; the same on all "
     "ranks",
     0, 1},
    {EnvVar::NetGpuBlocks, "COLL_NET_GPU_BLOCKS", "8",
     "blocks of a channel kernel, 2 to 8; half of them send", 2, 8},
    {EnvVar::NetGpuIdleUs, "COLL_NET_GPU_IDLE_US", "200",
     "microseconds without work after which a channel kernel leaves the GPU"},
    // ## The plugin for NCCL
    {EnvVar::NetSpeedMbps, "COLL_NET_SPEED_MBPS", "0",
     "speed of each interface that the plugin reports to NCCL, which tunes itself by it; 0: the "
     "speed that the system reports",
     0, INT32_MAX},
    {EnvVar::NcclChannels, "COLL_NET_NCCL_CHANNELS", "8",
     "channels, with chunks of 512 KiB, that the plugin asks NCCL for over tcp; 0: NCCL's own "
     "defaults"},
    // ## GPUs and NCCL
    {EnvVar::Cuda, "COLL_CUDA", "libcuda.so.1", "library of the CUDA driver; none: use no GPU"},
    {EnvVar::CublasLt, "COLL_CUBLASLT", "",
     "library of cuBLASLt for the matrix products of steps on GPUs; if unset, libcublasLt.so.13 or "
     ".12; none: such steps fail"},
    {EnvVar::Cudnn, "COLL_CUDNN", "libcudnn.so.9",
     "library of cuDNN 9 for the convolutions of steps on GPUs; none: steps that are compiled for "
     "it "
     "run them by a slow kernel, and steps compiled here pack them into products"},
    {EnvVar::GpuSync, "COLL_GPU_SYNC", "0",
     "1: steps on GPUs wait for the GPU after each kernel, copy and product, and use no graphs, so "
     "that a fault names the operation; slow",
     0, 1},
    {EnvVar::GpuRootUpdate, "COLL_GPU_ROOT_UPDATE", "0",
     "1: root updates of steps on GPUs run as one kernel where the ranks reach each other's memory "
     "(backend direct). 0: as calls of their own. The same on all ranks",
     0, 1},
    {EnvVar::GpuTokens, "COLL_GPU_TOKENS", "1",
     "1: steps on GPUs exchange the tokens of a mixture of experts by kernels, if a group's ranks "
     "are "
     "in one process and reach each other's memory. 0: through the host. The same on all ranks",
     0, 1},
    {EnvVar::Nccl, "COLL_NCCL", "libnccl.so.2",
     "library of NCCL, 2.19 or later; none: backend nccl is not used"},
    {EnvVar::NcclCheck, "COLL_NCCL_CHECK", "1",
     "calls of backend nccl that the members compare; the same on all ranks. 0: the first of a "
     "group, 1: each that differs from all before it, and the others by a running hash, 2: all",
     0, 2},
    {EnvVar::NcclBlocking, "COLL_NCCL_BLOCKING", "1",
     "0: communicators of backend nccl do not block; NCCL then starts a thread for each call", 0,
     1},
    {EnvVar::DirectMemory, "COLL_DIRECT_MEMORY", "auto",
     "how processes of backend direct share GPU memory: vmm (descriptors of physical memory), ipc "
     "(CUDA IPC), or auto (vmm if all GPUs support it)"},
    {EnvVar::DirectPoolBytes, "COLL_DIRECT_POOL_BYTES", "268435456",
     "GPU memory that backend direct allocates at once for the workspaces and small symmetric "
     "memory of its groups; less if the GPU has less"},
    {EnvVar::DirectCheck, "COLL_DIRECT_CHECK", "1",
     "calls of backend direct that the members also compare on the host, which names what differs "
     "(the kernels compare all calls); the same on all ranks. 0: the first of a group, 1: each "
     "that differs from all before it, and the others by a running hash, 2: all",
     0, 2},
    {EnvVar::Routes, "COLL_ROUTES", "",
     "file that coll-perf tune wrote: routes of backend auto, and paths of messages of GPU memory; "
     "if unset, the defaults"},
    // ## GPU memory over transports
    {EnvVar::NetUnpack, "COLL_NET_DEVICE_UNPACK", "auto",
     "how received data reaches GPU memory: 1 a kernel unpacks it, 0 the host copies it, auto a "
     "kernel if the data arrives scattered; if unset, NCCL_NET_DEVICE_UNPACK_ENABLED; if neither "
     "these nor the threshold are set, a path in the table of COLL_ROUTES comes before the "
     "default"},
    {EnvVar::NetUnpackThreshold, "COLL_NET_DEVICE_UNPACK_THRESHOLD", "0",
     "messages of fewer bytes are copied by the host, even if a kernel unpacks the others; if "
     "unset, NCCL_NET_DEVICE_UNPACK_THRESHOLD"},
    {EnvVar::NetPages, "COLL_NET_DEVICE_PAGES", "nccl",
     "size of the pieces that a kernel unpacks: nccl, whole, or divisor:min:max in bytes"},
    {EnvVar::NetScatter, "COLL_NET_SCATTER", "0",
     "1: messages travel as shuffled fragments, to test what datagrams do; the same on both ends",
     0, 1},
    {EnvVar::NetBounceBytes, "COLL_NET_BOUNCE_BYTES", "2147483648",
     "limit of the host memory that is pinned per GPU for messages of GPU memory, up to "
     "4294967296",
     0, int64_t{1} << 32},
    // ## RDMA
    {EnvVar::NetRdmaDevices, "COLL_NET_RDMA_DEVICES", "",
     "RDMA devices to use, in order of preference: names, with or without a port (mlx5_0:1), "
     "separated by commas"},
    {EnvVar::NetGidIndex, "COLL_NET_GID_INDEX", "",
     "index of the GID of an RDMA port; if unset, RoCE v2 before v1, IPv4 before IPv6", 0, 254},
    {EnvVar::NetQps, "COLL_NET_QPS", "2",
     "queue pairs for the data of one verbs connection, 1 to 16", 1, 16},
    {EnvVar::NetRdmaRetry, "COLL_NET_RDMA_RETRY", "6",
     "retries of an RDMA device that gets no answer, 0 to 6", 0, 6},
    {EnvVar::NetRdmaTimeout, "COLL_NET_RDMA_TIMEOUT", "14",
     "time that an RDMA device waits before each retry, as an exponent: 4.096 us * 2^n, 1 to 31", 1,
     31},
    {EnvVar::NetRegCacheBytes, "COLL_NET_REG_CACHE_BYTES", "0",
     "bytes of unregistered buffers whose registrations the verbs transport keeps; only safe in "
     "programs that never unmap such a buffer"},
    // ## Profiling
    {EnvVar::ProfilerFile, "COLL_PROFILER_FILE", "nccl-%h-%p.pftrace",
     "trace that libnccl-profiler-coll.so writes; %h is the host, %p the process; none: no trace"},
    {EnvVar::ProfilerSummary, "COLL_PROFILER_SUMMARY", "",
     "file for its table of operations, written when the last communicator ends; -: standard "
     "error; %h and %p as above"},
    {EnvVar::ProfilerPrometheus, "COLL_PROFILER_PROMETHEUS", "",
     "file for the same figures in Prometheus' text format, replaced every five seconds; %h and %p "
     "as above"},
    {EnvVar::ProfilerEvents, "COLL_PROFILER_EVENTS", "all",
     "events that it asks for: all, none, or a list of group, coll, p2p, proxy_op, proxy_step, "
     "proxy_ctrl, kernel_ch, net, group_api, coll_api, p2p_api, kernel_launch, ce_coll, ce_sync, "
     "ce_batch, kernel_phase"},
    {EnvVar::ProfilerRing, "COLL_PROFILER_RING", "32768",
     "events per thread that wait for the thread that writes them; if there are more, the oldest "
     "are dropped and counted",
     16, 1 << 24},
    {EnvVar::ProfilerPlugins, "COLL_PROFILER_PLUGINS", "",
     "profiler plugins built for NCCL to load, separated by commas: files, or names as in "
     "libnccl-profiler-<name>.so; none: none; unset: as NCCL_PROFILER_PLUGIN says, unless NCCL "
     "itself is used"},
    // ## Compiled steps
    {EnvVar::CacheDir, "COLL_CACHE_DIR", "",
     "folder in which coll-run keeps compiled steps, and steps on GPUs the algorithms of their "
     "matrix products; if unset, $XDG_CACHE_HOME/coll; none: keep nothing"},
    {EnvVar::CacheBytes, "COLL_CACHE_BYTES", "1073741824",
     "limit of the bytes of compiled steps that are kept; the least recently used are evicted; 0: "
     "no limit"},
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
  // Several callers may read the variable; the warning is logged once.
  static std::atomic<bool> hasWarned[std::size(kTable)];
  if (!hasWarned[static_cast<size_t>(var)].exchange(true))
    log(LogLevel::Warn, std::string(info.name) + "=" + text + ": expected a number from " +
                            std::to_string(info.least) +
                            (info.most < INT64_MAX ? " to " + std::to_string(info.most) : " on") +
                            "; using " + info.defaultValue);
  return parse(info.defaultValue).value_or(info.least);
}

std::string cacheFolder() {
  std::string folder = envString(EnvVar::CacheDir);
  if (folder == "none")
    return "";
  if (!folder.empty())
    return folder;
  std::optional<std::string> base = foreignEnv("XDG_CACHE_HOME");
  // The XDG specification calls a relative path invalid.
  if (base && base->front() != '/')
    base.reset();
  if (std::optional<std::string> home = foreignEnv("HOME"); !base && home)
    base = *home + "/.cache";
  return base ? *base + "/coll" : "";
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
