// Backend net over verbs, between processes, on the RDMA stack of a real kernel. Runs in the
// virtual machine (suite.sh). Ranks are on ra and rb alternately, so half of the messages cross the
// wire.

#include "runtime/base/dtype.h"
#include "test/conformance/harness.h"
#include "test/runtime/processes.h"
#include "test/vm/ports.h"

#include <csignal>
#include <cstdio>
#include <cstring>

namespace coll::rt::test {
namespace {

using net::test::isInMachine;

constexpr int kRanks = 3;
constexpr int64_t kNoticeUs = 40'000'000; // the longest that a fault may go unnoticed

Status expect(bool holds, const std::string &what) {
  return holds ? Status() : Status::internal("wrong: " + what);
}

// Runs a rank in its process; returns 0 if the body has returned ok.
int beRank(BackendOptions &options, const std::function<Status(Member &)> &body) {
  const int rank = options.job->rank;
  options.transport = "verbs";
  Status outcome;
  if (Result<std::unique_ptr<Backend>> backend = createBackend("net", options); !backend) {
    outcome = backend.status();
  } else if (Result<std::unique_ptr<Endpoint>> endpoint = (*backend)->endpoint(rank); !endpoint) {
    outcome = endpoint.status();
  } else {
    (*endpoint)->enter();
    std::unique_ptr<Communicator> group =
        (*endpoint)->communicator(oneGroup(options.numRanks).groups[0]).take();
    Member member = {**endpoint, *group, rank, options.numRanks, rank};
    outcome = body(member);
    group.reset();
    (*endpoint)->leave();
  }
  if (!outcome.ok())
    std::fprintf(stderr, "rank %d: %s\n", rank, outcome.toString().c_str());
  return outcome.ok() ? 0 : 1;
}

// `devices` by rank; the last one is also that of all further ranks.
std::vector<int> runOn(const std::vector<std::string> &devices, int ranks,
                       const std::function<Status(Member &)> &body) {
  return runProcesses(ranks, [&](BackendOptions &options) {
    size_t place = std::min(static_cast<size_t>(options.job->rank), devices.size() - 1);
    setenv("COLL_NET_RDMA_DEVICES", devices[place].c_str(), 1);
    return beRank(options, body);
  });
}

//===-- every collective --------------------------------------------------------===//

// Blocks of `count` elements: the input of each rank and the expected result.
struct Shape {
  OpKind kind;
  bool takesAll, givesAll; // n blocks instead of one
};

constexpr Shape kShapes[] = {
    {OpKind::AllReduce, false, false},    {OpKind::Reduce, false, false},
    {OpKind::Broadcast, false, false},    {OpKind::AllGather, false, true},
    {OpKind::Gather, false, true},        {OpKind::Scatter, true, false},
    {OpKind::ReduceScatter, true, false}, {OpKind::AllToAll, true, true},
    {OpKind::Permute, false, false},
};
constexpr int kRoot = 1;
constexpr int32_t kRing[] = {0, 1, 1, 2, 2, 0};

// The ranks' data, and its sum. Elements repeat, so that producing and comparing them is cheap on
// an emulated processor.
class Contents {
public:
  Contents(CollDtype dtype, int64_t most) : dtype_(dtype) {
    for (int rank = 0; rank < kRanks; ++rank)
      add(most, [&](int64_t i) { return sample(dtype, rank, i); });
    add(most, [&](int64_t i) {
      double sum = 0;
      for (int rank = 0; rank < kRanks; ++rank)
        sum += sample(dtype, rank, i);
      return rounded(dtype, sum);
    });
  }

  static constexpr int kSum = kRanks;
  const char *of(int rank, int64_t i) const {
    return bytes_[static_cast<size_t>(rank)].data() + i * dtypeSize(dtype_);
  }

private:
  void add(int64_t most, const std::function<double(int64_t)> &value) {
    constexpr int64_t kPeriod = 4099; // a prime: blocks begin at different places
    Elements some(dtype_, kPeriod);
    for (int64_t i = 0; i < kPeriod; ++i)
      some.set(i, value(i));
    const char *from = static_cast<const char *>(some.data());
    std::vector<char> &all = bytes_.emplace_back();
    for (int64_t i = 0; i <= most; i += kPeriod)
      all.insert(all.end(), from, from + kPeriod * dtypeSize(dtype_));
  }

