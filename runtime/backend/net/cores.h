// cores.h - how many cores a rank has to itself, which decides which thread moves its messages.

#ifndef COLL_RUNTIME_BACKEND_NET_CORES_H
#define COLL_RUNTIME_BACKEND_NET_CORES_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coll::rt::network {

// With at most this many cores, a thread beside the waiting thread would only compete with it.
inline constexpr double kFewCores = 2;

// The place of a process: its machine, and a bit for each processor that it may use.
struct Seat {
  std::string machine; // empty: unknown, so different from any other
  std::vector<uint8_t> processors;
};

Seat ownSeat();
std::string encode(const Seat &seat);
// Nullopt if the bytes, which come from a peer, are not a seat.
std::optional<Seat> decodeSeat(std::string_view bytes);

// The cores that a rank has to itself: each processor is divided equally among the ranks of its
// machine that may use it. 0 if its own seat names no processor.
double coresOf(const std::vector<Seat> &seats, size_t rank);
inline bool areFew(double cores) { return cores > 0 && cores <= kFewCores; }

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_CORES_H
