#include "tools/coll-info/sections.h"

#include "runtime/backend/auto/routes.h"
#include "runtime/backend/backend.h"
#include "runtime/base/env.h"
#include "runtime/dl/cublaslt.h"
#include "runtime/dl/cuda.h"
#include "runtime/dl/nccl.h"
#ifdef COLL_HAS_NET
#include "runtime/backend/direct/direct.h"
#include "runtime/backend/direct/unasked.h"
#include "runtime/backend/net/gpu/transport.h"
#include "runtime/base/paths.h"
#include "runtime/gpu/memory.h"
#include "runtime/net/gpu/transport.h"
#include "runtime/net/tcp/tcp.h"
#endif
#ifdef COLL_HAVE_VERBS
#include "runtime/net/verbs/verbs.h"
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>

namespace coll::info {

namespace {

void heading(const char *text) { std::printf("\n%s\n", text); }

#ifdef COLL_HAS_NET
void printDevices(const char *name, const rt::Result<std::unique_ptr<net::Transport>> &transport) {
  if (!transport.ok()) {
    std::printf("  %-8s not available: %s\n", name, transport.status().message().c_str());
    return;
  }
  for (const net::DeviceProperties &device : (*transport)->devices()) {
    std::string speed = device.speedMbps > 0 ? std::to_string(device.speedMbps / 1000) + " Gbit/s"
                                             : "speed unknown";
    std::printf("  %-8s %-12s %s, %s%s%s\n", name, device.name.c_str(), device.address.c_str(),
                speed.c_str(), device.pciPath.empty() ? "" : ", ", device.pciPath.c_str());
  }
}
#endif

// Returns the folder of this program, with a slash at the end; empty if it is unknown.
std::string ownFolder() {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  std::string text(path, length > 0 ? static_cast<size_t>(length) : 0);
  return text.substr(0, text.rfind('/') + 1);
}

// Breaks `text` into lines of a terminal's width, each with `indent` spaces before it.
void printWrapped(const std::string &text, size_t indent) {
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.size();
    if (end - begin > 96 - indent) {
      end = text.rfind(' ', begin + 96 - indent);
      if (end == std::string::npos || end <= begin)
        end = text.size();
    }
    std::printf("%*s%s\n", static_cast<int>(indent), "", text.substr(begin, end - begin).c_str());
    begin = end + 1;
  }
}

// Returns why a backend cannot be used on this machine, or ok.
rt::Status isHere(const std::string &backend) {
#ifdef COLL_HAS_NET
  if (backend == "direct")
    return rt::direct::available({});
#endif
  if (backend != "nccl")
    return {};
  rt::Status gpu = rt::dl::cuda().status();
  return gpu.ok() ? rt::dl::nccl().status() : gpu;
}

} // namespace

void printBackends() {
  heading("backends (coll-run takes threads and net, coll-perf all)");
  for (const std::string &name : rt::backendNames()) {
    const rt::Status here = isHere(name);
    const std::string gap(9 - std::min<size_t>(name.size(), 8), ' ');
    printWrapped(here.ok() ? name : name + gap + "not available here: " + here.message(), 2);
  }
}

void printTransports() {
  heading("transports between processes");
#ifndef COLL_HAS_NET
  std::printf("  none: built without OpenSSL\n");
#else
  net::TcpOptions tcp = net::TcpOptions::fromEnv();
  tcp.threads = 1;
  printDevices("tcp", createTcpTransport(tcp, std::nullopt));
#ifdef COLL_HAVE_VERBS
  printDevices("verbs", createVerbsTransport(net::VerbsOptions::fromEnv(), std::nullopt));
  printWrapped("verbs directly into GPU memory is tested with fakes only, not on RDMA hardware.",
               11);
#else
  std::printf("  verbs    not in this build: built without libibverbs' headers\n");
#endif
#endif
}

void printGpus() {
  heading("GPUs");
  rt::Result<const rt::dl::Cuda *> cuda = rt::dl::cuda();
  if (!cuda.ok()) {
    std::printf("  none: %s\n", cuda.status().message().c_str());
    return;
  }
  rt::Result<std::vector<rt::dl::CudaDeviceInfo>> devices = rt::dl::cudaDevices(**cuda);
  if (!devices.ok()) {
    std::printf("  none: %s\n", devices.status().message().c_str());
    return;
  }
  for (const rt::dl::CudaDeviceInfo &device : *devices)
    std::printf(
        "  %d  %s, %.0f GiB, compute capability %d.%d, %d multiprocessors, %s, dmabuf: %s\n",
        device.ordinal, device.name.c_str(), static_cast<double>(device.memoryBytes) / (1 << 30),
        device.computeMajor, device.computeMinor, device.multiprocessors, device.pciBusId.c_str(),
        device.dmabuf ? "yes" : "no");
}

void printNccl() {
  heading("NCCL (backend nccl)");
  rt::Result<const rt::dl::Nccl *> nccl = rt::dl::nccl();
  if (!nccl.ok()) {
    std::printf("  %s\n", nccl.status().message().c_str());
    return;
  }
  std::printf("  %s, symmetric windows: %s, own all_to_all: %s\n",
              rt::dl::ncclVersionName((*nccl)->version).c_str(),
              (*nccl)->windowRegister ? "yes" : "no", (*nccl)->allToAll ? "yes" : "no");
}

void printCublasLt() {
  heading("cuBLASLt (matrix products of steps on GPUs)");
  rt::Result<const rt::dl::CublasLt *> lt = rt::dl::cublasLt();
  if (!lt.ok())
    std::printf("  %s\n", lt.status().message().c_str());
  else
    std::printf("  version %zu\n", (*lt)->getVersion());
}

