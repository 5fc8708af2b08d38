#include "tools/coll-trace/ordered_output.h"

#include "runtime/profiler/perfetto/fields.h"

namespace coll::trace {

namespace {

constexpr size_t kWriteBytes = size_t(4) << 20, kMostHeldBytes = size_t(32) << 20;

} // namespace

bool OrderedOutput::isTurnOf(size_t number) {
  std::lock_guard<std::mutex> lock(mutex_);
  return turn_ == number;
}

void OrderedOutput::awaitTurnOf(size_t number) {
  std::unique_lock<std::mutex> lock(mutex_);
  turned_.wait(lock, [&] { return turn_ == number; });
}

OrderedOutput::Piece::~Piece() {
  output_.awaitTurnOf(number_);
  {
    std::lock_guard<std::mutex> lock(output_.mutex_);
    ++output_.turn_;
  }
  output_.turned_.notify_all();
}

rt::Status OrderedOutput::Piece::add(std::string_view packet) {
  uint8_t head[16];
  size_t length = packet.size(), at = 0;
  head[at++] = profiler::perfetto::fields::trace::kPacket << 3 | 2;
  for (; length >= 0x80; length >>= 7)
    head[at++] = static_cast<uint8_t>(length | 0x80);
  head[at++] = static_cast<uint8_t>(length);
  const size_t before = pending_.size();
  pending_.append(reinterpret_cast<const char *>(head), at);
  pending_.append(packet);
  // Checked only once in so many bytes, because it takes a lock.
  const bool isPieceFull = pending_.size() / kWriteBytes > before / kWriteBytes;
  if (!isPieceFull || (pending_.size() < kMostHeldBytes && !output_.isTurnOf(number_)))
    return rt::Status::okay();
  return flush();
}

rt::Status OrderedOutput::Piece::flush() {
  output_.awaitTurnOf(number_);
  output_.bytes_ += pending_.size();
  rt::Status status = output_.sink_.write(pending_);
  pending_.clear();
  return status;
}

} // namespace coll::trace
