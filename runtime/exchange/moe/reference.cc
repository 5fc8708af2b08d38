#include "runtime/exchange/moe/reference.h"

#include "runtime/base/dtype.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace coll::rt {

namespace {

template <typename T>
size_t at(T index) {
  return static_cast<size_t>(index);
}

Status ofRank(size_t rank, const Status &status) {
  return status.annotate("rank " + std::to_string(rank));
}

// Checks that every index is -1 or an expert that the token names once.
Status checkIndices(const MoeRouting &routing) {
  for (int64_t t = 0; t < routing.numTokens; ++t) {
    const int64_t *row = routing.topkIdx + t * routing.numTopk;
    for (int k = 0; k < routing.numTopk; ++k) {
      const std::string where =
          "`topkIdx` of token " + std::to_string(t) + " has expert " + std::to_string(row[k]);
      if (row[k] < -1 || row[k] >= routing.numExperts)
        return Status::invalid("moe: " + where + " of " + std::to_string(routing.numExperts));
      if (row[k] >= 0 && std::find(row, row + k, row[k]) != row + k)
        return Status::invalid("moe: " + where + " twice");
    }
  }
  return Status::okay();
}

// Fills in the places of a rank's tokens among those that go to the same rank.
void fillRoutes(const MoeHostLayout &layout, int numRanks, int numChannels, MoeHostHandle &handle) {
  const int64_t numTokens = handle.numTokens;
  const int64_t each = std::max<int64_t>(1, (numTokens + numChannels - 1) / numChannels);
  handle.isTokenInRank = layout.isTokenInRank;
  handle.sendHead.assign(at(numTokens * numRanks), -1);
  handle.channelPrefix.assign(at(numRanks * numChannels), 0);
  for (int r = 0; r < numRanks; ++r) {
    int32_t place = 0;
    for (int64_t t = 0; t < numTokens; ++t)
      if (layout.isTokenInRank[at(t * numRanks + r)]) {
        handle.sendHead[at(t * numRanks + r)] = place++;
        ++handle.channelPrefix[at(r * numChannels + t / each)];
      }
    for (int c = 1; c < numChannels; ++c)
      handle.channelPrefix[at(r * numChannels + c)] +=
          handle.channelPrefix[at(r * numChannels + c - 1)];
  }
}

std::vector<int32_t> rankPrefixOf(const std::vector<MoeHostLayout> &layouts) {
  const size_t numRanks = layouts.size();
  std::vector<int32_t> prefix(numRanks * numRanks);
  for (size_t s = 0; s < numRanks; ++s)
    for (size_t d = 0; d < numRanks; ++d)
      prefix[s * numRanks + d] =
          layouts[s].tokensPerRank[d] + (s == 0 ? 0 : prefix[(s - 1) * numRanks + d]);
  return prefix;
}

// Calls visit(source, token, row at `rank`) for everything that `rank` receives, in that order.
template <typename Visit>
void visitReceived(const std::vector<MoeHostHandle> &handles, size_t rank, Visit &&visit) {
  const size_t numRanks = handles.size();
  for (size_t s = 0; s < numRanks; ++s) {
    const int64_t first = s == 0 ? 0 : handles[rank].rankPrefix[(s - 1) * numRanks + rank];
    for (int64_t t = 0; t < handles[s].numTokens; ++t)
      if (int32_t head = handles[s].sendHead[at(t) * numRanks + rank]; head >= 0)
        visit(s, t, first + head);
  }
}

void copyRow(const MoeTokens &from, int64_t token, int64_t row, MoeHostReceived &to) {
  const int64_t rowBytes = from.hidden * dtypeSize(from.dtype);
  std::memcpy(to.x.data() + row * rowBytes, static_cast<const char *>(from.x) + token * rowBytes,
              at(rowBytes));
  for (int64_t i = 0; i < from.numScales; ++i)
    to.scales[at(row * from.numScales + i)] =
        from.scales[token * from.scaleTokenStride + i * from.scaleStride];
}

void copyRouting(const MoeDispatchCall &from, int64_t token, int64_t row, int64_t firstExpert,
                 int64_t localExperts, MoeHostReceived &to) {
  const int numTopk = from.routing.numTopk;
  for (int k = 0; k < numTopk; ++k) {
    const int64_t expert = from.routing.topkIdx[token * numTopk + k] - firstExpert;
    const bool isHere = expert >= 0 && expert < localExperts;
    to.topkIdx[at(row * numTopk + k)] = isHere ? expert : -1;
    if (from.tokens.topkWeights)
      to.topkWeights[at(row * numTopk + k)] =
          isHere ? from.tokens.topkWeights[token * numTopk + k] : 0;
  }
}

// Whether two ranks' tokens agree in everything but their number.
Status checkAlike(const MoeTokens &a, const MoeTokens &b) {
  if (a.hidden != b.hidden || a.dtype != b.dtype || a.numScales != b.numScales)
    return Status::invalid("moe: `x` or `scales` have other rows than those of rank 0");
  return Status::okay();
}

Status checkCalls(const std::vector<MoeDispatchCall> &calls) {
  const int numRanks = static_cast<int>(calls.size());
  for (size_t r = 0; r < calls.size(); ++r) {
    const auto &[routing, tokens] = calls[r];
    Status status = checkMoeRouting(routing, numRanks);
    if (status.ok())
      status = checkMoeTokens(tokens, routing);
    if (status.ok())
      status = checkAlike(tokens, calls[0].tokens);
    if (status.ok() && (routing.numTopk != calls[0].routing.numTopk ||
                        routing.numExperts != calls[0].routing.numExperts))
      status = Status::invalid("moe: numTopk or numExperts are not those of rank 0");
    COLL_RETURN_IF_ERROR(ofRank(r, status));
  }
  return Status::okay();
}

std::vector<int32_t> expertCounts(const std::vector<MoeHostLayout> &layouts, size_t rank,
                                  int localExperts, int alignment) {
  std::vector<int32_t> counts(at(localExperts), 0);
  for (int e = 0; e < localExperts; ++e) {
    for (const MoeHostLayout &layout : layouts)
      counts[at(e)] += layout.tokensPerExpert[rank * at(localExperts) + at(e)];
    counts[at(e)] = (counts[at(e)] + alignment - 1) / alignment * alignment;
  }
  return counts;
}

float loadElem(CollDtype dtype, const void *data, int64_t at) {
  if (dtype == kCollF32)
    return static_cast<const float *>(data)[at];
  const uint16_t bits = static_cast<const uint16_t *>(data)[at];
  return dtype == kCollF16 ? f16ToF32(bits) : bf16ToF32(bits);
}

void storeElem(CollDtype dtype, void *data, int64_t at, float value) {
  if (dtype == kCollF32)
    static_cast<float *>(data)[at] = value;
  else
    static_cast<uint16_t *>(data)[at] = dtype == kCollF16 ? f32ToF16(value) : f32ToBf16(value);
}

void resize(const MoeTokens &tokens, int64_t rows, MoeHostReceived &received) {
  received.x.assign(at(rows * tokens.hidden * dtypeSize(tokens.dtype)), 0);
  received.scales.assign(at(rows * tokens.numScales), 0);
  received.handle.recvSourceIdx.assign(at(rows), 0);
}

} // namespace

