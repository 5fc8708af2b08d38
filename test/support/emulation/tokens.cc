#include "test/support/emulation/tokens.h"

#include "runtime/kernels/tokens/tokens_device.cuh"

namespace coll::kernels {

namespace {

constexpr uint32_t kBlocks = 2, kThreads = 64;

} // namespace

void emulateWidenExperts(const WidenExperts &widen) {
  simt::run({kBlocks, kThreads, 16}, [&](char *) { tokens::widen(widen); });
}

void emulateUnpackTokens(const UnpackTokens &unpack) {
  simt::run({kBlocks, kThreads, 16}, [&](char *) { tokens::Unpacker(unpack).run(); });
}

void emulateReadRoute(const TokenRoute &route) {
  simt::run({route.shape.groupSize, kThreads, sizeof(tokens::RouteScratch)}, [&](char *shared) {
    tokens::RouteCounter(route, *reinterpret_cast<tokens::RouteScratch *>(shared)).run();
  });
}

void emulateCheckRoute(const TokenRoute &route) {
  simt::run({kBlocks, kThreads, 16}, [&](char *) { tokens::checkRoute(route); });
}

} // namespace coll::kernels
