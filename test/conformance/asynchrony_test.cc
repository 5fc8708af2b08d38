// Operations in flight: waited for in any order, many at once, several groups at once.

#include "test/conformance/harness.h"

#include <random>

namespace coll::rt::test {
namespace {

Call sumInPlace(Elements &buffer) {
  return makeCall(OpKind::AllReduce, kCollI32, buffer.count(), buffer.data(), buffer.data());
}

TEST_P(Asynchrony, RanksWaitInDifferentOrders) {
  COLL_NEEDS_RANKS(4);
  runJob(GetParam(), oneGroup(4), [](Member &m) {
    std::mt19937 random(static_cast<unsigned>(m.rank));
    for (int round = 0; round < 20; ++round) {
      std::vector<Elements> buffers;
      std::vector<Request *> requests;
      constexpr int kInFlight = 9;
      for (int k = 0; k < kInFlight; ++k) {
        buffers.emplace_back(kCollI32, k % 3 == 0 ? 60'000 : 10);
        buffers.back().set(1, k + m.rank);
      }
      for (Elements &buffer : buffers) {
        Result<Request *> request = m.start(sumInPlace(buffer));
        ASSERT_TRUE(request.ok());
        requests.push_back(*request);
      }
      EXPECT_EQ(m.endpoint.inFlight(), kInFlight);
      std::shuffle(requests.begin(), requests.end(), random);
      for (Request *request : requests)
        ASSERT_TRUE(m.wait(request).ok());
      for (int k = 0; k < kInFlight; ++k)
        ASSERT_EQ(buffers[static_cast<size_t>(k)].get(1), 4 * k + 6);
    }
  });
}

// More operations than any fixed number of slots, followed by a blocking call.
TEST_P(Asynchrony, ManyInFlight) {
  COLL_NEEDS_RANKS(3);
  runJob(GetParam(), oneGroup(3), [](Member &m) {
    constexpr int kInFlight = 200;
    std::vector<Elements> buffers(kInFlight, Elements(kCollI32, 3));
    std::vector<Request *> requests;
    for (int k = 0; k < kInFlight; ++k) {
      buffers[static_cast<size_t>(k)].set(2, k * (m.rank + 1));
      Result<Request *> request = m.start(sumInPlace(buffers[static_cast<size_t>(k)]));
      ASSERT_TRUE(request.ok());
      requests.push_back(*request);
    }
    Elements last(kCollI32, 1);
    last.set(0, 1);
    ASSERT_TRUE(m.run(sumInPlace(last)).ok());
    EXPECT_EQ(last.get(0), 3);
    for (int k = kInFlight - 1; k >= 0; --k)
      ASSERT_TRUE(m.wait(requests[static_cast<size_t>(k)]).ok());
    for (int k = 0; k < kInFlight; ++k)
      ASSERT_EQ(buffers[static_cast<size_t>(k)].get(2), 6 * k);
  });
}

// Half the ranks block in the row group first, the others in the column group.
TEST_P(Asynchrony, BlockingInOneGroupAdvancesAnother) {
  COLL_NEEDS_RANKS(4);
  runJob(GetParam(), oneGroup(4), [](Member &m) {
    std::vector<int> row = m.rank < 2 ? std::vector<int>{0, 1} : std::vector<int>{2, 3};
    std::vector<int> column = m.rank % 2 ? std::vector<int>{1, 3} : std::vector<int>{0, 2};
    Result<std::unique_ptr<Communicator>> rows = m.endpoint.communicator(row);
    Result<std::unique_ptr<Communicator>> columns = m.endpoint.communicator(column);
    ASSERT_TRUE(rows.ok() && columns.ok());
    for (int round = 0; round < 200; ++round) {
      Elements a(kCollI32, 40'000), b(kCollI32, 5);
      a.set(0, m.rank);
      b.set(0, m.rank);
      bool rowFirst = m.rank == 0 || m.rank == 3;
      Communicator &first = rowFirst ? **rows : **columns;
      Communicator &second = rowFirst ? **columns : **rows;
      Result<Request *> request = m.start(first, sumInPlace(rowFirst ? a : b));
      ASSERT_TRUE(request.ok());
      ASSERT_TRUE(m.run(second, sumInPlace(rowFirst ? b : a)).ok());
      ASSERT_TRUE(m.wait(*request).ok());
      ASSERT_EQ(a.get(0), row[0] + row[1]);
      ASSERT_EQ(b.get(0), column[0] + column[1]);
    }
  });
}

// Every rank makes the same random choice of operation, size, and when to wait.
TEST_P(Asynchrony, RandomMixOfOperations) {
  COLL_NEEDS_RANKS(4);
  runJob(GetParam(), oneGroup(4), [](Member &m) {
    std::mt19937 shared(17);
    for (int round = 0; round < 300; ++round) {
      int64_t count = shared() % 5 == 0 ? shared() % 50'000 : shared() % 100;
      int root = static_cast<int>(shared() % 4);
      unsigned kind = shared() % 3;
      m.async = shared() % 2;
      Elements in(kCollI32, count), out(kCollI32, 4 * count);
      for (int64_t i = 0; i < count; ++i)
        in.set(i, m.rank * 3 + static_cast<double>(i));
      Call call = makeCall(kind == 0   ? OpKind::AllReduce
                           : kind == 1 ? OpKind::Broadcast
                                       : OpKind::AllGather,
                           kCollI32, count, in.data(), out.data());
      call.root = kind == 1 ? root : 0;
      Status status = m.call(call);
      ASSERT_TRUE(status.ok()) << status.toString();
      for (int64_t i = 0; i < count; i += 7) {
        double expected = static_cast<double>(kind == 0   ? 18 + 4 * i
                                              : kind == 1 ? root * 3 + i
                                                          : i);
        ASSERT_EQ(out.get(i), expected);
      }
    }
  });
}

} // namespace
} // namespace coll::rt::test
