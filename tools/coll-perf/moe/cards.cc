#include "tools/coll-perf/moe/cards.h"

#include "runtime/net/tcp/tcp.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace coll::perf {

Result<std::unique_ptr<net::Transport>> connectNodes(const MoeTask &task,
                                                     const rt::JobOptions &job) {
  if (task.nodes == 1)
    return std::unique_ptr<net::Transport>();
  Result<net::Secret> secret = net::Secret::create(job.secret);
  if (!secret)
    return secret.status();
  net::TcpOptions options = net::TcpOptions::fromEnv();
  options.iface = job.iface;
  return net::createTcpTransport(options, *secret);
}

Status syncAll(Gathering &ranks, rt::MoeBuffer &buffer) {
  const rt::MoeCard &card = buffer.card();
  Result<std::vector<std::string>> all =
      ranks.swap({reinterpret_cast<const char *>(&card), sizeof card});
  if (!all)
    return all.status();
  std::vector<rt::MoeCard> cards(all->size());
  for (size_t r = 0; r < all->size(); ++r)
    std::memcpy(static_cast<void *>(&cards[r]), (*all)[r].data(),
                std::min(sizeof card, (*all)[r].size()));
  return ranks.agree(buffer.sync(cards));
}

} // namespace coll::perf
