//===- signals.h - signals by which a user ends a program ---------------*- C++ -*-===//

#ifndef COLL_TOOLS_COMMON_SIGNALS_H
#define COLL_TOOLS_COMMON_SIGNALS_H

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace coll {

/// Installs `handler`, unless the signal was ignored when the program started (nohup, a shell that
/// starts it in the background). Returns the previous action.
using SignalHandler = void (*)(int);
inline SignalHandler handleUserSignal(int number, SignalHandler handler) {
  SignalHandler before = signal(number, handler);
  if (before == SIG_IGN)
    signal(number, SIG_IGN);
  return before;
}

/// The user's requests by signals. One request may arrive as several signals: a terminal also
/// signals the launcher, which passes it on, perhaps as SIGTERM; `timeout` sends its signal twice.
/// So signals within a second after the first count as the same request.
class UserRequest {
public:
  void forget() { signal_ = isImpatient_ = 0; }
  /// From a handler.
  void receive(int number) {
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t ms = int64_t(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
    if (signal_ != 0) {
      isImpatient_ = ms - firstMs_ >= kOneRequestMs;
      return;
    }
    firstMs_ = ms;
    signal_ = number;
  }
  /// The first, or 0.
  int signal() const { return signal_; }
  /// Whether the user has asked again, and does not want to wait any longer.
  bool isImpatient() const { return isImpatient_ != 0; }

private:
  static constexpr int64_t kOneRequestMs = 1000;
  std::atomic<int> signal_ = 0, isImpatient_ = 0;
  std::atomic<int64_t> firstMs_ = 0;
  static_assert(std::atomic<int64_t>::is_always_lock_free, "a handler takes no locks");
};

} // namespace coll

#endif // COLL_TOOLS_COMMON_SIGNALS_H