#ifdef COLL_HAS_NET
// Returns, for example, "1, 2": the GPUs whose memory this one can access.
std::string reachedBy(const rt::dl::Cuda &cuda, int gpu, int count) {
  std::string text;
  for (int peer = 0; peer < count; ++peer) {
    int can = 0;
    if (peer != gpu && cuda.deviceCanAccessPeer(&can, gpu, peer) == rt::dl::kCudaSuccess && can)
      text += (text.empty() ? "" : ", ") + std::to_string(peer);
  }
  return text.empty() ? "no other GPU's memory" : "memory of GPUs " + text;
}
#endif

void printPeers() {
  heading("memory of other GPUs (backend direct)");
#ifndef COLL_HAS_NET
  std::printf("  none: built without OpenSSL\n");
#else
  if (rt::Status here = rt::direct::available({}); !here.ok()) {
    printWrapped(here.message(), 2);
    return;
  }
  const rt::dl::Cuda &cuda = **rt::dl::cuda();
  int count = 0;
  (void)cuda.deviceGetCount(&count); // it stays 0, and nothing is printed
  for (int gpu = 0; gpu < count; ++gpu)
    std::printf("  %d  reaches %s; between processes: CUDA IPC%s\n", gpu,
                reachedBy(cuda, gpu, count).c_str(),
                rt::gpu::canShare(cuda, gpu, rt::gpu::Sharing::Vmm) ? ", VMM descriptors" : "");
  if (count < 2)
    return;
  rt::Status unasked;
  for (int gpu = 0; gpu < count; ++gpu)
    for (int peer = 0; peer < gpu && unasked.ok(); ++peer)
      unasked = rt::direct::servesUnasked(cuda, gpu, peer);
  printWrapped(unasked.ok() ? "backend auto sends small calls there by default, between all GPUs"
                            : "not by default between all GPUs: " + unasked.message(),
               2);
#endif
}

bool printRoutes() {
  heading(
      "routes of backend auto (a call uses the first that fits and whose backend is available)");
  rt::Result<rt::Routes> routes = rt::Routes::fromEnv();
  if (!routes.ok()) {
    printWrapped(routes.status().message(), 2);
    return false;
  }
  printWrapped("from " + routes->origin(), 2);
  for (const rt::Route &route : routes->all()) {
    printWrapped(route.describe(), 4);
    if (!isHere(route.backend).ok()) // there may be many routes, and the reason is printed once
      printWrapped("not available here, see backends", 6);
  }
  return true;
}

#ifdef COLL_HAS_NET
namespace {

std::string below(int64_t bytes, const std::string &path) {
  return bytes > 0 ? path + " below " + std::to_string(bytes) + " bytes, else " : "";
}

std::string describe(const net::DeviceOptions &plugin) {
  if (!plugin.unpacks())
    return "HOST";
  const std::string host = plugin.isByTable ? "HOST, if CUDA loads kernels eagerly," : "HOST";
  return below(static_cast<int64_t>(plugin.unpackThreshold), host) + "UNPACK";
}

rt::Status printChosenPaths(const std::string &transport) {
  rt::Result<rt::Paths> table = rt::Paths::fromEnv();
  if (!table.ok())
    return table.status();
  rt::Result<rt::network::GpuMoverOptions> net = rt::network::gpuOptionsFromEnv(transport, 1);
  if (!net.ok())
    return net.status();
  rt::Result<net::DeviceOptions> plugin = net::DeviceOptions::fromEnvAndTable(transport);
  if (!plugin.ok())
    return plugin.status();
  printWrapped("backend net: " + below(net->kernelEnd, "kernel") + nameOf(net->path) + " (" +
                   net->chosenBy + ")",
               2);
  printWrapped("plugin for NCCL: " + describe(*plugin) + " (" + plugin->chosenBy + ")", 2);
  if (table->all().empty())
    printWrapped("no table: COLL_ROUTES names none with paths", 2);
  for (const rt::PathRule &rule : table->all())
    printWrapped("in the table: " + rule.describe(), 4);
  if (rt::Status gpu = rt::dl::cuda().status(); !gpu.ok())
    printWrapped("not available here: " + gpu.message(), 2);
  return {};
}

} // namespace
#endif

bool printPaths() {
#ifndef COLL_HAS_NET
  return true;
#else
  const std::string transport = rt::envString(rt::EnvVar::NetTransport);
  const bool scatter = rt::envInt(rt::EnvVar::NetScatter) != 0;
  heading(("paths of GPU memory over " + rt::transportKind(transport, scatter)).c_str());
  rt::Status printed = printChosenPaths(transport);
  if (!printed.ok())
    printWrapped(printed.message(), 2);
  return printed.ok();
#endif
}

void printNcclPlugin() {
  heading("net plugin for NCCL");
  std::string folder = ownFolder();
  for (const char *place : {"../lib/", ""}) {
    std::string path = folder + place + "libnccl-net-coll.so";
    if (access(path.c_str(), R_OK) == 0) {
      char *real = realpath(path.c_str(), nullptr);
      std::printf("  NCCL_NET_PLUGIN=%s\n", real ? real : path.c_str());
      std::free(real);
      return;
    }
  }
  std::printf("  none: libnccl-net-coll.so is neither in this program's folder nor in ../lib\n");
}

void printEnvironment() {
  heading("environment (variable = default)");
  for (const rt::EnvInfo &info : rt::envTable()) {
    std::string set = rt::foreignEnv(info.name).value_or("");
    if (!set.empty())
      set = info.var == rt::EnvVar::Secret ? "; set" : "; set to " + set;
    std::printf("  %s = %s%s\n", info.name, *info.defaultValue ? info.defaultValue : "(none)",
                set.c_str());
    printWrapped(info.help, 6);
  }
}

} // namespace coll::info
