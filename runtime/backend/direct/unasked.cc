#include "runtime/backend/direct/unasked.h"

#include <algorithm>
#include <string>

namespace coll::rt::direct {

namespace {

// An H100 or H200: the small kernels leave room on this many multiprocessors.
constexpr int kMajor = 9, kMinor = 0, kMultiprocessors = 132;
// Packets of both hops from all members, twice what the largest of these calls needs.
constexpr uint64_t kPacketArea = 2 << 20, kRingBytes = 64 << 10;

Status isTimed(const dl::Cuda &cuda, int gpu) {
  int major = 0, minor = 0, multiprocessors = 0;
  // An attribute that the driver does not report stays 0.
  (void)cuda.deviceGetAttribute(&major, dl::kCudaComputeMajor, gpu);
  (void)cuda.deviceGetAttribute(&minor, dl::kCudaComputeMinor, gpu);
  (void)cuda.deviceGetAttribute(&multiprocessors, dl::kCudaMultiprocessors, gpu);
  if (major == kMajor && minor == kMinor && multiprocessors >= kMultiprocessors)
    return {};
  return {kCollUnsupported,
          "direct: GPU " + std::to_string(gpu) + " has compute capability " +
              std::to_string(major) + "." + std::to_string(minor) + " and " +
              std::to_string(multiprocessors) +
              " multiprocessors; without a route in COLL_ROUTES it serves GPUs of 9.0 " + "with " +
              std::to_string(kMultiprocessors) + ", as an H200"};
}

} // namespace

kernels::WorkspaceSizes unaskedSizes(kernels::WorkspaceSizes most) {
  return {std::min(most.packetArea, kPacketArea), 1, std::min(most.ringBytes, kRingBytes),
          most.slots};
}

Status servesUnasked(const dl::Cuda &cuda, int gpu, int peer) {
  COLL_RETURN_IF_ERROR(isTimed(cuda, gpu));
  COLL_RETURN_IF_ERROR(isTimed(cuda, peer));
  int atomics = 0;
  if (gpu == peer ||
      (cuda.deviceGetPeerAttribute &&
       cuda.deviceGetPeerAttribute(&atomics, dl::kCudaPeerAtomics, gpu, peer) == dl::kCudaSuccess &&
       atomics != 0))
    return {};
  return {kCollUnsupported, "direct: GPUs " + std::to_string(gpu) + " and " + std::to_string(peer) +
                                " are not connected by NVLink"};
}

} // namespace coll::rt::direct
