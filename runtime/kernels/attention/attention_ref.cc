#include "runtime/base/narrow.h"
#include "runtime/kernels/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace coll::kernels {
namespace {

double load(CollDtype type, const void *data, int64_t i) {
  if (type == kCollF32)
    return static_cast<double>(static_cast<const float *>(data)[i]);
  const uint16_t bits = static_cast<const uint16_t *>(data)[i];
  return static_cast<double>(type == kCollF16 ? rt::f16ToF32(bits) : rt::bf16ToF32(bits));
}

void store(CollDtype type, void *data, int64_t i, double value) {
  const auto rounded = static_cast<float>(value);
  if (type == kCollF32)
    static_cast<float *>(data)[i] = rounded;
  else
    static_cast<uint16_t *>(data)[i] =
        type == kCollF16 ? rt::f32ToF16(rounded) : rt::f32ToBf16(rounded);
}

// Rows of one batch and head, in f64.
using Matrix = std::vector<double>;

// One batch of one head of keys, with the heads of queries that read it.
class Group {
public:
  Group(const Attention &a, const AttentionBuffers &buffers, int64_t batch, int64_t kvHead)
      : a_(a), buffers_(buffers), batch_(batch), kvHead_(kvHead),
        k_(read(buffers.k, a.k, kvHead, a.keys)), v_(read(buffers.v, a.v, kvHead, a.keys)) {}

  void forward() const {
    forEachHead([&](int64_t head) {
      const Matrix q = read(buffers_.q, a_.q, head, a_.queries);
      Matrix o(size(a_.queries * a_.dim)), p(size(a_.keys));
      for (int64_t i = 0; i < a_.queries; ++i) {
        double most = -INFINITY, sum = 0;
        for (int64_t j = 0; j < seen(i); ++j)
          most = std::max(most, p[size(j)] = score(q, i, j));
        for (int64_t j = 0; j < seen(i); ++j)
          sum += p[size(j)] = std::exp(p[size(j)] - most);
        for (int64_t j = 0; j < seen(i); ++j)
          addRow(o, i, p[size(j)] / sum, v_, j);
        buffers_.lse[lseAt(head) + i] = static_cast<float>(most + std::log(sum));
      }
      write(buffers_.o, a_.o, head, a_.queries, o);
    });
  }

  void backward() const {
    Matrix dK(size(a_.keys * a_.dim)), dV(dK);
    forEachHead([&](int64_t head) {
      const Matrix q = read(buffers_.q, a_.q, head, a_.queries);
      const Matrix o = read(buffers_.o, a_.o, head, a_.queries);
      const Matrix dO = read(buffers_.dO, a_.dO, head, a_.queries);
      Matrix dQ(q.size());
      for (int64_t i = 0; i < a_.queries; ++i) {
        const auto lse = static_cast<double>(buffers_.lse[lseAt(head) + i]);
        const double delta = dot(o, i, dO, i);
        for (int64_t j = 0; j < seen(i); ++j) {
          const double p = std::exp(score(q, i, j) - lse);
          const double ds = p * (dot(dO, i, v_, j) - delta) * static_cast<double>(a_.scale);
          addRow(dV, j, p, dO, i);
          addRow(dQ, i, ds, k_, j);
          addRow(dK, j, ds, q, i);
        }
      }
      write(buffers_.dQ, a_.dQ, head, a_.queries, dQ);
    });
    write(buffers_.dK, a_.dK, kvHead_, a_.keys, dK);
    write(buffers_.dV, a_.dV, kvHead_, a_.keys, dV);
  }

private:
  static size_t size(int64_t n) { return static_cast<size_t>(n); }

  template <typename Body>
  void forEachHead(Body body) const {
    const int64_t sharers = a_.heads / a_.kvHeads;
    for (int64_t head = kvHead_ * sharers; head < (kvHead_ + 1) * sharers; ++head)
      body(head);
  }

  int64_t placeOf(const AttentionRows &rows, int64_t head, int64_t row) const {
    return batch_ * rows.batch + head * rows.head + row * rows.row;
  }
  int64_t lseAt(int64_t head) const { return (batch_ * a_.heads + head) * a_.queries; }

  Matrix read(const void *data, const AttentionRows &rows, int64_t head, int64_t count) const {
    Matrix values(size(count * a_.dim));
    for (int64_t i = 0; i < count * a_.dim; ++i)
      values[size(i)] = load(a_.dtype, data, placeOf(rows, head, i / a_.dim) + i % a_.dim);
    return values;
  }
  void write(void *data, const AttentionRows &rows, int64_t head, int64_t count,
             const Matrix &values) const {
    for (int64_t i = 0; i < count * a_.dim; ++i)
      store(a_.dtype, data, placeOf(rows, head, i / a_.dim) + i % a_.dim, values[size(i)]);
  }

  // Number of keys that a query sees.
  int64_t seen(int64_t query) const {
    return a_.causal ? query + a_.keys - a_.queries + 1 : a_.keys;
  }
  double dot(const Matrix &x, int64_t i, const Matrix &y, int64_t j) const {
    double sum = 0;
    for (int64_t d = 0; d < a_.dim; ++d)
      sum += x[size(i * a_.dim + d)] * y[size(j * a_.dim + d)];
    return sum;
  }
  double score(const Matrix &q, int64_t i, int64_t j) const {
    return static_cast<double>(a_.scale) * dot(q, i, k_, j);
  }
  // Row i of `to` += factor * row j of `from`.
  void addRow(Matrix &to, int64_t i, double factor, const Matrix &from, int64_t j) const {
    for (int64_t d = 0; d < a_.dim; ++d)
      to[size(i * a_.dim + d)] += factor * from[size(j * a_.dim + d)];
  }

  const Attention &a_;
  const AttentionBuffers &buffers_;
  const int64_t batch_, kvHead_;
  const Matrix k_, v_;
};

template <typename Body>
void forEachGroup(const Attention &a, const AttentionBuffers &buffers, Body body) {
  for (int64_t batch = 0; batch < a.batch; ++batch)
    for (int64_t kvHead = 0; kvHead < a.kvHeads; ++kvHead)
      body(Group(a, buffers, batch, kvHead));
}

} // namespace

void attentionReference(const Attention &attention, const AttentionBuffers &buffers) {
  forEachGroup(attention, buffers, [](const Group &group) { group.forward(); });
}

void attentionBackwardReference(const Attention &attention, const AttentionBuffers &buffers) {
  forEachGroup(attention, buffers, [](const Group &group) { group.backward(); });
}

} // namespace coll::kernels
