// Attention and its gradient compared with the plain form, in every type, in the host's emulation
// and on a GPU.

#include "runtime/base/dtype.h"
#include "test/kernels/attention/attention_rig.h"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace coll::kernels::test {
namespace {

struct Precision {
  CollDtype dtype;
  bool tf32;
  double tolerance; // of the largest value of a tensor
};
constexpr Precision kPrecisions[] = {{kCollBf16, false, 8e-3},
                                     {kCollF16, false, 1e-3},
                                     {kCollF32, true, 2e-3},
                                     {kCollF32, false, 3e-6}};

struct Sizes {
  int64_t batch, heads, kvHeads, queries, keys, dim;
  bool causal;
  float scale;
};

void store(CollDtype type, void *data, int64_t i, float value) {
  if (type == kCollF32)
    static_cast<float *>(data)[i] = value;
  else
    static_cast<uint16_t *>(data)[i] =
        type == kCollF16 ? rt::f32ToF16(value) : rt::f32ToBf16(value);
}

double load(CollDtype type, const void *data, int64_t i) {
  if (type == kCollF32)
    return static_cast<const float *>(data)[i];
  const uint16_t bits = static_cast<const uint16_t *>(data)[i];
  return type == kCollF16 ? rt::f16ToF32(bits) : rt::bf16ToF32(bits);
}

// A tensor on the host, and its copy on the rig.
class Tensor {
public:
  Tensor(AttentionRig &rig, CollDtype type, int64_t elems)
      : rig_(rig), type_(type), elems_(elems),
        host_(static_cast<size_t>(elems * rt::dtypeSize(type)), 0xFF),
        data_(rig.allocate(host_.size())) {
    upload();
  }
  ~Tensor() { rig_.release(data_); }
  Tensor(const Tensor &) = delete;

  void *data() const { return data_; }
  void *host() { return host_.data(); }
  void fill(uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < elems_; ++i)
      store(type_, host_.data(), i, normal(random));
    upload();
  }
  void upload() { rig_.copyIn(data_, host_.data(), host_.size()); }
  std::vector<uint8_t> download() const {
    std::vector<uint8_t> bytes(host_.size());
    rig_.copyOut(bytes.data(), data_, bytes.size());
    return bytes;
  }
  // The largest difference between the values of rig and host, divided by the largest value of the
  // host.
  double error() const {
    const std::vector<uint8_t> bytes = download();
    double most = 0, largest = 0.1;
    for (int64_t i = 0; i < elems_; ++i) {
      const double want = load(type_, host_.data(), i);
      if (std::isnan(want)) // what no row covers stays as it is
        EXPECT_EQ(0, std::memcmp(&bytes[at(i)], &host_[at(i)], at(1))) << "element " << i;
      else
        largest = std::max(largest, std::abs(want));
      const double off = std::abs(want - load(type_, bytes.data(), i));
      most = std::isnan(off) && !std::isnan(want) ? INFINITY
                                                  : std::max(most, std::isnan(off) ? 0 : off);
    }
    return most / largest;
  }

private:
  size_t at(int64_t i) const { return static_cast<size_t>(i * rt::dtypeSize(type_)); }
  AttentionRig &rig_;
  const CollDtype type_;
  const int64_t elems_;
  std::vector<uint8_t> host_;
  void *const data_;
};

// With `byRow` [batch][row][head][dim], the usual layout of models, with a gap of 8 elements after
// each row if requested; otherwise [batch][head][row][dim].
AttentionRows rowsOf(int64_t heads, int64_t rows, int64_t dim, bool byRow, int64_t gap) {
  const int64_t wide = dim + gap;
  return byRow ? AttentionRows{rows * heads * wide, wide, heads * wide}
               : AttentionRows{rows * heads * wide, rows * wide, wide};
}

class Call {
public:
  Call(AttentionRig &rig, const Precision &p, const Sizes &s, int64_t gap)
      : rig_(rig), q_(rig, p.dtype, elems(s, s.heads, s.queries, gap)),
        k_(rig, p.dtype, elems(s, s.kvHeads, s.keys, gap)),
        v_(rig, p.dtype, elems(s, s.kvHeads, s.keys, gap)),
        o_(rig, p.dtype, elems(s, s.heads, s.queries, gap)),
        dO_(rig, p.dtype, elems(s, s.heads, s.queries, gap)),
        dQ_(rig, p.dtype, elems(s, s.heads, s.queries, gap)),
        dK_(rig, p.dtype, elems(s, s.kvHeads, s.keys, gap)),
        dV_(rig, p.dtype, elems(s, s.kvHeads, s.keys, gap)),
        lse_(rig, kCollF32, s.batch * s.heads * s.queries),
        scratch_(rig, kCollF32, s.batch * s.heads * s.queries) {
    a_.dtype = p.dtype;
    a_.tf32 = p.tf32;
    a_.causal = s.causal;
    a_.batch = s.batch;
    a_.heads = s.heads;
    a_.kvHeads = s.kvHeads;
    a_.queries = s.queries;
    a_.keys = s.keys;
    a_.dim = s.dim;
    a_.scale = s.scale;
    a_.q = a_.o = a_.dQ = rowsOf(s.heads, s.queries, s.dim, true, gap);
    a_.dO = rowsOf(s.heads, s.queries, s.dim, false, gap);
    a_.k = a_.dV = rowsOf(s.kvHeads, s.keys, s.dim, false, gap);
    a_.v = a_.dK = rowsOf(s.kvHeads, s.keys, s.dim, true, gap);
    uint32_t seed = 1;
    for (Tensor *tensor : {&q_, &k_, &v_, &dO_})
      tensor->fill(seed++);
  }

