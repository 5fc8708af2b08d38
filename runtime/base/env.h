// env.h - the environment variables that the runtime reads.
//
// This is the one table of them; env.cc alone calls getenv. Values are read at each
// call, so tests may change them.

#ifndef COLL_RUNTIME_BASE_ENV_H
#define COLL_RUNTIME_BASE_ENV_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coll::rt {

// Longest timeout that can be set, about 30 years: later points in time, in nanoseconds, still fit
// into 64 bits.
inline constexpr int64_t kMostTimeoutUs = 1'000'000'000'000'000;

enum class EnvVar {
  TimeoutUs,          // COLL_TIMEOUT_US
  Log,                // COLL_LOG
  FlightRecorderOps,  // COLL_FLIGHT_RECORDER_OPS
  FlightRecorderFile, // COLL_FLIGHT_RECORDER_FILE
  SpinUs,             // COLL_SPIN_US
  Affinity,           // COLL_AFFINITY
  Blas,               // COLL_BLAS
  StreamBytes,        // COLL_STREAM_BYTES
  Bootstrap,          // COLL_BOOTSTRAP
  Secret,             // COLL_SECRET
  Rank,               // COLL_RANK
  WorldSize,          // COLL_WORLD_SIZE
  LocalRank,          // COLL_LOCAL_RANK
  NetIface,           // COLL_NET_IFACE
  NetRails,           // COLL_NET_RAILS
  NetSockets,         // COLL_NET_SOCKETS
  NetThreads,         // COLL_NET_THREADS
  NetSpinUs,          // COLL_NET_SPIN_US
  NetTransport,       // COLL_NET_TRANSPORT
  NetAlgorithm,       // COLL_NET_ALGORITHM
  NetGpuPath,         // COLL_NET_GPU_PATH
  NetGpuCompress,     // COLL_NET_GPU_COMPRESS
  NetGpuBlocks,       // COLL_NET_GPU_BLOCKS
  NetGpuIdleUs,       // COLL_NET_GPU_IDLE_US
  NetSpeedMbps,       // COLL_NET_SPEED_MBPS
  NcclChannels,       // COLL_NET_NCCL_CHANNELS
  Cuda,               // COLL_CUDA
  CublasLt,           // COLL_CUBLASLT
  Cudnn,              // COLL_CUDNN
  GpuSync,            // COLL_GPU_SYNC
  GpuRootUpdate,      // COLL_GPU_ROOT_UPDATE
  GpuTokens,          // COLL_GPU_TOKENS
  Nccl,               // COLL_NCCL
  NcclCheck,          // COLL_NCCL_CHECK
  NcclBlocking,       // COLL_NCCL_BLOCKING
  DirectMemory,       // COLL_DIRECT_MEMORY
  DirectPoolBytes,    // COLL_DIRECT_POOL_BYTES
  DirectCheck,        // COLL_DIRECT_CHECK
  Routes,             // COLL_ROUTES
  NetUnpack,          // COLL_NET_DEVICE_UNPACK
  NetUnpackThreshold, // COLL_NET_DEVICE_UNPACK_THRESHOLD
  NetPages,           // COLL_NET_DEVICE_PAGES
  NetScatter,         // COLL_NET_SCATTER
  NetBounceBytes,     // COLL_NET_BOUNCE_BYTES
  NetRdmaDevices,     // COLL_NET_RDMA_DEVICES
  NetGidIndex,        // COLL_NET_GID_INDEX
  NetQps,             // COLL_NET_QPS
  NetRdmaRetry,       // COLL_NET_RDMA_RETRY
  NetRdmaTimeout,     // COLL_NET_RDMA_TIMEOUT
  NetRegCacheBytes,   // COLL_NET_REG_CACHE_BYTES
  ProfilerFile,       // COLL_PROFILER_FILE
  ProfilerSummary,    // COLL_PROFILER_SUMMARY
  ProfilerPrometheus, // COLL_PROFILER_PROMETHEUS
  ProfilerEvents,     // COLL_PROFILER_EVENTS
  ProfilerRing,       // COLL_PROFILER_RING
  ProfilerPlugins,    // COLL_PROFILER_PLUGINS
  CacheDir,           // COLL_CACHE_DIR
  CacheBytes,         // COLL_CACHE_BYTES
};

struct EnvInfo {
  EnvVar var;
  const char *name;
  const char *defaultValue;
  const char *help;
  int64_t least = 0, most = INT64_MAX; // of a number
};

// All variables, for documentation and `coll-info`.
const std::vector<EnvInfo> &envTable();

// The value, or the default where the variable is unset or empty.
std::string envString(EnvVar var);
// The value as a number. If it is not a number in the variable's range, a warning is logged and the
// default returned.
int64_t envInt(EnvVar var);

// The folder for files that later runs reuse (COLL_CACHE_DIR); empty if none are to be kept.
std::string cacheFolder();

// A variable of another program (a launcher), or nullopt where it is unset or empty.
std::optional<std::string> foreignEnv(const char *name);

// Sets a variable for the rest of the process, for a foreign library to read. The caller ensures
// that no other thread uses the environment meanwhile.
void setForeignEnv(const char *name, const char *value);

// Sets a variable that a foreign library reads for as long as the object lives, unless the variable
// is already set or `value` is null. No other thread may use the environment meanwhile.
class ScopedEnv {
public:
  ScopedEnv(const char *name, const char *value);
  ~ScopedEnv();
  ScopedEnv(const ScopedEnv &) = delete;
  ScopedEnv &operator=(const ScopedEnv &) = delete;

private:
  const char *name_; // null where nothing was set
};

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_ENV_H