  CollDtype dtype_;
  std::vector<std::vector<char>> bytes_; // by rank, then the sum
};

// Returns the expected content of block `block` of the member's result.
const char *expected(const Contents &contents, const Member &m, OpKind kind, int64_t count,
                     int block) {
  const int64_t mine = m.position * count;
  switch (kind) {
  case OpKind::AllReduce:
  case OpKind::Reduce:
    return contents.of(Contents::kSum, 0);
  case OpKind::ReduceScatter:
    return contents.of(Contents::kSum, mine);
  case OpKind::Broadcast:
    return contents.of(kRoot, 0);
  case OpKind::Scatter:
    return contents.of(kRoot, mine);
  case OpKind::AllToAll:
    return contents.of(block, mine);
  case OpKind::Permute:
    return contents.of((m.position + kRanks - 1) % kRanks, 0);
  default:
    return contents.of(block, 0);
  }
}

Status checkCollective(Member &m, const Shape &shape, const Contents &contents, CollDtype dtype,
                       int64_t count) {
  const auto blockBytes = static_cast<size_t>(count * dtypeSize(dtype));
  const int blocks = shape.givesAll ? kRanks : 1;
  std::vector<char> dst(blockBytes * static_cast<size_t>(blocks) + 1);
  Call call =
      makeCall(shape.kind, dtype, count, const_cast<char *>(contents.of(m.rank, 0)), dst.data());
  call.root = hasRoot(shape.kind) ? kRoot : 0;
  if (shape.kind == OpKind::AllToAll)
    call.dstCount = count;
  if (shape.kind == OpKind::Permute) {
    call.pairs = kRing;
    call.numPairs = kRanks;
  }
  m.async = count % 2 == 0;
  COLL_RETURN_IF_ERROR(m.call(call));
  const bool isRootsAlone = shape.kind == OpKind::Reduce || shape.kind == OpKind::Gather;
  for (int block = 0; block < blocks && !(isRootsAlone && m.position != kRoot); ++block)
    COLL_RETURN_IF_ERROR(
        expect(std::memcmp(dst.data() + blockBytes * static_cast<size_t>(block),
                           expected(contents, m, shape.kind, count, block), blockBytes) == 0,
               describe(call) + ", block " + std::to_string(block)));
  return {};
}

// Sends to the next rank and receives from the previous one, with tags that cross.
Status checkTransfers(Member &m, const Contents &contents, CollDtype dtype, int64_t count) {
  const auto bytes = static_cast<size_t>(count * dtypeSize(dtype));
  std::vector<char> got[2] = {std::vector<char>(bytes + 1), std::vector<char>(bytes + 1)};
  const int next = (m.position + 1) % kRanks, last = (m.position + kRanks - 1) % kRanks;
  std::vector<Request *> requests;
  for (int turn = 0; turn < 4; ++turn) {
    const bool sends = turn >= 2;
    const int tag = sends ? turn % 2 : 1 - turn % 2;
    Call call = makeCall(sends ? OpKind::Send : OpKind::Recv, dtype, count, nullptr, nullptr);
    call.src = sends ? contents.of(m.rank, tag) : nullptr;
    call.dst = sends ? nullptr : got[tag].data();
    call.peer = sends ? next : last;
    call.tag = tag;
    Result<Request *> request = m.start(call);
    if (!request)
      return request.status();
    requests.push_back(*request);
  }
  for (Request *request : requests)
    COLL_RETURN_IF_ERROR(m.wait(request));
  for (int tag = 0; tag < 2; ++tag)
    COLL_RETURN_IF_ERROR(
        expect(std::memcmp(got[tag].data(), contents.of(last, tag), bytes) == 0, "received"));
  return {};
}

Status everything(Member &m) {
  constexpr int64_t kMost = 300'000;
  for (CollDtype dtype : {kCollF32, kCollBf16, kCollI32}) {
    const Contents contents(dtype, kRanks * kMost);
    for (int64_t count :
         {int64_t(0), int64_t(1), int64_t(64), int64_t(3000), int64_t(30'011), kMost}) {
      for (const Shape &shape : kShapes)
        COLL_RETURN_IF_ERROR(checkCollective(m, shape, contents, dtype, count));
      COLL_RETURN_IF_ERROR(checkTransfers(m, contents, dtype, count));
    }
  }
  return m.run(makeCall(OpKind::Barrier, kCollF32, 0, nullptr, nullptr));
}

TEST(VerbsBackendTest, EveryCollectiveBetweenProcesses) {
  COLL_NEEDS_MACHINE();
  EXPECT_EQ(runOn({"ra", "rb", "ra"}, kRanks, everything), std::vector<int>(kRanks, 0));
}

//===-- what fails --------------------------------------------------------------===//

// Makes sums until one fails; calls `breakIt` during one of a rank's sums.
Status sumUntilItFails(Member &m, const std::function<void()> &breakIt) {
  Elements data(kCollF32, 100'000);
  int64_t brokenUs = 0;
  for (int round = 0;; ++round) {
    if (round == 3) {
      brokenUs = net::nowUs();
      breakIt();
    }
    Status status =
        m.run(makeCall(OpKind::AllReduce, kCollF32, data.count(), data.data(), data.data()));
    if (status.ok() && round < 3)
      continue;
    if (status.ok() && net::nowUs() - brokenUs < kNoticeUs)
      continue;
    return status;
  }
}

TEST(VerbsBackendTest, AKilledProcessIsNamedToTheOthers) {
  COLL_NEEDS_MACHINE();
  auto body = [](Member &m) {
    int64_t begin = net::nowUs();
    Status status = sumUntilItFails(m, [&] {
      if (m.rank == 2)
        raise(SIGKILL);
    });
    return expect((status.code() == kCollPeer || status.code() == kCollAborted) &&
                      net::nowUs() - begin < kNoticeUs &&
                      status.message().find("rank 2") != std::string::npos,
                  status.toString());
  };
  EXPECT_EQ(runOn({"ra", "rb", "ra"}, kRanks, body), (std::vector<int>{0, 0, -SIGKILL}));
}

TEST(VerbsBackendTest, ACutWireIsAnErrorAndTheNextJobTakesAnotherPort) {
  COLL_NEEDS_MACHINE();
  auto body = [](Member &m) {
    Status status = sumUntilItFails(m, [&] {
      if (m.rank == 0)
        net::test::setWire(false);
    });
    return expect(status.code() == kCollLink || status.code() == kCollPeer ||
                      status.code() == kCollAborted,
                  status.toString());
  };
  EXPECT_EQ(runOn({"ra,rc", "rb,rc"}, 2, body), std::vector<int>(2, 0));
  auto next = [](Member &m) {
    Elements data(kCollF32, 100'000);
    return m.run(makeCall(OpKind::AllReduce, kCollF32, data.count(), data.data(), data.data()));
  };
  EXPECT_EQ(runOn({"ra,rc", "rb,rc"}, 2, next), std::vector<int>(2, 0));
  net::test::setWire(true);
  EXPECT_EQ(runOn({"ra,rc", "rb,rc"}, 2, next), std::vector<int>(2, 0));
}

TEST(VerbsBackendTest, ACutWireCostsNothingWhereConnectionsHaveTwoPorts) {
  COLL_NEEDS_MACHINE();
  constexpr int64_t kCount = 30'011;
  auto body = [](Member &m) -> Status {
    const Contents contents(kCollF32, kRanks * kCount);
    for (int round = 0; round < 6; ++round) {
      if (round == 2 && m.rank == 0)
        net::test::setWire(false);
      for (const Shape &shape : kShapes)
        COLL_RETURN_IF_ERROR(checkCollective(m, shape, contents, kCollF32, kCount));
      COLL_RETURN_IF_ERROR(checkTransfers(m, contents, kCollF32, kCount));
    }
    return m.run(makeCall(OpKind::Barrier, kCollF32, 0, nullptr, nullptr));
  };
  setenv("COLL_NET_RAILS", "2", 1);
  EXPECT_EQ(runOn({"ra,rc", "rb,rc", "ra,rc"}, kRanks, body), std::vector<int>(kRanks, 0));
  unsetenv("COLL_NET_RAILS");
  net::test::setWire(true);
}

} // namespace
} // namespace coll::rt::test
