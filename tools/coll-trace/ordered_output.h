// ordered_output.h - one file, written by several threads: pieces come out in the order of their
// numbers.

#ifndef COLL_TOOLS_COLL_TRACE_ORDERED_OUTPUT_H
#define COLL_TOOLS_COLL_TRACE_ORDERED_OUTPUT_H

#include "runtime/profiler/perfetto/sink.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>

namespace coll::trace {

// Pieces are numbered from 0 and begun in this order; each is written by one thread. A piece whose
// turn has come is written as it grows; others are held, and wait for their turn beyond 32 MiB.
class OrderedOutput {
public:
  explicit OrderedOutput(profiler::perfetto::FileSink &sink) : sink_(sink) {}

  class Piece {
  public:
    // `buffer` holds what waits; one buffer serves the pieces of a thread, one after the other.
    Piece(OrderedOutput &output, size_t number, std::string &buffer)
        : output_(output), number_(number), pending_(buffer) {
      pending_.clear();
    }
    Piece(const Piece &) = delete;
    Piece &operator=(const Piece &) = delete;
    // Ends the piece, also where it failed: without it no later one is written.
    ~Piece();

    rt::Status add(std::string_view packet);
    rt::Status flush();

  private:
    OrderedOutput &output_;
    const size_t number_;
    std::string &pending_;
  };

  uint64_t bytes() const { return bytes_; }

private:
  bool isTurnOf(size_t number);
  void awaitTurnOf(size_t number);

  profiler::perfetto::FileSink &sink_;
  std::mutex mutex_;
  std::condition_variable turned_;
  size_t turn_ = 0;
  uint64_t bytes_ = 0; // by the thread whose turn it is
};

} // namespace coll::trace

#endif // COLL_TOOLS_COLL_TRACE_ORDERED_OUTPUT_H
