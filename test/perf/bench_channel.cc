// bench-channel - backend net on GPU buffers, between two processes of this machine, each
// with a GPU of its own where there are two.
//
//   bench-channel --label=TEXT [--ops=send,both,all_reduce] [--sizes=65536,…] [--host]
//
// --host: buffers of host memory instead. The operations `out`, `in` and `unpack` measure the
// channel kernel alone: slices of 1 MiB between the GPU and pinned memory, on rank 0; `unpack`
// has their places in page descriptors, two for a slice.
//
// Prints one JSON object per operation and size: label, op, bytes, us (of one operation of
// the slower rank, operations back to back, four under way), gbs (bytes / us, per
// direction), correct (every element of the last results). The environment chooses the
// rest: COLL_NET_GPU_PATH, COLL_NET_GPU_BLOCKS, COLL_NET_SOCKETS, …

#include "runtime/backend/backend.h"
#include "runtime/backend/net/gpu/channel.h"
#include "runtime/base/env.h"
#include "runtime/base/unpack_layout.h"
#include "runtime/dl/cuda.h"
#include "runtime/net/socket.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace coll::rt;
using Clock = std::chrono::steady_clock;

constexpr int kRanks = 2;
constexpr int kUnderWay = 4;

struct Options {
  bool host = false;
  std::string label = "channel", ops = "send,both,all_reduce",
              sizes = "65536,1048576,16777216,268435456";
};

// The state that the two processes share.
struct Shared {
  double seconds[kRanks];
  bool correct[kRanks];
};

[[noreturn]] void fail(const Status &status) {
  std::fprintf(stderr, "bench-channel: %s\n", status.toString().c_str());
  _exit(1);
}
void check(const Status &status) {
  if (!status.ok())
    fail(status);
}

std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');)
    parts.push_back(part);
  return parts;
}

// Two buffers of a GPU, and access to their content.
class Gpu {
public:
  Gpu(const dl::Cuda &cuda, int rank, bool host) : cuda_(cuda), host_(host) {
    int count = 0;
    call(cuda.deviceGetCount(&count), "cuDeviceGetCount");
    dl::CudaContext context = nullptr;
    call(cuda.primaryContextRetain(&context, rank % count), "cuDevicePrimaryCtxRetain");
    call(cuda.contextSetCurrent(context), "cuCtxSetCurrent");
    call(cuda.streamCreate(&stream_, dl::kCudaStreamNonBlocking), "cuStreamCreate");
  }
  void *allocate(size_t bytes) {
    if (host_)
      return std::aligned_alloc(4096, bytes);
    dl::CudaAddress address = 0;
    call(cuda_.memAlloc(&address, bytes), "cuMemAlloc");
    return reinterpret_cast<void *>(address);
  }
  void write(void *to, const std::vector<float> &from) {
    if (host_) {
      std::memcpy(to, from.data(), from.size() * sizeof(float));
      return;
    }
    call(cuda_.memcpyHtoDAsync(reinterpret_cast<dl::CudaAddress>(to), from.data(),
                               from.size() * sizeof(float), stream_),
         "cuMemcpyHtoDAsync");
    call(cuda_.streamSynchronize(stream_), "cuStreamSynchronize");
  }
  void read(std::vector<float> &to, const void *from) {
    if (host_) {
      std::memcpy(to.data(), from, to.size() * sizeof(float));
      return;
    }
    call(cuda_.memcpyDtoHAsync(to.data(), reinterpret_cast<dl::CudaAddress>(from),
                               to.size() * sizeof(float), stream_),
         "cuMemcpyDtoHAsync");
    call(cuda_.streamSynchronize(stream_), "cuStreamSynchronize");
  }

private:
  void call(dl::CudaResult result, const char *name) { check(dl::cudaStatus(cuda_, result, name)); }
  const dl::Cuda &cuda_;
  const bool host_; // only plays a GPU
  dl::CudaStream stream_ = nullptr;
};

float valueOf(int rank, size_t i) {
  return static_cast<float>((i * 7 + i / 1000) % 1021) + static_cast<float>(rank) * 0.5f;
}

// One rank's measurements.
class Rank {
public:
  Rank(Endpoint &endpoint, Communicator &group, Gpu &gpu, Shared &shared, int rank, size_t maxBytes)
      : endpoint_(endpoint), group_(group), gpu_(gpu), shared_(shared), rank_(rank),
        src_(gpu.allocate(maxBytes)), dst_(gpu.allocate(maxBytes)) {}

