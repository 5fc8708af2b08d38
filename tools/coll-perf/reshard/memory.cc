#include "tools/coll-perf/reshard/memory.h"

#include "runtime/net/tcp/tcp.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace coll::perf {

namespace {

constexpr int64_t kPartBytes = 8 << 20;

} // namespace

Result<std::unique_ptr<net::Transport>> makeTcp() {
  net::TcpOptions options = net::TcpOptions::fromEnv();
  if (options.iface.empty())
    options.iface = "lo";
  return net::createTcpTransport(options, std::nullopt);
}

Status HostRankMemory::spoil() {
  for (Place place : {Place::Target, Place::Scratch})
    if (own(place).bytes > 0)
      std::memset(own(place).data, kSpoiled, static_cast<size_t>(own(place).bytes));
  return {};
}

Status HostRankMemory::write(char *to, const char *from, int64_t bytes) {
  std::memcpy(to, from, static_cast<size_t>(bytes));
  return {};
}

Status RankMemory::fill(const ShardPattern &pattern) {
  const int64_t part = kPartBytes / pattern.elemBytes();
  std::vector<char> data(
      static_cast<size_t>(std::min(pattern.elems(), part) * pattern.elemBytes()));
  for (int64_t at = 0; at < pattern.elems(); at += part) {
    const int64_t end = std::min(at + part, pattern.elems());
    pattern.fill(at, end, data.data());
    // The buffer does not contain the last padding.
    const int64_t begin = at * pattern.elemBytes();
    const int64_t bytes =
        std::min((end - at) * pattern.elemBytes(), own(Place::Source).bytes - begin);
    if (bytes > 0)
      COLL_RETURN_IF_ERROR(write(own(Place::Source).data + begin, data.data(), bytes));
  }
  return {};
}

Result<int64_t> RankMemory::wrong(const ShardPattern &pattern) {
  const int64_t part = kPartBytes / pattern.elemBytes();
  std::vector<char> data(
      static_cast<size_t>(std::min(pattern.elems(), part) * pattern.elemBytes()));
  int64_t wrong = 0;
  for (int64_t at = 0; at < pattern.elems(); at += part) {
    const int64_t end = std::min(at + part, pattern.elems());
    const int64_t begin = at * pattern.elemBytes();
    const int64_t bytes =
        std::min((end - at) * pattern.elemBytes(), own(Place::Target).bytes - begin);
    if (bytes > 0)
      COLL_RETURN_IF_ERROR(read(data.data(), own(Place::Target).data + begin, bytes));
    wrong += pattern.wrong(at, end, data.data());
  }
  return wrong;
}

} // namespace coll::perf