MoeHandle MoeHostHandle::view() const {
  return {rankPrefix.data(),
          channelPrefix.data(),
          sendHead.data(),
          recvSourceIdx.data(),
          isTokenInRank.data(),
          numTokens,
          numRecv,
          nullptr};
}

Result<MoeHostLayout> moeReferenceLayout(const MoeRouting &routing, int numRanks, int nodeSize) {
  COLL_RETURN_IF_ERROR(checkMoeRouting(routing, numRanks));
  COLL_RETURN_IF_ERROR(checkIndices(routing));
  MoeHostLayout layout;
  layout.tokensPerRank.assign(at(numRanks), 0);
  layout.tokensPerNetRank.assign(at((numRanks + nodeSize - 1) / nodeSize), 0);
  layout.tokensPerExpert.assign(at(routing.numExperts), 0);
  layout.isTokenInRank.assign(at(routing.numTokens * numRanks), 0);
  const int64_t localExperts = routing.numExperts / numRanks;
  for (int64_t t = 0; t < routing.numTokens; ++t) {
    uint8_t *isIn = layout.isTokenInRank.data() + t * numRanks;
    for (int k = 0; k < routing.numTopk; ++k)
      if (const int64_t expert = routing.topkIdx[t * routing.numTopk + k]; expert >= 0) {
        ++layout.tokensPerExpert[at(expert)];
        isIn[expert / localExperts] = 1;
      }
    for (int r = 0; r < numRanks; ++r)
      layout.tokensPerRank[at(r)] += isIn[r];
    for (int n = 0; n * nodeSize < numRanks; ++n) {
      const int end = std::min(numRanks, (n + 1) * nodeSize);
      layout.tokensPerNetRank[at(n)] += std::find(isIn + n * nodeSize, isIn + end, 1) != isIn + end;
    }
  }
  return layout;
}

