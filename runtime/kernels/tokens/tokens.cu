#include "runtime/kernels/launch.h"
#include "runtime/kernels/tokens/tokens_device.cuh"

#include <algorithm>

namespace coll::kernels {

using rt::Status;

namespace {

constexpr uint64_t kBlocksPerProcessor = 8; // that fill a multiprocessor

__global__ void __launch_bounds__(kTokenThreads)
    widenExperts(const __grid_constant__ WidenExperts args) {
  tokens::widen(args);
}

__global__ void __launch_bounds__(kTokenThreads)
    unpackTokens(const __grid_constant__ UnpackTokens args) {
  tokens::Unpacker(args).run();
}

__global__ void __launch_bounds__(kTokenThreads)
    readRoute(const __grid_constant__ TokenRoute args) {
  __shared__ tokens::RouteScratch scratch;
  tokens::RouteCounter(args, scratch).run();
}

__global__ void __launch_bounds__(kTokenThreads)
    checkRoute(const __grid_constant__ TokenRoute args) {
  tokens::checkRoute(args);
}

// With a block for each kTokenThreads of `threads` threads, as far as they run at the same time.
template <typename Args>
Status launch(const char *name, void (*kernel)(Args), Args args, uint64_t threads, void *stream) {
  const auto address = reinterpret_cast<const void *>(kernel);
  const rt::Result<PreparedKernel> prepared = prepareKernel(address, 0);
  if (!prepared)
    return prepared.status();
  const uint64_t most = static_cast<uint64_t>(prepared->processors) * kBlocksPerProcessor;
  const uint64_t blocks =
      std::clamp<uint64_t>((threads + kTokenThreads - 1) / kTokenThreads, 1, most);
  void *arguments[] = {&args};
  return launchKernel(name, address, static_cast<int>(blocks), kTokenThreads, 0, arguments, stream);
}

} // namespace

Status launchWidenExperts(const WidenExperts &widen, void *stream) {
  COLL_RETURN_IF_ERROR(checkWidenExperts(widen));
  return widen.count == 0 ? Status::okay()
                          : launch("widen experts", widenExperts, widen, widen.count, stream);
}

Status launchUnpackTokens(const UnpackTokens &unpack, void *stream) {
  COLL_RETURN_IF_ERROR(checkUnpackTokens(unpack));
  const TokenShape &shape = unpack.shape;
  const uint64_t threads = std::max<uint64_t>(uint64_t{shape.capacity} * 32, shape.tokens);
  return launch("unpack tokens", unpackTokens, unpack, threads, stream);
}

Status launchReadRoute(const TokenRoute &route, void *stream) {
  COLL_RETURN_IF_ERROR(checkTokenRoute(route));
  return launch("read route", readRoute, route, uint64_t{route.shape.groupSize} * kTokenThreads,
                stream);
}

Status launchCheckRoute(const TokenRoute &route, void *stream) {
  COLL_RETURN_IF_ERROR(checkTokenRoute(route));
  return launch("check route", checkRoute, route, route.shape.capacity, stream);
}

Status rehearseTokenKernels(void *stream) {
  COLL_RETURN_IF_ERROR(launch("a rehearsal", widenExperts, WidenExperts{}, 0, stream));
  COLL_RETURN_IF_ERROR(launch("a rehearsal", unpackTokens, UnpackTokens{}, 0, stream));
  COLL_RETURN_IF_ERROR(launch("a rehearsal", readRoute, TokenRoute{}, 0, stream));
  return launch("a rehearsal", checkRoute, TokenRoute{}, 0, stream);
}

} // namespace coll::kernels