  const Attention &attention() const { return a_; }
  Attention &attention() { return a_; }
  AttentionBuffers buffers(bool isHost) {
    const auto at = [&](Tensor &tensor) { return isHost ? tensor.host() : tensor.data(); };
    AttentionBuffers b;
    b.q = at(q_);
    b.k = at(k_);
    b.v = at(v_);
    b.o = at(o_);
    b.lse = static_cast<float *>(at(lse_));
    b.dO = at(dO_);
    b.dQ = at(dQ_);
    b.dK = at(dK_);
    b.dV = at(dV_);
    b.scratch = at(scratch_);
    return b;
  }

  void expectEqual(double tolerance) {
    attentionReference(a_, buffers(true));
    const rt::Status forward = rig_.forward(a_, buffers(false));
    ASSERT_TRUE(forward.ok()) << forward.toString();
    EXPECT_LE(o_.error(), tolerance) << "o";
    EXPECT_LE(lse_.error(), tolerance) << "lse";
    // The gradient starts from the output of the plain form, so that errors do not add up.
    o_.upload();
    lse_.upload();
    attentionBackwardReference(a_, buffers(true));
    const rt::Status backward = rig_.backward(a_, buffers(false));
    ASSERT_TRUE(backward.ok()) << backward.toString();
    EXPECT_LE(dQ_.error(), tolerance) << "dQ";
    EXPECT_LE(dK_.error(), tolerance) << "dK";
    EXPECT_LE(dV_.error(), tolerance) << "dV";
  }

