// ordered_output.h - one file written by several threads: pieces are written in the order of their
// numbers.

#ifndef COLL_TOOLS_COLL_TRACE_ORDERED_OUTPUT_H
#define COLL_TOOLS_COLL_TRACE_ORDERED_OUTPUT_H

#include "runtime/profiler/perfetto/sink.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>

namespace coll::trace {

// Pieces are numbered from 0 and begun in this order; each is written by one thread. The piece
// whose turn it is goes to the file as it grows. Others are buffered, and their threads block once
// they hold 32 MiB.
class OrderedOutput {
public:
  explicit OrderedOutput(profiler::perfetto::FileSink &sink) : sink_(sink) {}

  class Piece {
  public:
    // `buffer` holds data that cannot be written yet; all pieces of a thread, one after the other,
    // can use the same buffer.
    Piece(OrderedOutput &output, size_t number, std::string &buffer)
        : output_(output), number_(number), pending_(buffer) {
      pending_.clear();
    }
    Piece(const Piece &) = delete;
    Piece &operator=(const Piece &) = delete;
    // Ends the piece, even after a failure: otherwise no later one could be written.
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
