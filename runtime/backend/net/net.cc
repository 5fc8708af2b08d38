#include "runtime/backend/net/net.h"

#include "runtime/backend/gpu/gpu_of_job.h"
#include "runtime/backend/net/cores.h"
#include "runtime/backend/net/endpoint.h"
#include "runtime/backend/net/gpu/transport.h"
#include "runtime/backend/net/transports.h"
#include "runtime/base/env.h"
#include "runtime/net/bootstrap/bootstrap.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <thread>

namespace coll::rt::network {

namespace {

// Each rank has a connection to every other rank.
constexpr int kMaxRanks = 256;
constexpr int64_t kMaxPauseUs = 1000;
constexpr int64_t kPatientSpinUs = 200;
constexpr int64_t kLargeExchangeBytes = 64 << 10;

class NetBackend final : public Backend {
public:
  explicit NetBackend(const EndpointOptions &options) : options_(options) {}
  ~NetBackend() override {
    if (transport_)
      logTraffic(*transport_, options_.gpu.path);
  }

  Status start() { return progress_.start(); }
  Status openLocal(const BackendOptions &options);
  Status openJob(const BackendOptions &options);

  std::vector<int> localRanks() const override { return localRanks_; }

  Result<std::unique_ptr<Endpoint>> endpoint(int rank) override {
    auto it = std::find(localRanks_.begin(), localRanks_.end(), rank);
    if (it == localRanks_.end())
      return Status::invalid("rank " + std::to_string(rank) + " is not in this process");
    std::unique_ptr<Mesh> &mesh = meshes_[static_cast<size_t>(it - localRanks_.begin())];
    if (!mesh)
      return Status::invalid("rank " + std::to_string(rank) + " has its endpoint already");
    return std::unique_ptr<Endpoint>(new NetEndpoint(std::move(mesh), options_, progress_));
  }

private:
  void adapt(const std::vector<Seat> &seats, size_t rank, const std::string &name,
             TransportOptions &transport);
  Status openTransport(const std::string &name, const TransportOptions &transport,
                       const net::Secret &secret);
  Status connectAll(int64_t timeoutUs);