Result<std::vector<MoeHostReceived>> moeReferenceDispatch(const std::vector<MoeDispatchCall> &calls,
                                                          const MoeDispatchOptions &options) {
  COLL_RETURN_IF_ERROR(checkMoeConfig(options.config));
  COLL_RETURN_IF_ERROR(checkMoeOptions(options));
  COLL_RETURN_IF_ERROR(checkCalls(calls));
  const int numRanks = static_cast<int>(calls.size());
  std::vector<MoeHostLayout> layouts;
  for (size_t r = 0; r < calls.size(); ++r) {
    Result<MoeHostLayout> layout = moeReferenceLayout(calls[r].routing, numRanks);
    if (!layout)
      return ofRank(r, layout.status());
    layouts.push_back(layout.take());
  }
  std::vector<MoeHostHandle> handles(calls.size());
  for (size_t r = 0; r < calls.size(); ++r) {
    handles[r].numTokens = calls[r].routing.numTokens;
    handles[r].rankPrefix = rankPrefixOf(layouts);
    handles[r].numRecv = handles[r].rankPrefix[(calls.size() - 1) * calls.size() + r];
    fillRoutes(layouts[r], numRanks, options.config.numChannels(), handles[r]);
    if (options.worstCaseTokens && handles[r].numRecv > options.worstCaseTokens)
      return ofRank(r, Status::invalid("moe: " + std::to_string(handles[r].numRecv) +
                                       " tokens for a worst case of " +
                                       std::to_string(options.worstCaseTokens)));
  }
  std::vector<MoeHostReceived> all(calls.size());
  for (size_t r = 0; r < calls.size(); ++r) {
    MoeHostReceived &received = all[r];
    const MoeRouting &routing = calls[r].routing;
    const int localExperts = routing.numExperts / numRanks;
    const int64_t rows = options.worstCaseTokens ? options.worstCaseTokens : handles[r].numRecv;
    received.handle = handles[r];
    resize(calls[r].tokens, rows, received);
    received.topkIdx.assign(at(rows * routing.numTopk), -1);
    received.topkWeights.assign(at(rows * routing.numTopk), 0);
    visitReceived(handles, r, [&](size_t source, int64_t token, int64_t row) {
      copyRow(calls[source].tokens, token, row, received);
      copyRouting(calls[source], token, row, static_cast<int64_t>(r) * localExperts, localExperts,
                  received);
      received.handle.recvSourceIdx[at(row)] = static_cast<int32_t>(token);
    });
    if (options.worstCaseTokens)
      received.handle.numRecv = -1;
    else
      received.tokensPerExpert = expertCounts(layouts, r, localExperts, options.expertAlignment);
  }
  return all;
}

Result<std::vector<MoeHostReceived>>
moeReferenceDispatchAgain(const std::vector<MoeTokens> &tokens,
                          const std::vector<MoeHostHandle> &handles) {
  std::vector<MoeHostReceived> all(handles.size());
  for (size_t r = 0; r < handles.size(); ++r) {
    MoeRouting routing;
    routing.numTokens = handles[r].numTokens;
    COLL_RETURN_IF_ERROR(ofRank(r, checkMoeTokens(tokens[r], routing)));
    COLL_RETURN_IF_ERROR(ofRank(r, checkAlike(tokens[r], tokens[0])));
    all[r].handle = handles[r];
    resize(tokens[r], static_cast<int64_t>(handles[r].recvSourceIdx.size()), all[r]);
    visitReceived(handles, r, [&](size_t source, int64_t token, int64_t row) {
      copyRow(tokens[source], token, row, all[r]);
      all[r].handle.recvSourceIdx[at(row)] = static_cast<int32_t>(token);
    });
  }
  return all;
}

Status moeReferenceCombine(const std::vector<MoeCombine> &calls,
                           const std::vector<MoeHostHandle> &handles) {
  const size_t numRanks = calls.size();
  for (size_t r = 0; r < numRanks; ++r) {
    COLL_RETURN_IF_ERROR(ofRank(r, checkMoeCombine(calls[r], handles[r].view())));
    if (calls[r].hidden != calls[0].hidden || calls[r].numTopk != calls[0].numTopk ||
        calls[r].dtype != calls[0].dtype)
      return ofRank(r, Status::invalid("moe: hidden, numTopk or dtype are not those of rank 0"));
  }
  for (size_t r = 0; r < numRanks; ++r) {
    const MoeCombine &call = calls[r];
    const MoeHostHandle &handle = handles[r];
    const auto rowOf = [&](int64_t token, size_t from) -> int64_t {
      const int32_t head = handle.sendHead[at(token) * numRanks + from];
      return head < 0 ? -1 : head + (r == 0 ? 0 : handle.rankPrefix[(r - 1) * numRanks + from]);
    };
    for (int64_t t = 0; t < handle.numTokens; ++t) {
      for (int64_t i = 0; i < call.hidden; ++i) {
        const int64_t elem = t * call.hidden + i;
        std::vector<float> values;
        for (const void *bias : call.bias)
          if (bias)
            values.push_back(loadElem(call.dtype, bias, elem));
        for (size_t from = 0; from < numRanks; ++from)
          if (const int64_t row = rowOf(t, from); row >= 0)
            values.push_back(loadElem(call.dtype, calls[from].x, row * call.hidden + i));
        float sum = values.empty() ? 0 : values[0];
        for (size_t v = 1; v < values.size(); ++v)
          sum += values[v];
        storeElem(call.dtype, call.out, elem, sum);
      }
      for (int k = 0; k < call.numTopk; ++k) {
        float sum = 0;
        for (size_t from = 0; from < numRanks; ++from)
          if (const int64_t row = rowOf(t, from); row >= 0)
            sum += calls[from].topkWeights[row * call.numTopk + k];
        call.outWeights[t * call.numTopk + k] = sum;
      }
    }
  }
  return Status::okay();
}

} // namespace coll::rt
