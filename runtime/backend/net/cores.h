// cores.h - how many cores a rank has to itself, which decides who moves its messages.

#ifndef COLL_RUNTIME_BACKEND_NET_CORES_H
#define COLL_RUNTIME_BACKEND_NET_CORES_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coll::rt::network {

// With so few, a thread beside the one that waits would only take its place.
inline constexpr double kFewCores = 2;

// Where a process runs: its machine, and the processors that it may use, a bit each.
struct Seat {
  std::string machine; // empty: unknown, so unlike any other
  std::vector<uint8_t> processors;
};

Seat ownSeat();
std::string encode(const Seat &seat);
// Nullopt where a peer sent something else.
std::optional<Seat> decodeSeat(std::string_view bytes);

// The cores that a rank has to itself: of a processor that several ranks of its machine may
// use, each has an equal share. 0 where its own seat names no processor.
double coresOf(const std::vector<Seat> &seats, size_t rank);
inline bool areFew(double cores) { return cores > 0 && cores <= kFewCores; }

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_CORES_H
