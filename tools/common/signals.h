//===- signals.h - signals by which a user ends a program ---------------*- C++ -*-===//

#ifndef COLL_TOOLS_COMMON_SIGNALS_H
#define COLL_TOOLS_COMMON_SIGNALS_H

#include <csignal>

namespace coll {

/// From now on `handler` is called, unless whoever started the program has the signal ignored
/// (nohup, a shell that starts it in the background). Returns what was there before.
using SignalHandler = void (*)(int);
inline SignalHandler handleUserSignal(int number, SignalHandler handler) {
  SignalHandler before = signal(number, handler);
  if (before == SIG_IGN)
    signal(number, SIG_IGN);
  return before;
}

} // namespace coll

#endif // COLL_TOOLS_COMMON_SIGNALS_H
