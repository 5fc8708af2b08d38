#include "runtime/exchange/moe/low_latency_reference.h"

#include "runtime/base/narrow.h"
#include "runtime/exchange/moe/reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

namespace coll::rt {

namespace {

constexpr size_t kGroup = 128;

template <typename T>
size_t at(T index) {
  return static_cast<size_t>(index);
}

Status ofRank(size_t rank, const Status &status) {
  return status.annotate("rank " + std::to_string(rank));
}

const uint16_t *rowOf(const void *x, size_t row, const MoeLowLatencyShape &shape) {
  return static_cast<const uint16_t *>(x) + row * at(shape.hidden);
}

// The result of sending 128 values in the log format.
void throughLog(const uint16_t *from, float *to) {
  constexpr float kSteps = 510, kOctaves = 32;
  const float smallest = std::numeric_limits<float>::min();
  float most = 0, least = std::numeric_limits<float>::infinity();
  bool isFinite = true;
  for (size_t i = 0; i < kGroup; ++i) {
    const float magnitude = std::fabs(bf16ToF32(from[i]));
    isFinite &= std::isfinite(magnitude);
    if (magnitude >= smallest) {
      most = std::max(most, magnitude);
      least = std::min(least, magnitude);
    }
  }
  const float top = std::log2(most), bottom = std::max(std::log2(least), top - kOctaves);
  const float step = (top - bottom) / kSteps, inverse = step > 0 ? 1 / step : 0;
  for (size_t i = 0; i < kGroup; ++i) {
    const float value = bf16ToF32(from[i]), magnitude = std::fabs(value);
    const float steps = magnitude < smallest ? 0 : (std::log2(magnitude) - bottom) * inverse;
    float arrived = std::exp2(bottom + std::floor(steps + 0.5f) * step);
    if (magnitude < smallest || steps < -0.5f)
      arrived = 0;
    to[i] = isFinite ? std::copysign(arrived, value) : std::numeric_limits<float>::quiet_NaN();
  }
}

// Every token of `from` for expert `expert`, in order: visit(token, place among its experts).
template <typename Visit>
void visitTokens(const MoeRouting &from, int64_t expert, Visit &&visit) {
  for (int64_t t = 0; t < from.numTokens; ++t)
    for (int k = 0; k < from.numTopk; ++k)
      if (from.topkIdx[t * from.numTopk + k] == expert)
        visit(at(t), at(k));
}

void receive(const std::vector<MoeLowLatencyDispatch> &calls, const MoeLowLatencyShape &shape,
             size_t rank, MoeLowLatencyHostRows &rows) {
  const size_t size = calls.size(), local = at(shape.numExperts) / size;
  const size_t room = at(shape.rowsOfExpert(static_cast<int>(size))), hidden = at(shape.hidden);
  for (size_t e = 0; e < local; ++e) {
    size_t count = 0;
    for (size_t s = 0; s < size; ++s) {
      const size_t first = count;
      visitTokens(calls[s].routing, static_cast<int64_t>(rank * local + e),
                  [&](size_t token, size_t place) {
                    const size_t row = e * room + count++;
                    const uint16_t *from = rowOf(calls[s].x, token, shape);
                    if (calls[s].dtype == kCollBf16)
                      std::memcpy(rows.x.data() + row * hidden * 2, from, hidden * 2);
                    else
                      moeToFp8(from, shape.hidden, rows.x.data() + row * hidden,
                               rows.scales.data() + row * hidden / kGroup);
                    rows.sources[row] = static_cast<uint32_t>(place << 16 | token);
                  });
      rows.ranges[e * size + s] = first << 32 | (count - first);
    }
    rows.counts[e] = static_cast<int32_t>(count);
    if (calls[rank].expertTokens)
      calls[rank].expertTokens[e] += static_cast<int32_t>(count);
  }
}

void addRow(const uint16_t *row, float weight, bool log, std::vector<float> &sums) {
  std::vector<float> arrived(kGroup);
  for (size_t g = 0; g < sums.size(); g += kGroup) {
    if (log)
      throughLog(row + g, arrived.data());
    else
      std::transform(row + g, row + g + kGroup, arrived.begin(), bf16ToF32);
    for (size_t i = 0; i < kGroup; ++i)
      sums[g + i] = std::fma(weight, arrived[i], sums[g + i]);
  }
}

} // namespace

void moeToFp8(const uint16_t *row, int64_t hidden, char *to, float *scales) {
  for (size_t g = 0; g < at(hidden) / kGroup; ++g) {
    float most = 1e-4f;
    for (size_t i = g * kGroup; i < (g + 1) * kGroup; ++i)
      if (const float magnitude = std::fabs(bf16ToF32(row[i])); magnitude > most)
        most = magnitude;
    const float factor = 448.0f / most;
    scales[g] = most / 448.0f;
    for (size_t i = g * kGroup; i < (g + 1) * kGroup; ++i)
      to[i] = static_cast<char>(f32ToF8E4M3FN(bf16ToF32(row[i]) * factor));
  }
}

MoeLowLatencyRows MoeLowLatencyHostRows::view() {
  return {x.data(), scales.empty() ? nullptr : scales.data(), counts.data(), ranges.data(),
          sources.data()};
}

MoeLowLatencyHostRows moeLowLatencyRoom(const MoeLowLatencyShape &shape, int numRanks,
                                        CollDtype dtype) {
  const size_t local = at(shape.numExperts / numRanks);
  const size_t rows = local * at(shape.rowsOfExpert(numRanks));
  MoeLowLatencyHostRows room;
  room.x.resize(rows * at(shape.hidden) * (dtype == kCollBf16 ? 2 : 1));
  room.scales.resize(dtype == kCollBf16 ? 0 : rows * at(shape.numScales()));
  room.counts.resize(local);
  room.ranges.resize(local * at(numRanks));
  room.sources.resize(rows);
  return room;
}

Result<std::vector<MoeLowLatencyHostRows>>
moeReferenceDispatch(const std::vector<MoeLowLatencyDispatch> &calls,
                     const MoeLowLatencyShape &shape) {
  const int numRanks = static_cast<int>(calls.size());
  COLL_RETURN_IF_ERROR(checkMoeShape(shape, numRanks));
  std::vector<MoeLowLatencyHostRows> all;
  for (size_t r = 0; r < calls.size(); ++r) {
    all.push_back(moeLowLatencyRoom(shape, numRanks, calls[r].dtype));
    Status status = checkMoeDispatch(calls[r], all[r].view(), shape, numRanks);
    if (status.ok())
      status = moeReferenceLayout(calls[r].routing, numRanks).status();
    if (status.ok() && calls[r].dtype != calls[0].dtype)
      status = Status::invalid("moe low latency: rows of another type than those of rank 0");
    COLL_RETURN_IF_ERROR(ofRank(r, status));
  }
  for (size_t r = 0; r < calls.size(); ++r)
    receive(calls, shape, r, all[r]);
  return all;
}

Status moeReferenceCombine(const std::vector<MoeLowLatencyCombine> &calls,
                           const std::vector<MoeLowLatencyRows> &rows,
                           const MoeLowLatencyShape &shape) {
  const size_t size = calls.size(), local = at(shape.numExperts) / size;
  const size_t room = at(shape.rowsOfExpert(static_cast<int>(size)));
  for (size_t r = 0; r < size; ++r) {
    COLL_RETURN_IF_ERROR(
        ofRank(r, checkMoeCombine(calls[r], rows[r], shape, static_cast<int>(size))));
    if (calls[r].log != calls[0].log)
      return ofRank(r, Status::invalid("moe low latency: another format than that of rank 0"));
  }
  for (size_t r = 0; r < size; ++r) {
    const MoeRouting &routing = calls[r].routing;
    std::vector<int64_t> taken(at(shape.numExperts)); // rows of this rank, by expert
    for (int64_t t = 0; t < routing.numTokens; ++t) {
      std::vector<float> sums(at(shape.hidden));
      for (int k = 0; k < routing.numTopk; ++k) {
        const int64_t expert = routing.topkIdx[t * routing.numTopk + k];
        if (expert < 0)
          continue;
        const size_t target = at(expert) / local, e = at(expert) % local;
        const size_t row = at(rows[target].ranges[e * size + r] >> 32) + at(taken[at(expert)]++);
        addRow(rowOf(calls[target].x, e * room + row, shape),
               calls[r].topkWeights[t * routing.numTopk + k], calls[r].log, sums);
      }
      std::transform(sums.begin(), sums.end(),
                     static_cast<uint16_t *>(calls[r].out) + t * shape.hidden, f32ToBf16);
    }
  }
  return Status::okay();
}

} // namespace coll::rt
