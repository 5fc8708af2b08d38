#include "tools/coll-perf/moe/cards.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace coll::perf {

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
