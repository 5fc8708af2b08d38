// calls.h - the calls to a backend that dispatch and combine are made of.

#ifndef COLL_RUNTIME_STEP_TOKENS_CALLS_H
#define COLL_RUNTIME_STEP_TOKENS_CALLS_H

#include "runtime/step/tokens/exchange.h"

#include <cstdint>
#include <string>
#include <vector>

namespace coll::rt {

// No tags of a program: those are not negative (call/check.cc).
inline constexpr int64_t kNotesTag = -1, kRowsTag = -2;

// What each member tells all others before anything moves, besides how many rows go to each;
// int64 only, so that it can be part of an all_gather's payload.
struct Greeting {
  // Equal on all members.
  int64_t combines = 0;
  int64_t dtype = 0;
  int64_t hidden = 0;
  int64_t topk = 0;
  int64_t localExperts = 0;
  int64_t numScales = 0;
  // The member's own.
  int64_t serial = 0; // of its dispatch, or of the route that it combines along
  int64_t tokens = 0;
  int64_t capacity = 0;
  BadExpert bad; // of a token
};

// What all members have told: the same on all of them, so they come to the same conclusions.
class Greetings {
public:
  Greetings(const std::vector<int> &ranks, std::vector<int64_t> words);

  const Greeting &of(int64_t position) const { return greetings_[static_cast<size_t>(position)]; }
  // Rows that go from one position to another.
  int64_t rows(int64_t from, int64_t to) const;

  // kCollMismatch where fields differ that are equal on all members, kCollInternal where a
  // number cannot be.
  Status check() const;
  // kCollInvalidCall where a rank has a token with experts that it cannot have, or gets more rows
  // than it has a capacity for.
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
struct Parcel {
  int64_t peer; // position in the group
  int64_t tag;
  const void *src; // of what is sent
  void *dst;       // of what is received
  int64_t bytes;
};

class TokenCalls {
public:
  explicit TokenCalls(const TokenPlace &place);

  int64_t n() const { return n_; }
  int64_t me() const { return me_; }
  // "rank 3": the rank at a position.
  std::string rankAt(int64_t position) const;
  // Whom to receive from, and send to, in step 1 to n - 1: in each step every rank has another one.
  int64_t sourceIn(int64_t step) const { return (me_ - step + n_) % n_; }
  int64_t targetIn(int64_t step) const { return (me_ + step) % n_; }

  // kCollUnsupported where the memory is a GPU's.
  Status checkMemory(const void *data) const;
  // Tells all members the greeting, and that rows[p] rows go to position p; returns what all
  // have told, checked.
  Result<Greetings> greet(const Greeting &greeting, const std::vector<int64_t> &rows);
  // Receives and sends all parcels at once; blocks until their memory is free again.
  Status move(const std::vector<Parcel> &in, const std::vector<Parcel> &out);

private:
  Result<Request *> start(OpKind kind, const Parcel &parcel);

  TokenPlace place_;
  int64_t n_, me_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_TOKENS_CALLS_H