  // The bytes of all results.
  std::vector<uint8_t> run() {
    EXPECT_TRUE(rig_.forward(a_, buffers(false)).ok());
    EXPECT_TRUE(rig_.backward(a_, buffers(false)).ok());
    std::vector<uint8_t> all;
    for (Tensor *tensor : {&o_, &lse_, &dQ_, &dK_, &dV_}) {
      const std::vector<uint8_t> bytes = tensor->download();
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
  }

  Tensor &q() { return q_; }
  Tensor &o() { return o_; }

private:
  static int64_t elems(const Sizes &s, int64_t heads, int64_t rows, int64_t gap) {
    return s.batch * heads * rows * (s.dim + gap);
  }
  AttentionRig &rig_;
  Attention a_;
  Tensor q_, k_, v_, o_, dO_, dQ_, dK_, dV_, lse_, scratch_;
};

void expectEqual(AttentionRig &rig, const std::vector<Sizes> &all, int64_t gap = 0) {
  for (const Precision &precision : kPrecisions)
    for (const Sizes &sizes : all) {
      Call call(rig, precision, sizes, gap);
      SCOPED_TRACE(describe(call.attention()));
      call.expectEqual(precision.tolerance);
    }
}

TEST_P(AttentionTest, EqualsThePlainForm) {
  expectEqual(*rig_, {{1, 2, 2, 64, 64, 32, false, 0.2f}, {1, 1, 1, 70, 70, 64, true, 0.125f}});
}

TEST_P(AttentionTest, TailsOfQueriesKeysAndDimsAreMasked) {
  expectEqual(*rig_, {{1, 1, 1, 33, 97, 72, false, 0.1f}, {1, 1, 1, 1, 2, 8, true, 1.0f}});
}

TEST_P(AttentionTest, QueriesAreTheLastOfMoreKeys) {
  expectEqual(*rig_, {{1, 1, 1, 37, 150, 24, true, 0.2f}, {1, 1, 1, 1, 90, 40, true, 0.2f}});
}

TEST_P(AttentionTest, HeadsShareKeys) {
  expectEqual(*rig_, {{2, 4, 2, 20, 20, 16, true, 0.25f}, {1, 3, 1, 18, 40, 16, false, 0.25f}});
}

TEST_P(AttentionTest, RowsMayLieApart) {
  expectEqual(*rig_, {{1, 2, 1, 20, 40, 16, true, 0.25f}}, /*gap=*/8);
}

TEST_P(AttentionTest, ScalesMayBeNegativeOrZero) {
  expectEqual(*rig_, {{1, 1, 1, 20, 40, 16, true, -0.25f}, {1, 1, 1, 20, 40, 16, false, 0}});
}

// Later keys have much larger scores than the first ones, so the errors of TF32 are large, too.
TEST_P(AttentionTest, LargeScores) {
  for (const Precision &precision : kPrecisions)
    if (!precision.tf32) {
      Call call(*rig_, precision, {1, 1, 1, 40, 200, 16, true, 4.0f}, 0);
      SCOPED_TRACE(describe(call.attention()));
      call.expectEqual(3 * precision.tolerance);
    }
}

TEST_P(AttentionTest, LargeShapes) {
  if (rig_->isSlow())
    GTEST_SKIP() << "large shapes run on a GPU";
  expectEqual(*rig_, {{2, 3, 3, 1024, 1024, 64, true, 0.125f},
                      {1, 2, 1, 500, 1500, 128, true, 0.09f},
                      {1, 2, 2, 777, 777, 96, false, 0.1f}});
}

TEST_P(AttentionTest, EqualCallsGiveEqualBits) {
  const int64_t rows = rig_->isSlow() ? 80 : 1000;
  for (const Precision &precision : kPrecisions) {
    Call call(*rig_, precision, {1, 2, 1, rows, rows, 64, true, 0.125f}, 0);
    const std::vector<uint8_t> first = call.run();
    for (int i = 0; i < (rig_->isSlow() ? 1 : 20); ++i)
      EXPECT_EQ(first, call.run()) << describe(call.attention());
  }
}

TEST_P(AttentionTest, NaNStaysInItsRow) {
  Call call(*rig_, kPrecisions[0], {1, 1, 1, 20, 20, 16, false, 0.25f}, 0);
  const Attention &a = call.attention();
  store(a.dtype, call.q().host(), 3 * a.q.row, NAN);
  call.q().upload();
  ASSERT_TRUE(rig_->forward(a, call.buffers(false)).ok());
  const std::vector<uint8_t> o = call.o().download();
  for (int64_t row = 0; row < a.queries; ++row)
    EXPECT_EQ(std::isnan(load(a.dtype, o.data(), row * a.o.row)), row == 3) << "row " << row;
}

TEST_P(AttentionTest, BadArgumentsAreRefused) {
  Call call(*rig_, kPrecisions[0], {1, 4, 2, 20, 40, 16, true, 0.25f}, 0);
  const auto refusal = [&](auto change) {
    Attention a = call.attention();
    AttentionBuffers b = call.buffers(false);
    change(a, b);
    EXPECT_EQ(rig_->forward(a, b).code(), rig_->backward(a, b).code());
    return rig_->backward(a, b).message();
  };
  const auto expect = [&](const char *text, auto change) {
    const std::string message = refusal(change);
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  expect("element type f64", [](Attention &a, AttentionBuffers &) { a.dtype = kCollF64; });
  expect("a multiple of 8, up to 128", [](Attention &a, AttentionBuffers &) { a.dim = 12; });
  expect("a multiple of 8, up to 128", [](Attention &a, AttentionBuffers &) { a.dim = 136; });
  expect("cannot share", [](Attention &a, AttentionBuffers &) { a.kvHeads = 3; });
  expect("leaves no key", [](Attention &a, AttentionBuffers &) { a.keys = 19; });
  expect("no heads, queries or keys", [](Attention &a, AttentionBuffers &) { a.queries = 0; });
  expect("a size is -1", [](Attention &a, AttentionBuffers &) { a.batch = -1; });
  expect("not finite", [](Attention &a, AttentionBuffers &) { a.scale = INFINITY; });
  expect("\"k\" is null", [](Attention &, AttentionBuffers &b) { b.k = nullptr; });
  expect("\"v\" has a stride of 4", [](Attention &a, AttentionBuffers &) { a.v.row = 4; });
  expect("\"lse\" is null", [](Attention &, AttentionBuffers &b) { b.lse = nullptr; });
}

TEST_P(AttentionTest, BadGradientsAreRefused) {
  Call call(*rig_, kPrecisions[0], {1, 4, 2, 20, 40, 16, true, 0.25f}, 0);
  Attention a = call.attention();
  a.dK.row = 8;
  EXPECT_EQ(rig_->backward(a, call.buffers(false)).code(), kCollInvalidCall);
  AttentionBuffers b = call.buffers(false);
  b.scratch = nullptr;
  EXPECT_EQ(rig_->backward(call.attention(), b).code(), kCollInvalidCall);
}

TEST_P(AttentionTest, NothingOfABatchOfNone) {
  Attention a;
  a.heads = a.kvHeads = a.queries = a.keys = 1;
  a.dim = 8;
  EXPECT_TRUE(rig_->forward(a, {}).ok());
  EXPECT_TRUE(rig_->backward(a, {}).ok());
}

} // namespace
} // namespace coll::kernels::test
