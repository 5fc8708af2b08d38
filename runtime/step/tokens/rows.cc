#include "runtime/step/tokens/rows.h"

#include "runtime/base/dtype.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace coll::rt {

namespace {

constexpr size_t kWordBytes = sizeof(int32_t);

template <typename T>
size_t at(T index) {
  return static_cast<size_t>(index);
}

// Expert number `index` of the tokens' [tokens][topk].
int64_t expertAt(const TokenDispatch &d, int64_t index) {
  return d.indexDtype == kCollI64 ? static_cast<const int64_t *>(d.experts)[index]
                                  : static_cast<const int32_t *>(d.experts)[index];
}

void setRowExpert(const TokenDispatch &d, int64_t index, int32_t expert) {
  if (d.indexDtype == kCollI64)
    static_cast<int64_t *>(d.rowExperts)[index] = expert;
  else
    static_cast<int32_t *>(d.rowExperts)[index] = expert;
}

int64_t wordsPerNote(const TokenDispatch &d) { return 1 + 2 * d.shape.topk + d.numScales; }

Status checkPointers(const TokenDispatch &d) {
  const bool hasRow = d.hidden > 0;
  if (d.shape.tokens > 0 &&
      ((hasRow && !d.x) || !d.experts || !d.weights || (d.numScales > 0 && !d.scales)))
    return Status::invalid("the tokens, their experts, weights or scales are null");
  if (d.shape.capacity > 0 &&
      ((hasRow && !d.rows) || !d.rowExperts || !d.rowWeights || (d.numScales > 0 && !d.rowScales)))
    return Status::invalid("the memory for rows, experts, weights or scales is null");
  if (!d.counts || !d.route)
    return Status::invalid("the memory for counts or the route is null");
  return {};
}

Status lost(const std::string &what) { return Status::internal("tokens were lost: " + what); }

// Checks one note, writes its content for `row`, and counts its experts.
Status readNote(const TokenDispatch &d, const int32_t *note, int64_t row,
                std::vector<int32_t> &seen) {
  const int32_t topk = d.shape.topk;
  bool isHere = false;
  for (int32_t k = 0; k < topk; ++k) {
    const int32_t expert = note[1 + k];
    if (expert < -1 || expert >= d.localExperts)
      return lost("a row arrived for expert " + std::to_string(expert) + " of " +
                  std::to_string(d.localExperts));
    setRowExpert(d, row * topk + k, expert);
    if (expert < 0)
      continue;
    isHere = true;
    ++seen[at(expert)];
  }
  if (!isHere)
    return lost("a row arrived for no expert of this rank");
  std::memcpy(d.rowWeights + row * topk, note + 1 + topk, at(topk) * kWordBytes);
  if (d.numScales > 0)
    std::memcpy(d.rowScales + row * d.numScales, note + 1 + 2 * topk, at(d.numScales) * kWordBytes);
  return {};
}

} // namespace

int64_t TokenDispatch::rowBytes() const {
  return hidden * dtypeSize(static_cast<CollDtype>(dtype));
}

Status checkDispatch(const TokenDispatch &d, int64_t n) {
  COLL_RETURN_IF_ERROR(checkRouteShape(d.shape));
  if (!isValidDtype(d.dtype))
    return Status::invalid("there is no element type " + std::to_string(d.dtype));
  if (d.indexDtype != kCollI32 && d.indexDtype != kCollI64)
    return Status::invalid(std::string("experts are numbered by i32 or i64, not ") +
                           dtypeName(d.indexDtype));
  if (d.hidden < 0 || d.hidden > kMaxRowElems || d.numScales < 0 || d.numScales > kMaxRowElems)
    return Status::invalid("rows of " + std::to_string(d.hidden) + " elements and " +
                           std::to_string(d.numScales) + " scales: there may be 0 to " +
                           std::to_string(kMaxRowElems));
  if (d.localExperts < 1 || d.localExperts > INT32_MAX / n)
    return Status::invalid(std::to_string(d.localExperts) + " experts on each of " +
                           std::to_string(n) + " ranks");
  return checkPointers(d);
}

BadExpert findBadExpert(const TokenDispatch &d, int64_t n) {
  for (int64_t token = 0; token < d.shape.tokens; ++token)
    for (int32_t k = 0; k < d.shape.topk; ++k) {
      const int64_t first = token * d.shape.topk, expert = expertAt(d, first + k);
      if (expert < -1 || expert >= n * d.localExperts)
        return {token, expert, false};
      for (int32_t j = 0; j < k && expert >= 0; ++j)
        if (expertAt(d, first + j) == expert)
          return {token, expert, true};
    }
  return {};
}