  bool isExact() const { return isExact_; } // all results so far
  void measure(const std::string &op, size_t bytes, const std::string &label) {
    const size_t count = bytes / sizeof(float);
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i)
      values[i] = valueOf(rank_, i);
    gpu_.write(src_, values);
    std::fill(values.begin(), values.end(), -1.0f);
    gpu_.write(dst_, values);
    const std::vector<Call> calls = callsOf(op, static_cast<int64_t>(count));
    const int repetitions = bytes >= 64u << 20 ? 12 : bytes >= 4u << 20 ? 60 : 300;
    repeat(calls, repetitions / 4 + 1);
    barrier();
    auto begin = Clock::now();
    repeat(calls, repetitions);
    shared_.seconds[rank_] = std::chrono::duration<double>(Clock::now() - begin).count();
    gpu_.read(values, dst_);
    shared_.correct[rank_] = isRight(op, values);
    barrier();
    isExact_ &= shared_.correct[0] && shared_.correct[1];
    if (rank_ == 0)
      report(op, bytes, label, repetitions);
  }

  // Measures the kernel alone: `bytes` in slices, several in flight.
  static void measureKernel(const std::string &op, size_t bytes, const std::string &label);

private:
  std::vector<Call> callsOf(const std::string &op, int64_t count) const {
    Call call;
    call.count = count;
    call.src = src_;
    call.dst = dst_;
    call.peer = 1 - rank_;
    if (op == "all_reduce") {
      call.kind = OpKind::AllReduce;
      return {call};
    }
    Call send = call, recv = call;
    send.kind = OpKind::Send;
    send.dst = nullptr;
    recv.kind = OpKind::Recv;
    recv.src = nullptr;
    if (op == "both") // one call each way
      return {send, recv};
    return {rank_ == 0 ? send : recv};
  }

  void repeat(const std::vector<Call> &calls, int times) {
    std::vector<Request *> underWay;
    for (int i = 0; i < times; ++i)
      for (const Call &call : calls) {
        if (underWay.size() >= kUnderWay * calls.size()) {
          check(endpoint_.wait(underWay.front()));
          underWay.erase(underWay.begin());
        }
        Result<Request *> request = group_.start(call);
        check(request.status());
        underWay.push_back(*request);
      }
    for (Request *request : underWay)
      check(endpoint_.wait(request));
  }

  void barrier() {
    Call call;
    call.kind = OpKind::Barrier;
    check(group_.run(call));
  }

  bool isRight(const std::string &op, const std::vector<float> &values) const {
    if (op == "send" && rank_ == 0)
      return true;
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] != (op == "all_reduce" ? valueOf(0, i) + valueOf(1, i) : valueOf(1 - rank_, i)))
        return false;
    return true;
  }

  void report(const std::string &op, size_t bytes, const std::string &label, int repetitions) {
    double us = std::max(shared_.seconds[0], shared_.seconds[1]) / repetitions * 1e6;
    std::printf("{\"label\": \"%s\", \"op\": \"%s\", \"bytes\": %zu, \"us\": %.1f, \"gbs\": %.2f, "
                "\"correct\": %s}\n",
                label.c_str(), op.c_str(), bytes, us, static_cast<double>(bytes) / us / 1e3,
                shared_.correct[0] && shared_.correct[1] ? "true" : "false");
    std::fflush(stdout);
  }

  Endpoint &endpoint_;
  Communicator &group_;
  Gpu &gpu_;
  Shared &shared_;
  const int rank_;
  bool isExact_ = true;
  void *src_, *dst_;
};