  EndpointOptions options_;
  std::unique_ptr<net::Transport> transport_;
  std::vector<int> localRanks_;
  std::vector<std::unique_ptr<Mesh>> meshes_; // of localRanks_, until their endpoints exist
  Progress progress_;
};

std::string transportName(const BackendOptions &options) {
  return options.transport.empty() ? envString(EnvVar::NetTransport) : options.transport;
}

Result<std::vector<Seat>> gatherSeats(net::Bootstrap &bootstrap, int64_t timeoutUs) {
  Result<std::vector<std::string>> all = bootstrap.allgather(encode(ownSeat()), timeoutUs);
  if (!all)
    return all.status();
  std::vector<Seat> seats;
  for (const std::string &bytes : *all) {
    std::optional<Seat> seat = decodeSeat(bytes);
    if (!seat)
      return Status(kCollPeer, "rank " + std::to_string(seats.size()) + " sent no address");
    seats.push_back(std::move(*seat));
  }
  return seats;
}

// Each rank sends its handle and whether it compresses: a rank without compression would take
// compressed messages for plain data.
Result<std::vector<net::Handle>> gatherHandles(net::Bootstrap &bootstrap, const net::Handle &own,
                                               bool compress, int64_t timeoutUs) {
  std::string mine(own.bytes.begin(), own.bytes.end());
  mine.push_back(compress ? '1' : '0');
  Result<std::vector<std::string>> all = bootstrap.allgather(mine, timeoutUs);
  if (!all)
    return all.status();
  std::vector<net::Handle> handles(all->size());
  for (size_t i = 0; i < handles.size(); ++i) {
    const std::string &theirs = (*all)[i];
    if (theirs.size() != mine.size())
      return Status(kCollPeer, "rank " + std::to_string(i) + " sent no handle");
    if (theirs.back() != mine.back())
      return Status::invalid("COLL_NET_GPU_COMPRESS is " + std::string(1, mine.back()) +
                             " here, but not on rank " + std::to_string(i));
    std::memcpy(handles[i].bytes.data(), theirs.data(), net::Handle::kBytes);
  }
  return handles;
}

// With few cores, ranks yield to each other longer before they sleep. If all ranks have few cores,
// they also reduce the number of messages rather than the bytes.
void NetBackend::adapt(const std::vector<Seat> &seats, size_t rank, const std::string &name,
                       TransportOptions &transport) {
  transport.cores = coresOf(seats, rank);
  bool all = true;
  for (size_t i = 0; i < seats.size(); ++i)
    all &= areFew(coresOf(seats, i));
  if (areFew(transport.cores) && !foreignEnv("COLL_SPIN_US"))
    options_.spinUs = kPatientSpinUs;
  if (all && name == "tcp")
    options_.collectives.exchangeBytes = kLargeExchangeBytes;
}

Status NetBackend::openTransport(const std::string &name, const TransportOptions &transport,
                                 const net::Secret &secret) {
  Result<std::unique_ptr<net::Transport>> made = createTransport(name, transport, secret);
  if (!made)
    return made.status();
  made = withGpu(made.take(), options_.gpu.path);
  if (!made)
    return made.status();
  transport_ = made.take();
  return {};
}

Status NetBackend::connectAll(int64_t timeoutUs) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point deadline = Clock::now() + std::chrono::microseconds(timeoutUs);
  int64_t pauseUs = 1;
  while (true) {
    bool all = true;
    for (std::unique_ptr<Mesh> &mesh : meshes_) {
      RankGpu gpu(options_.gpu.path, meshes_.size() > 1 ? mesh->rank() : -1);
      Result<bool> done = mesh->advance();
      if (!done)
        return done.status().annotate("rank " + std::to_string(mesh->rank()));
      all &= *done;
    }
    if (all)
      return {};
    if (Clock::now() >= deadline) {
      Mesh &mesh = *meshes_.front();
      return {kCollTimeout, "rank " + std::to_string(mesh.rank()) + " could not connect within " +
                                std::to_string(timeoutUs / 1000) + " ms to ranks " +
                                describeGroup(mesh.missing())};
    }
    std::this_thread::sleep_for(std::chrono::microseconds(pauseUs));
    pauseUs = std::min(2 * pauseUs, kMaxPauseUs);
  }
}

Status NetBackend::openLocal(const BackendOptions &options) {
  std::array<char, 32> random;
  COLL_RETURN_IF_ERROR(net::fillRandom(random.data(), random.size()));
  Result<net::Secret> secret = net::Secret::create(std::string_view(random.data(), random.size()));
  if (!secret)
    return secret.status();
  TransportOptions transport;
  transport.isOneProcess = true;
  transport.timeoutUs = options.timeoutUs;
  if (envString(EnvVar::NetIface).empty())
    transport.iface = "lo";
  const std::string name = transportName(options);
  adapt(std::vector<Seat>(static_cast<size_t>(options.numRanks), ownSeat()), 0, name, transport);
  COLL_RETURN_IF_ERROR(openTransport(name, transport, *secret));
  std::vector<net::Handle> handles;
  for (int rank = 0; rank < options.numRanks; ++rank) {
    Result<std::unique_ptr<Mesh>> mesh = Mesh::create(*transport_, rank, options.numRanks);
    if (!mesh)
      return mesh.status();
    handles.push_back((*mesh)->handle());
    localRanks_.push_back(rank);
    meshes_.push_back(mesh.take());
  }
  for (std::unique_ptr<Mesh> &mesh : meshes_)
    COLL_RETURN_IF_ERROR(mesh->connect(handles));
  return connectAll(options.timeoutUs);
}

// The bootstrap ends when all ranks are connected.
Status NetBackend::openJob(const BackendOptions &options) {
  const JobOptions &job = *options.job;
  Result<net::Secret> secret = net::Secret::create(job.secret);
  if (!secret)
    return secret.status();
  net::BootstrapOptions start;
  start.rank = job.rank;
  start.worldSize = options.numRanks;
  start.address = job.bootstrap;
  start.iface = job.iface;
  start.listenFd = job.listenFd;
  start.timeoutUs = options.timeoutUs;
  Result<std::unique_ptr<net::Bootstrap>> bootstrap = net::Bootstrap::create(start, *secret);
  if (!bootstrap)
    return bootstrap.status();

  TransportOptions transport;
  transport.iface = job.iface;
  transport.timeoutUs = options.timeoutUs;
  Result<std::vector<Seat>> seats = gatherSeats(**bootstrap, options.timeoutUs);
  if (!seats)
    return seats.status().annotate("start of the job");
  const std::string name = transportName(options);
  adapt(*seats, static_cast<size_t>(job.rank), name, transport);
  COLL_RETURN_IF_ERROR(openTransport(name, transport, *secret));
  Result<std::unique_ptr<Mesh>> mesh = Mesh::create(*transport_, job.rank, options.numRanks);
  if (!mesh)
    return mesh.status();
  localRanks_.push_back(job.rank);
  meshes_.push_back(mesh.take());
  Result<std::vector<net::Handle>> handles =
      gatherHandles(**bootstrap, meshes_[0]->handle(), options_.gpu.compress, options.timeoutUs);
  if (!handles)
    return handles.status().annotate("start of the job");
  COLL_RETURN_IF_ERROR(meshes_[0]->connect(*handles));
  // RankGpu takes the number modulo the number of GPUs; -1 is the current GPU.
  RankGpu gpu(options_.gpu.path, gpu::gpuOfJob(job, std::numeric_limits<int>::max()));
  COLL_RETURN_IF_ERROR(connectAll(options.timeoutUs));
  return (*bootstrap)->barrier(options.timeoutUs).annotate("start of the job");
}

} // namespace

Result<std::unique_ptr<Backend>> createBackend(const BackendOptions &options) {
  if (options.numRanks < 1 || options.timeoutUs < 1)
    return Status::invalid("net needs at least one rank and a positive timeout");
  if (options.numRanks > kMaxRanks)
    return Status(kCollUnsupported, "net connects at most " + std::to_string(kMaxRanks) +
                                        " ranks, not " + std::to_string(options.numRanks));
  EndpointOptions endpoint;
  endpoint.timeoutUs = options.timeoutUs;
  std::string algorithm = envString(EnvVar::NetAlgorithm);
  std::optional<Algorithm> parsed = parseAlgorithm(algorithm);
  if (!parsed)
    return Status::invalid("COLL_NET_ALGORITHM=" + algorithm +
                           ": expected auto, direct, ring, halving or tree");
  endpoint.collectives.algorithm = *parsed;
  endpoint.spinUs = envInt(EnvVar::SpinUs);
  Result<GpuMoverOptions> gpu = gpuOptionsFromEnv(transportName(options), options.timeoutUs);
  if (!gpu)
    return gpu.status();
  endpoint.gpu = *gpu;
  auto backend = std::make_unique<NetBackend>(endpoint);
  COLL_RETURN_IF_ERROR(backend->start());
  COLL_RETURN_IF_ERROR(options.job ? backend->openJob(options) : backend->openLocal(options));
  return std::unique_ptr<Backend>(std::move(backend));
}

} // namespace coll::rt::network
