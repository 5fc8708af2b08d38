// calls.h - the calls to a backend that make up dispatch and combine.

#ifndef COLL_RUNTIME_STEP_TOKENS_CALLS_H
#define COLL_RUNTIME_STEP_TOKENS_CALLS_H

#include "runtime/step/tokens/exchange.h"

#include <cstdint>
#include <string>
#include <vector>

namespace coll::rt {

// Programs do not use these tags, because theirs are not negative (call/check.cc).
inline constexpr int64_t kNotesTag = -1, kRowsTag = -2;

// A member's message to all others before any data moves, besides the number of rows for each. It
// consists of int64, so that it can be part of an all_gather's payload.
struct Greeting {
  // Equal on all members.
  int64_t combines = 0;
  int64_t dtype = 0;
  int64_t hidden = 0;
  int64_t topk = 0;
  int64_t localExperts = 0;
  int64_t numScales = 0;
  // Differs between members.
  int64_t serial = 0; // of this dispatch, or of the one whose route is combined
  int64_t tokens = 0;
  int64_t capacity = 0;
  int64_t needsHost = 0; // on a GPU: this member's call has to go through the host's memory
  BadExpert bad;         // the bad expert of one of its tokens
};

// A member's call, as it is before its tokens are looked at.
Greeting greetingOf(const TokenDispatch &dispatch, int32_t serial);
Greeting greetingOf(const TokenCombine &combine, int32_t serial);

// The greetings of all members: the same on all of them, so all members get the same results.
class Greetings {
public:
  Greetings(const std::vector<int> &ranks, std::vector<int64_t> words);

  const Greeting &of(int64_t position) const { return greetings_[static_cast<size_t>(position)]; }
  // Rows that go from one position to another.
  int64_t rows(int64_t from, int64_t to) const;

  // kCollMismatch if fields differ that have to be equal on all members, kCollInternal if a number
  // is impossible.
  Status check() const;
  // kCollInvalidCall if a rank has a token with an invalid expert, or receives more rows than its
  // capacity.
  Status checkTokens() const;

private:
  Status checkNumbers(int64_t position) const;
  std::string rankAt(int64_t position) const;

  const std::vector<int> &ranks_;
  int64_t n_;
  std::vector<int64_t> words_;
  std::vector<Greeting> greetings_;
};

// A message to another rank, or from one.
struct TokenTransfer {
  int64_t peer; // position in the group
  int64_t tag;
  const void *src; // for a message that is sent
  void *dst;       // for a message that is received
  int64_t bytes;
};

class TokenCalls {
public:
  explicit TokenCalls(const TokenPlace &place);

  int64_t n() const { return n_; }
  int64_t me() const { return me_; }
  // "rank 3": the rank at a position.
  std::string rankAt(int64_t position) const;
  // The ranks to receive from, and to send to, in steps 1 to n - 1: in each step every rank has a
  // different one.
  int64_t sourceIn(int64_t step) const { return (me_ - step + n_) % n_; }
  int64_t targetIn(int64_t step) const { return (me_ + step) % n_; }

  // kCollUnsupported if it is GPU memory.
  Status checkMemory(const void *data) const;
  // Sends the greeting to all members, and that rows[p] rows are for position p. Returns the
  // greetings of all members, checked.
  Result<Greetings> greet(const Greeting &greeting, const std::vector<int64_t> &rows);
  // Sends these words to all members, as many on each; returns those of all, by position.
  Result<std::vector<int64_t>> gather(const std::vector<int64_t> &words);
  // Receives and sends all messages at once; blocks until their memory is free again.
  Status move(const std::vector<TokenTransfer> &in, const std::vector<TokenTransfer> &out);

private:
  Call callOf(OpKind kind, const TokenTransfer &transfer) const;

  TokenPlace place_;
  int64_t n_, me_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_TOKENS_CALLS_H
