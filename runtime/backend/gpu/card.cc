#include "runtime/backend/gpu/card.h"

#include <algorithm>
#include <cstring>

namespace coll::rt::gpu {

namespace {

std::string says(int rank, const Card &card) {
  return "rank " + std::to_string(rank) + " calls " + textOf(card);
}

} // namespace

Card cardOf(const Call &call) {
  Card card;
  card.signature = signatureOf(call);
  std::string text = describe(call);
  std::memcpy(card.text, text.data(), std::min(text.size(), sizeof(card.text) - 1));
  return card;
}

std::string textOf(const Card &card) {
  return std::string(card.text, strnlen(card.text, sizeof(card.text)));
}

Status compareCards(const std::vector<Card> &cards, const std::vector<int> &ranks) {
  for (size_t i = 1; i < cards.size(); ++i)
    if (const char *what = difference(cards[0].signature, cards[i].signature))
      return {kCollMismatch, std::string(what) + " differ in a call of group " +
                                 describeGroup(ranks) + ": " + says(ranks[0], cards[0]) + ", " +
                                 says(ranks[i], cards[i])};
  for (size_t i = 1; i < cards.size(); ++i)
    if (cards[0].history != cards[i].history)
      return {kCollMismatch,
              "earlier calls of group " + describeGroup(ranks) +
                  " differed; as each was like one before, they were not compared by "
                  "themselves; found when " +
                  says(ranks[0], cards[0])};
  for (size_t i = 1; i < cards.size(); ++i)
    if (cards[0].memory != cards[i].memory)
      return {kCollMismatch, "places in symmetric memory differ in a call of group " +
                                 describeGroup(ranks) + ": " + says(ranks[0], cards[0]) + ", " +
                                 says(ranks[i], cards[i])};
  return {};
}

Status compareTransfer(const Card &send, int sender, const Card &recv, int receiver) {
  const char *what = nullptr;
  if (send.signature.dtype != recv.signature.dtype)
    what = "element types";
  else if (send.signature.count != recv.signature.count)
    what = "counts";
  if (!what)
    return {};
  return {kCollMismatch, std::string(what) + " of a transfer differ: " + says(sender, send) + ", " +
                             says(receiver, recv)};
}

} // namespace coll::rt::gpu
