// rows.h - one rank's local part in a dispatch: finds the targets of tokens, and writes and reads
// their notes.
//
// A token is sent with a *note*: its number at the source, its experts at the target, their
// weights, and its scales. The notes for one target are one message, after the number of tokens for
// each of the target's experts, which the receiver counts again.

#ifndef COLL_RUNTIME_STEP_TOKENS_ROWS_H
#define COLL_RUNTIME_STEP_TOKENS_ROWS_H

#include "runtime/base/codes.h"
#include "runtime/step/tokens/route.h"

#include <cstdint>
#include <vector>

namespace coll::rt {

// Limit for a row, so that its bytes fit an int32, and those of all rows an int64.
inline constexpr int64_t kMaxRowElems = INT32_MAX / 8;

// The arguments of `dispatch` in abi.def.
struct TokenDispatch {
  const void *x = nullptr;
  const void *experts = nullptr;
  const float *weights = nullptr;
  const float *scales = nullptr;
  RouteShape shape;
  int64_t hidden = 0;
  int64_t numScales = 0;
  int32_t dtype = kCollF32;
  int32_t indexDtype = kCollI32;
  int32_t localExperts = 1;
  void *rows = nullptr;
  void *rowExperts = nullptr;
  float *rowWeights = nullptr;
  float *rowScales = nullptr;
  int32_t *counts = nullptr;
  int32_t *route = nullptr;

  int64_t rowBytes() const;
};
// Ok, or what is wrong with the arguments in a group of `n`. The experts' numbers are not checked
// here.
Status checkDispatch(const TokenDispatch &dispatch, int64_t n);

// A token's expert that does not exist in the group, or that the token names twice. int64 only (see
// calls.h).
struct BadExpert {
  int64_t token = -1; // -1: none is bad
  int64_t expert = 0;
  int64_t isTwice = 0;
};
// The first bad expert, in a group of `n`.
BadExpert findBadExpert(const TokenDispatch &dispatch, int64_t n);

// The tokens of this rank by target, ascending: those for position p are
// tokens[first[p]] … tokens[first[p + 1] - 1].
struct TokenTargets {
  std::vector<int64_t> first;
  std::vector<int32_t> tokens;

  int64_t count(size_t position) const { return first[position + 1] - first[position]; }
};
// Finds the targets, and writes them into `route`. No expert may be bad.
TokenTargets findTargets(const TokenDispatch &dispatch, int64_t n, RouteWriter &route);

// Words of a message with the notes of `rows` tokens.
int64_t noteWords(const TokenDispatch &dispatch, int64_t rows);
// The message for `position`.
std::vector<int32_t> writeNotes(const TokenDispatch &dispatch, const TokenTargets &targets,
                                int64_t position);
// Copies the rows for `position`, one after the other, to `to`.
void packRows(const TokenDispatch &dispatch, const TokenTargets &targets, int64_t position,
              char *to);

// A message of notes from a rank with `tokens` tokens, for rows from `firstRow` on.
struct NotesReceived {
  const int32_t *words = nullptr;
  int64_t rows = 0;
  int64_t firstRow = 0;
  int64_t tokens = 0;
};
// Writes the rows' experts, weights and scales, and adds to the counts. kCollInternal if a token is
// missing, repeated, or has no expert here.
Status readNotes(const TokenDispatch &dispatch, const NotesReceived &notes);

// Fills the memory after the received rows: zeros, and no experts.
void clearBehind(const TokenDispatch &dispatch, int64_t received);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_TOKENS_ROWS_H
