#include "runtime/net/bootstrap/launch_env.h"

#include "runtime/base/env.h"
#include "runtime/base/fnv.h"

#include <charconv>
#include <optional>

namespace coll::net {

namespace {

struct Names {
  const char *launcher, *rank, *worldSize, *localRank;
};

// In this order, because the innermost launcher's variables come before those of an allocation.
constexpr Names kLaunchers[] = {
    {"coll", "COLL_RANK", "COLL_WORLD_SIZE", "COLL_LOCAL_RANK"},
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK"},
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"},
    {"pmi", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
};

// Ports below the range that systems assign by themselves.
std::string jobPort(uint64_t job) { return std::to_string(20000 + job % 10000); }

std::optional<int64_t> number(const std::string &text, int64_t max) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > max)
    return std::nullopt;
  return value;
}

Result<int> required(const char *name, int64_t max) {
  std::optional<std::string> text = rt::foreignEnv(name);
  if (!text)
    return Status::invalid(std::string(name) + " is not set");
  std::optional<int64_t> value = number(*text, max);
  if (!value)
    return Status::invalid(std::string(name) + "=" + *text +
                           ": expected a whole number from 0 to " + std::to_string(max));
  return static_cast<int>(*value);
}

// The shell of an allocation has some of srun's variables too. A batch script has no step; salloc
// starts its shell in a step whose number srun never uses.
bool isStep() {
  return rt::foreignEnv("SLURM_STEP_NUM_TASKS") &&
         number(rt::foreignEnv("SLURM_STEP_ID").value_or("0"), INT32_MAX);
}

const Names *findLauncher() {
  for (const Names &names : kLaunchers)
    if (rt::foreignEnv(names.rank) && (names.launcher != std::string("srun") || isStep()))
      return &names;
  return nullptr;
}

// The first host of srun's list: "node[07-12,20],login" -> "node07".
std::string firstHost(const std::string &list) {
  size_t bracket = list.find_first_of("[,");
  if (bracket == std::string::npos || list[bracket] == ',')
    return list.substr(0, bracket);
  size_t end = list.find_first_of(",-]", bracket);
  if (end == std::string::npos)
    return {};
  std::string host = list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1);
  size_t close = list.find(']', bracket);
  if (close != std::string::npos)
    host += list.substr(close + 1, list.find(',', close) - close - 1);
  return host;
}

Result<std::string> torchrunAddress() {
  std::optional<std::string> host = rt::foreignEnv("MASTER_ADDR");
  if (!host)
    return Status::invalid("neither COLL_BOOTSTRAP nor MASTER_ADDR is set");
  Result<int> port = required("MASTER_PORT", 65534);
  if (!port.ok())
    return port.status();
  if (host->find(':') != std::string::npos)
    host = "[" + *host + "]";
  return *host + ":" + std::to_string(*port + 1);
}

Result<std::string> srunAddress() {
  std::optional<std::string> nodes = rt::foreignEnv("SLURM_STEP_NODELIST");
  std::string host = nodes ? firstHost(*nodes) : std::string();
  if (host.empty())
    return Status::invalid("neither COLL_BOOTSTRAP nor SLURM_STEP_NODELIST names rank 0's host");
  Result<int> job = required("SLURM_JOB_ID", INT32_MAX);
  if (!job.ok())
    return job.status();
  // Steps of one job may run at the same time.
  const int64_t step = number(rt::foreignEnv("SLURM_STEP_ID").value_or("0"), INT32_MAX).value_or(0);
  return host + ":" + jobPort(static_cast<uint64_t>(*job + 1009 * step));
}

// Only if all ranks are on one machine: mpirun does not say on which machine rank 0 is.
Result<std::string> mpirunAddress() {
  std::optional<std::string> all = rt::foreignEnv("OMPI_COMM_WORLD_SIZE"),
                             here = rt::foreignEnv("OMPI_COMM_WORLD_LOCAL_SIZE"),
                             job = rt::foreignEnv("PMIX_NAMESPACE");
  if (!all || all != here || !job)
    return Status::invalid("COLL_BOOTSTRAP is not set, and mpirun does not say where rank 0 is: "
                           "mpirun -x COLL_BOOTSTRAP=HOST:PORT, of rank 0's host");
  uint64_t hash = rt::kFnvStart;
  for (char byte : *job)
    hash = rt::fnvMixed(hash, static_cast<uint8_t>(byte));
  return "127.0.0.1:" + jobPort(hash);
}

Result<std::string> addressFor(const std::string &launcher) {
  std::string own = rt::envString(rt::EnvVar::Bootstrap);
  if (!own.empty())
    return own;
  if (launcher == "torchrun")
    return torchrunAddress();
  if (launcher == "srun")
    return srunAddress();
  if (launcher == "mpirun")
    return mpirunAddress();
  return Status::invalid("COLL_BOOTSTRAP (host:port of rank 0) is not set, and " + launcher +
                         " does not say where rank 0 is");
}

} // namespace

bool isLaunched() { return findLauncher() != nullptr; }

Result<LaunchEnv> readLaunchEnv() {
  const Names *names = findLauncher();
  if (!names)
    return Status::invalid("no launcher: set COLL_RANK, COLL_WORLD_SIZE and COLL_BOOTSTRAP, or "
                           "start with torchrun, srun or mpirun");
  LaunchEnv env;
  env.launcher = names->launcher;
  Result<int> rank = required(names->rank, INT32_MAX), size = required(names->worldSize, INT32_MAX);
  if (!rank.ok() || !size.ok())
    return (rank.ok() ? size : rank).status();
  if (*rank >= *size)
    return Status::invalid(std::string(names->rank) + " is " + std::to_string(*rank) + ", but " +
                           names->worldSize + " is " + std::to_string(*size));
  env.rank = *rank;
  env.worldSize = *size;
  env.worldSizeVariable = names->worldSize;
  Result<int> local = required(names->localRank, INT32_MAX);
  env.localRank = local.ok() ? *local : -1;
  Result<std::string> address = addressFor(env.launcher);
  if (!address.ok())
    return address.status();
  env.bootstrap = *address;
  return env;
}

} // namespace coll::net
