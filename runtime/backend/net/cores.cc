#include "runtime/backend/net/cores.h"

#include "runtime/base/boot_id.h"
#include "runtime/base/machine.h"

#include <algorithm>

namespace coll::rt::network {

namespace {

// The text of a boot id, and as many processors as the kernel knows.
constexpr size_t kMaxMachineBytes = 64;
constexpr size_t kMaxProcessorBytes = 1024;

bool has(const Seat &seat, size_t processor) {
  return processor / 8 < seat.processors.size() &&
         (seat.processors[processor / 8] >> processor % 8 & 1);
}

} // namespace

Seat ownSeat() {
  Seat seat;
  seat.machine = bootId();
  seat.machine.resize(std::min(seat.machine.size(), kMaxMachineBytes));
  for (int number : ProcessorSet::allowed().numbers()) {
    const auto cpu = static_cast<size_t>(number);
    if (cpu / 8 >= kMaxProcessorBytes)
      break;
    seat.processors.resize(cpu / 8 + 1);
    seat.processors.back() |= static_cast<uint8_t>(1u << cpu % 8);
  }
  return seat;
}

std::string encode(const Seat &seat) {
  std::string bytes = seat.machine + '\n';
  return bytes.append(seat.processors.begin(), seat.processors.end());
}

std::optional<Seat> decodeSeat(std::string_view bytes) {
  size_t end = bytes.find('\n');
  if (end == std::string_view::npos || end > kMaxMachineBytes ||
      bytes.size() - end - 1 > kMaxProcessorBytes)
    return std::nullopt;
  return Seat{std::string(bytes.substr(0, end)),
              std::vector<uint8_t>(bytes.begin() + static_cast<ptrdiff_t>(end) + 1, bytes.end())};
}

double coresOf(const std::vector<Seat> &seats, size_t rank) {
  const Seat &own = seats[rank];
  double cores = 0;
  for (size_t cpu = 0; cpu < 8 * own.processors.size(); ++cpu) {
    if (!has(own, cpu))
      continue;
    int users = 1;
    for (size_t i = 0; i < seats.size(); ++i)
      users += i != rank && !own.machine.empty() && seats[i].machine == own.machine &&
               has(seats[i], cpu);
    cores += 1.0 / users;
  }
  return cores;
}

} // namespace coll::rt::network
