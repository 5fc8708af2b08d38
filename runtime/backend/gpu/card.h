// card.h - what a member tells the others about its call, besides the data.

#ifndef COLL_RUNTIME_BACKEND_GPU_CARD_H
#define COLL_RUNTIME_BACKEND_GPU_CARD_H

#include "runtime/backend/call/signature.h"

#include <type_traits>
#include <vector>

namespace coll::rt::gpu {

// A member's contribution to a new lane: bytes that only the engine understands.
struct Identity {
  char bytes[128] = {};
};

// Plain bytes, the same on all machines of a job.
struct Card {
  static constexpr size_t kBytes = 512;

  CallSignature signature;
  Identity identity;     // if a lane is to be made
  int64_t ticket = 0;    // of a receive: number of the transfer from this sender
  int64_t answerTag = 0; // of a send: the tag that the receiver's card has to have
  uint64_t history = 0;  // of a collective: hash of the group's earlier calls
  int64_t memory = -1;   // place of the destination in memory that all members know
  char text[192] = {};   // describe(call), cut if it is too long
};
static_assert(std::is_trivially_copyable_v<Card> && sizeof(Card) <= Card::kBytes);

Card cardOf(const Call &call);
// The text of a card, safe for any bytes that a peer may send.
std::string textOf(const Card &card);

// Ok, or kCollMismatch: the same result on all members. cards[i] is from ranks[i].
Status compareCards(const std::vector<Card> &cards, const std::vector<int> &ranks);
// The same for a transfer.
Status compareTransfer(const Card &send, int sender, const Card &recv, int receiver);

} // namespace coll::rt::gpu

#endif // COLL_RUNTIME_BACKEND_GPU_CARD_H