TokenTargets findTargets(const TokenDispatch &d, int64_t n, RouteWriter &route) {
  TokenTargets targets;
  targets.first.assign(at(n + 1), 0);
  for (int64_t token = 0; token < d.shape.tokens; ++token) {
    int32_t *begin = route.targetsOf(token), *end = begin;
    for (int32_t k = 0; k < d.shape.topk; ++k)
      if (const int64_t expert = expertAt(d, token * d.shape.topk + k); expert >= 0)
        *end++ = static_cast<int32_t>(expert / d.localExperts);
    std::sort(begin, end);
    end = std::unique(begin, end);
    for (const int32_t *target = begin; target != end; ++target)
      ++targets.first[at(*target + 1)];
    std::fill(end, begin + d.shape.topk, -1);
  }
  for (int64_t p = 0; p < n; ++p)
    targets.first[at(p + 1)] += targets.first[at(p)];
  targets.tokens.resize(at(targets.first[at(n)]));
  std::vector<int64_t> next = targets.first;
  for (int64_t token = 0; token < d.shape.tokens; ++token) {
    const int32_t *target = route.targetsOf(token);
    for (int32_t k = 0; k < d.shape.topk && target[k] >= 0; ++k)
      targets.tokens[at(next[at(target[k])]++)] = static_cast<int32_t>(token);
  }
  return targets;
}

int64_t noteWords(const TokenDispatch &d, int64_t rows) {
  return d.localExperts + rows * wordsPerNote(d);
}

std::vector<int32_t> writeNotes(const TokenDispatch &d, const TokenTargets &targets,
                                int64_t position) {
  const int32_t topk = d.shape.topk;
  const int64_t firstExpert = position * d.localExperts;
  std::vector<int32_t> words(at(noteWords(d, targets.count(at(position)))), 0);
  int32_t *note = words.data() + d.localExperts;
  for (int64_t i = targets.first[at(position)]; i < targets.first[at(position + 1)]; ++i) {
    const int64_t token = targets.tokens[at(i)];
    note[0] = static_cast<int32_t>(token);
    for (int32_t k = 0; k < topk; ++k) {
      const int64_t expert = expertAt(d, token * topk + k) - firstExpert;
      const bool isThere = expert >= 0 && expert < d.localExperts;
      note[1 + k] = isThere ? static_cast<int32_t>(expert) : -1;
      if (!isThere)
        continue;
      ++words[at(expert)];
      std::memcpy(note + 1 + topk + k, d.weights + token * topk + k, kWordBytes);
    }
    if (d.numScales > 0)
      std::memcpy(note + 1 + 2 * topk, d.scales + token * d.numScales,
                  at(d.numScales) * kWordBytes);
    note += wordsPerNote(d);
  }
  return words;
}

void packRows(const TokenDispatch &d, const TokenTargets &targets, int64_t position, char *to) {
  const int64_t bytes = d.rowBytes();
  for (int64_t i = targets.first[at(position)]; bytes > 0 && i < targets.first[at(position + 1)];
       ++i, to += bytes)
    std::memcpy(to, static_cast<const char *>(d.x) + targets.tokens[at(i)] * bytes, at(bytes));
}

Status readNotes(const TokenDispatch &d, const NotesReceived &notes) {
  std::vector<int32_t> seen(at(d.localExperts), 0);
  const int32_t *note = notes.words + d.localExperts;
  int32_t previous = -1;
  for (int64_t i = 0; i < notes.rows; ++i, note += wordsPerNote(d)) {
    if (note[0] <= previous || note[0] >= notes.tokens)
      return lost("token " + std::to_string(note[0]) + " of " + std::to_string(notes.tokens) +
                  " arrived after token " + std::to_string(previous));
    previous = note[0];
    COLL_RETURN_IF_ERROR(readNote(d, note, notes.firstRow + i, seen));
  }
  for (int32_t e = 0; e < d.localExperts; ++e) {
    if (seen[at(e)] != notes.words[e])
      return lost("expert " + std::to_string(e) + " was sent " + std::to_string(notes.words[e]) +
                  ", but received " + std::to_string(seen[at(e)]));
    d.counts[e] += seen[at(e)];
  }
  return {};
}

void clearBehind(const TokenDispatch &d, int64_t received) {
  const int64_t left = d.shape.capacity - received, topk = d.shape.topk;
  if (left == 0)
    return;
  if (d.rowBytes() > 0)
    std::memset(static_cast<char *>(d.rows) + received * d.rowBytes(), 0, at(left * d.rowBytes()));
  for (int64_t i = received * topk; i < d.shape.capacity * topk; ++i)
    setRowExpert(d, i, -1);
  std::fill_n(d.rowWeights + received * topk, left * topk, 0.0f);
  if (d.numScales > 0)
    std::fill_n(d.rowScales + received * d.numScales, left * d.numScales, 0.0f);
}

} // namespace coll::rt