void Rank::measureKernel(const std::string &op, size_t bytes, const std::string &label) {
  namespace network = coll::rt::network;
  constexpr int64_t kSlice = 1 << 20;
  const int numSlots = op == "unpack" ? static_cast<int>(kUnpackSlots) : 32;
  const network::GpuPlatform &platform = network::gpuPlatform();
  network::GpuChannelOptions options;
  options.blocks = static_cast<int>(envInt(EnvVar::NetGpuBlocks));
  auto gpu = network::GpuContext::open(*platform.cuda, 0);
  check(gpu.status());
  auto pinned =
      network::GpuMemory::create(*gpu, network::GpuMemory::Kind::Pinned, numSlots * kSlice);
  auto device =
      network::GpuMemory::create(*gpu, network::GpuMemory::Kind::Device, numSlots * kSlice);
  auto channel = network::GpuChannel::create(platform, *gpu, options);
  check(pinned.status());
  check(device.status());
  check(channel.status());
  std::memset(pinned->host(), 1, static_cast<size_t>(pinned->bytes()));
  auto pages =
      network::GpuMemory::create(*gpu, network::GpuMemory::Kind::Pinned, sizeof(UnpackMeta));
  check(pages.status());
  auto *meta = reinterpret_cast<UnpackMeta *>(pages->host());
  const bool out = op == "out";
  std::vector<network::GpuChannel::Ticket> tickets;
  const int slices = static_cast<int>(bytes / kSlice) * 8;
  Clock::time_point begin;
  for (int i = 0; i < slices; ++i) {
    if (i == numSlots)
      begin = Clock::now(); // the kernel runs by now
    if (i >= numSlots)
      check((*channel)->waitFor(tickets[static_cast<size_t>(i - numSlots)]));
    ChannelItem item{};
    item.op = ChannelOp::Copy;
    item.dst = (out ? pinned->device() : device->device()) + i % numSlots * kSlice;
    item.src[0] = (out ? device->device() : pinned->device()) + i % numSlots * kSlice;
    item.bytes = kSlice;
    if (op == "unpack") {
      const uint32_t slot = static_cast<uint32_t>(i) % kUnpackSlots;
      const auto at = static_cast<uint32_t>(i % numSlots * kSlice);
      constexpr uint32_t kHalf = kSlice / 2;
      meta->pages[slot][0] = {at, kHalf, 0};
      meta->pages[slot][1] = {at + kHalf, kHalf, kHalf};
      meta->count[slot] = 2;
      item.op = ChannelOp::Unpack;
      item.src[0] = pinned->device();
      item.src[1] = pages->device();
      item.srcBytes = static_cast<uint64_t>(pinned->bytes());
      item.pageSlot = slot;
    }
    auto ticket = (*channel)->post(out ? network::GpuChannel::Out : network::GpuChannel::In, item);
    check(ticket.status());
    tickets.push_back(*ticket);
  }
  check((*channel)->waitFor(tickets.back()));
  double us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / 8;
  std::printf("{\"label\": \"%s\", \"op\": \"%s\", \"bytes\": %zu, \"us\": %.1f, "
              "\"gbs\": %.2f}\n",
              label.c_str(), op.c_str(), bytes, us, static_cast<double>(bytes) / us / 1e3);
  std::fflush(stdout);
}

int runRank(const Options &options, const JobOptions &job, Shared &shared) {
  Result<const dl::Cuda *> cuda = dl::cuda();
  check(cuda.status());
  Gpu gpu(**cuda, job.rank, options.host);
  BackendOptions backendOptions;
  backendOptions.numRanks = kRanks;
  backendOptions.job = job;
  Result<std::unique_ptr<Backend>> backend = createBackend("net", backendOptions);
  check(backend.status());
  Result<std::unique_ptr<Endpoint>> endpoint = (*backend)->endpoint(job.rank);
  check(endpoint.status());
  (*endpoint)->enter();
  Result<std::unique_ptr<Communicator>> group = (*endpoint)->communicator({0, 1});
  check(group.status());
  std::vector<size_t> sizes;
  for (const std::string &size : split(options.sizes))
    sizes.push_back(std::strtoull(size.c_str(), nullptr, 10));
  Rank rank(**endpoint, **group, gpu, shared, job.rank,
            *std::max_element(sizes.begin(), sizes.end()));
  for (const std::string &op : split(options.ops))
    for (size_t bytes : sizes)
      if (op != "out" && op != "in" && op != "unpack")
        rank.measure(op, bytes, options.label);
      else if (job.rank == 0)
        Rank::measureKernel(op, bytes, options.label);
  (*endpoint)->leave();
  return rank.isExact() ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    auto value = [&](const char *name, std::string &to) {
      if (word.rfind(name, 0) != 0)
        return false;
      to = word.substr(std::strlen(name));
      return true;
    };
    if (word == "--host")
      options.host = true;
    else if (!value("--label=", options.label) && !value("--ops=", options.ops) &&
             !value("--sizes=", options.sizes)) {
      std::fprintf(stderr,
                   "usage: bench-channel [--host] [--label=TEXT] [--ops=OP,…] [--sizes=BYTES,…]\n");
      return 2;
    }
  }
  auto *shared = static_cast<Shared *>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  namespace net = coll::net;
  net::Fd listener = net::listenOn(net::Address::parse("127.0.0.1:0").take()).take();
  JobOptions job;
  job.worldSize = kRanks;
  job.bootstrap = net::localAddress(listener)->toString();
  job.secret = "of these processes alone";
  job.iface = "lo";
  for (int rank = 0; rank < kRanks; ++rank) {
    if (fork() != 0)
      continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    job.rank = rank;
    if (rank == 0)
      job.listenFd = dup(listener.get());
    std::exit(runRank(options, job, *shared));
  }
  int code = 0, status = 0;
  while (wait(&status) > 0)
    code |= status;
  return code ? 1 : 0;
}
