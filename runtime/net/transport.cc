#include "runtime/net/transport.h"

#include "runtime/base/env.h"
#include "runtime/net/socket.h"

#include <algorithm>
#include <thread>

namespace coll::net {

Result<uint64_t> wait(Connection &connection, Request *request, int64_t timeoutUs) {
  if (!request)
    return Status::invalid("there is no request to wait for");
  int64_t begin = nowUs(), spinUs = rt::envInt(rt::EnvVar::SpinUs), pauseUs = 1;
  while (true) {
    Result<Completion> completion = connection.test(request);
    if (!completion.ok())
      return completion.status();
    if (completion->done)
      return completion->bytes;
    int64_t passedUs = nowUs() - begin;
    if (passedUs >= timeoutUs)
      return Status(kCollTimeout,
                    "the request has not ended in " + std::to_string(timeoutUs) + " us");
    if (passedUs < spinUs)
      continue;
    // The transport's threads progress during longer waits, which may then notice the end later.
    connection.rest();
    std::this_thread::sleep_for(std::chrono::microseconds(pauseUs));
    pauseUs = std::min<int64_t>(pauseUs * 2, 200);
  }
}

bool RemoteRows::areRows(uint64_t bytes) const {
  return rowBytes == 0 ||
         (stride >= rowBytes && bytes % rowBytes == 0 && bytes / rowBytes <= kMaxRemoteRows);
}

bool RemoteRows::fit(uint64_t bytes, uint64_t size) const {
  const uint64_t first = rowBytes ? std::min<uint64_t>(bytes, rowBytes) : bytes;
  if (!areRows(bytes) || offset > size || first > size - offset)
    return false;
  const uint64_t others = first ? bytes / first - 1 : 0;
  return others == 0 || stride <= (size - offset - first) / others;
}

uint64_t RemoteRows::at(uint64_t position) const {
  return rowBytes ? offset + position / rowBytes * stride + position % rowBytes : offset + position;
}

uint64_t RemoteRows::following(uint64_t position) const {
  return rowBytes ? rowBytes - position % rowBytes : UINT64_MAX;
}

Result<uint64_t> totalBytes(const Segment *segments, int count, const RemoteRows &rows,
                            const DeviceProperties &properties) {
  Result<uint64_t> total = totalBytes(segments, count, properties);
  if (total && !rows.areRows(*total))
    return Status::invalid(std::to_string(*total) + " bytes cannot be read as rows of " +
                           std::to_string(rows.rowBytes) + " bytes, " +
                           std::to_string(rows.stride) + " apart and at most " +
                           std::to_string(kMaxRemoteRows));
  return total;
}

Result<uint64_t> totalBytes(const Segment *segments, int count,
                            const DeviceProperties &properties) {
  if (count < 0 || count > properties.maxSegments || (count > 0 && !segments))
    return Status::invalid("a request has 0 to " + std::to_string(properties.maxSegments) +
                           " buffers, not " + std::to_string(count));
  uint64_t total = 0;
  for (int i = 0; i < count; ++i) {
    if (segments[i].bytes > 0 && !segments[i].data)
      return Status::invalid("buffer " + std::to_string(i) + " is null");
    if (segments[i].bytes > properties.maxMessageBytes - total)
      return Status::invalid("a request moves at most " +
                             std::to_string(properties.maxMessageBytes) + " bytes");
    total += segments[i].bytes;
  }
  return total;
}

} // namespace coll::net
