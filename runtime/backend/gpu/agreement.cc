#include "runtime/backend/gpu/agreement.h"

#include <algorithm>
#include <cstring>

namespace coll::rt::gpu {

Verdict verdictOf(const Status &status) {
  Verdict verdict;
  verdict.code = status.code();
  if (!status.ok()) {
    const std::string &text = status.message();
    std::memcpy(verdict.text, text.data(), std::min(text.size(), sizeof(verdict.text) - 1));
  }
  return verdict;
}

Status outcomeOf(const std::vector<Verdict> &all, const std::vector<int> &ranks) {
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].code != kCollOk)
      return Status(static_cast<CollCode>(all[i].code),
                    std::string(all[i].text, strnlen(all[i].text, sizeof(all[i].text))))
          .annotate("rank " + std::to_string(ranks[i]));
  return {};
}

Status compareMemory(const std::vector<MemoryCard> &cards, const Group &group) {
  std::vector<Verdict> verdicts;
  for (const MemoryCard &card : cards)
    verdicts.push_back(card.verdict);
  COLL_RETURN_IF_ERROR(outcomeOf(verdicts, group.ranks));
  const int64_t mine = cards[static_cast<size_t>(group.position)].bytes;
  for (size_t i = 0; i < cards.size(); ++i)
    if (cards[i].bytes != mine)
      return {kCollMismatch, "sizes of symmetric memory differ in group " +
                                 describeGroup(group.ranks) + ": " + std::to_string(mine) +
                                 " bytes, and " + std::to_string(cards[i].bytes) + " on rank " +
                                 std::to_string(group.ranks[i])};
  return {};
}

} // namespace coll::rt::gpu
