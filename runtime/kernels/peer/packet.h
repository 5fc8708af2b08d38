// packet.h - the two values that packets reserve: see packet_device.cuh.

#ifndef COLL_RUNTIME_KERNELS_PEER_PACKET_H
#define COLL_RUNTIME_KERNELS_PEER_PACKET_H

#include <cstdint>

namespace coll::kernels {

// The empty value; the escape value differs in its last word. Any values will do; these are NaNs of
// an uncommon pattern in every float type.
inline constexpr uint32_t kEmptyWord0 = 0xfff7a5c3u, kEmptyWord1 = 0x7ffd3c96u,
                          kEmptyWord2 = 0xfff5c35au, kEmptyWord3 = 0x7ffe5a69u;
inline constexpr uint32_t kEscapeWord3 = 0x7ffe5a6au; // the last word of the escape value

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PEER_PACKET_H
