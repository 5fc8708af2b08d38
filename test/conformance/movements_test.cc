// Collectives that move data without changing it: every type, layout and size; in place and not in
// place, blocking and started.

#include "runtime/base/dtype.h"
#include "test/conformance/harness.h"

namespace coll::rt::test {
namespace {

Elements zeros(CollDtype dtype, int64_t count) {
  return Elements::repeated(dtype, count, [](int64_t) { return 0; });
}

struct Case {
  CollDtype dtype;
  int64_t outer;
  int64_t count; // of one block
  bool inPlace;
};

template <typename Body>
void forEachCase(const Movements::ParamType &param, Body body) {
  const std::string &backend = std::get<0>(param);
  const int most = mostRanks(backend);
  for (const Layout &layout : layouts(most))
    runJob(backend, layout, [&](Member &m) {
      for (CollDtype dtype : std::get<1>(param)) {
        SCOPED_TRACE(dtypeName(dtype));
        for (int64_t total : counts())
          for (int64_t outer : {int64_t(1), int64_t(3)})
            for (int variant = 0; variant < 4 && isTested(layout, total, most); ++variant) {
              m.async = variant & 1;
              body(m, Case{dtype, outer, total / outer, (variant & 2) != 0});
            }
        m.settle();
      }
    });
}

// The larger of the two buffers of a call in place, beginning with the elements of `filled`.
Elements enlarged(const Elements &filled, CollDtype dtype, int64_t count) {
  Elements buffer(dtype, std::max(count, filled.count()));
  buffer.copyFrom(filled);
  return buffer;
}

// Makes the call, which must succeed, and returns the destination.
Elements perform(Member &m, const Case &c, Call call, const Elements &input, int64_t dstCount) {
  Elements src = c.inPlace ? enlarged(input, c.dtype, dstCount) : input;
  Elements dst(c.dtype, dstCount);
  call.src = src.data();
  call.dst = c.inPlace ? src.data() : dst.data();
  Status status = m.call(call);
  EXPECT_TRUE(status.ok()) << status.toString();
  return c.inPlace ? src : dst;
}

TEST_P(Movements, Broadcast) {
  forEachCase(GetParam(), [](Member &m, const Case &c) {
    int64_t count = c.outer * c.count;
    Call call = makeCall(OpKind::Broadcast, c.dtype, count, nullptr, nullptr);
    call.root = m.n - 1;
    Elements out = perform(m, c, call, Elements::samples(c.dtype, m.rank, 0, count), count);
    ASSERT_TRUE(out.has(0, Elements::samples(c.dtype, m.rankAt(call.root), 0, count)));
  });
}

TEST_P(Movements, AllGather) {
  forEachCase(GetParam(), [](Member &m, const Case &c) {
    Call call = makeCall(OpKind::AllGather, c.dtype, c.count, nullptr, nullptr);
    call.outer = c.outer;
    Elements out = perform(m, c, call, Elements::samples(c.dtype, m.rank, 0, c.outer * c.count),
                           c.outer * m.n * c.count);
    for (int64_t o = 0; o < c.outer; ++o)
      for (int p = 0; p < m.n; ++p)
        ASSERT_TRUE(out.has((o * m.n + p) * c.count,
                            Elements::samples(c.dtype, m.rankAt(p), o * c.count, c.count)));
  });
}

TEST_P(Movements, Gather) {
  forEachCase(GetParam(), [](Member &m, const Case &c) {
    Call call = makeCall(OpKind::Gather, c.dtype, c.count, nullptr, nullptr);
    call.outer = c.outer;
    call.root = m.n / 2;
    Elements out = perform(m, c, call, Elements::samples(c.dtype, m.rank, 0, c.outer * c.count),
                           c.outer * m.n * c.count);
    for (int64_t o = 0; o < c.outer; ++o)
      for (int p = 0; p < m.n; ++p)
        ASSERT_TRUE(out.has((o * m.n + p) * c.count,
                            m.position == call.root
                                ? Elements::samples(c.dtype, m.rankAt(p), o * c.count, c.count)
                                : zeros(c.dtype, c.count)));
  });
}

TEST_P(Movements, Scatter) {
  forEachCase(GetParam(), [](Member &m, const Case &c) {
    Call call = makeCall(OpKind::Scatter, c.dtype, c.count, nullptr, nullptr);
    call.outer = c.outer;
    call.root = 0;
    Elements out =
        perform(m, c, call, Elements::samples(c.dtype, m.rank, 0, c.outer * m.n * c.count),
                c.outer * c.count);
    for (int64_t o = 0; o < c.outer; ++o)
      ASSERT_TRUE(
          out.has(o * c.count, Elements::samples(c.dtype, m.rankAt(0),
                                                 (o * m.n + m.position) * c.count, c.count)));
  });
}

// Blocks of `outer` x 2 * `count` arrive as blocks of 2 * `outer` x `count`.
TEST_P(Movements, AllToAll) {
  forEachCase(GetParam(), [](Member &m, const Case &c) {
    int64_t srcCount = 2 * c.count, dstOuter = 2 * c.outer;
    Call call = makeCall(OpKind::AllToAll, c.dtype, srcCount, nullptr, nullptr);
    call.outer = c.outer;
    call.dstOuter = dstOuter;
    call.dstCount = c.count;
    int64_t block = c.outer * srcCount;
    Elements out =
        perform(m, c, call, Elements::samples(c.dtype, m.rank, 0, m.n * block), m.n * block);
    for (int p = 0; p < m.n; ++p)
      for (int64_t o = 0; o < dstOuter; ++o) { // halves of the blocks that were sent
        int64_t from = (o / 2 * m.n + m.position) * srcCount + o % 2 * c.count;
        ASSERT_TRUE(out.has((o * m.n + p) * c.count,
                            Elements::samples(c.dtype, m.rankAt(p), from, c.count)));
      }
  });
}

// A ring in which position 0 receives nothing, if there are two or more.
TEST_P(Movements, Permute) {
  forEachCase(GetParam(), [](Member &m, const Case &c) {
    std::vector<int32_t> pairs;
    for (int p = 0; p + 1 < m.n; ++p)
      pairs.insert(pairs.end(), {p, p + 1});
    int64_t count = c.outer * c.count;
    Call call = makeCall(OpKind::Permute, c.dtype, count, nullptr, nullptr);
    call.pairs = pairs.data();
    call.numPairs = m.n - 1;
    Elements out = perform(m, c, call, Elements::samples(c.dtype, m.rank, 0, count), count);
    ASSERT_TRUE(out.has(0, m.position == 0
                               ? zeros(c.dtype, count)
                               : Elements::samples(c.dtype, m.rankAt(m.position - 1), 0, count)));
  });
}

} // namespace
} // namespace coll::rt::test
