// What a dispatch checks of what comes, and a combine of its route: no token is lost unseen.

#include "runtime/step/tokens/calls.h"
#include "runtime/step/tokens/rows.h"

#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace coll::rt::test {
namespace {

// Four tokens of one rank, of which all but token 2 go to a second rank with two experts.
class TokenRows : public testing::Test {
protected:
  void SetUp() override {
    sent_.x = x_;
    sent_.experts = experts_;
    sent_.weights = weights_;
    sent_.shape = {4, 2, 4};
    sent_.hidden = 1;
    sent_.localExperts = 2;
    sent_.rows = rows_;
    sent_.rowExperts = rowExperts_;
    sent_.rowWeights = rowWeights_;
    sent_.counts = counts_;
    sent_.route = route_;
    RouteWriter route(sent_.shape, route_);
    ASSERT_LT(findBadExpert(sent_, 2).token, 0);
    targets_ = findTargets(sent_, 2, route);
    words_ = writeNotes(sent_, targets_, 1);
    for (int i = 0; i < 4; ++i)
      route.sources()[i] = i < 3 ? 0 : -1;
    route.finish({2, 1, 7});
  }

  Status read() { return readNotes(sent_, {words_.data(), targets_.count(1), 0, 4}); }
  // The note of the i-th token sent: token, two experts, two weights.
  int32_t *note(int i) { return words_.data() + 2 + 5 * i; }

  void expectLost(const std::string &reason) {
    Status status = read();
    EXPECT_EQ(status.code(), kCollInternal);
    EXPECT_EQ(status.message(), "tokens were lost: " + reason);
  }

  float x_[4] = {0, 1, 2, 3}, weights_[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  int32_t experts_[8] = {2, 3, 0, 3, 1, -1, -1, 2};
  float rows_[4] = {}, rowWeights_[8] = {};
  int32_t rowExperts_[8] = {}, counts_[2] = {}, route_[64] = {};
  TokenDispatch sent_;
  TokenTargets targets_;
  std::vector<int32_t> words_;
};

TEST_F(TokenRows, ArriveAsTheyWereSent) {
  EXPECT_EQ(targets_.tokens, (std::vector<int32_t>{1, 2, 0, 1, 3}));
  ASSERT_TRUE(read().ok());
  EXPECT_EQ(std::vector<int32_t>(rowExperts_, rowExperts_ + 6),
            (std::vector<int32_t>{0, 1, -1, 1, -1, 0}));
  EXPECT_EQ(std::vector<float>(rowWeights_, rowWeights_ + 6),
            (std::vector<float>{0, 1, 0, 3, 0, 7}));
  EXPECT_EQ(counts_[0], 2);
  EXPECT_EQ(counts_[1], 2);
}

TEST_F(TokenRows, LossIsSeen) {
  note(1)[2] = 0; // for another expert than was sent
  expectLost("expert 0 was sent 2, but received 3");
  note(1)[2] = -1;
  expectLost("a row arrived for no expert of this rank");
  note(1)[2] = 2;
  expectLost("a row arrived for expert 2 of 2");
  note(1)[0] = 0; // once more
  expectLost("token 0 of 4 arrived after token 0");
  note(1)[0] = 4;
  expectLost("token 4 of 4 arrived after token 0");
}

TEST_F(TokenRows, BadDispatchesAreNamed) {
  const auto check = [&](auto change) {
    TokenDispatch dispatch = sent_;
    dispatch.dtype = kCollF32;
    dispatch.indexDtype = kCollI32;
    change(dispatch);
    return checkDispatch(dispatch, 2).message();
  };
  EXPECT_EQ(check([](TokenDispatch &) {}), "");
  const std::string rows = ": there may be 0 to " + std::to_string(kMaxRowElems);
  EXPECT_EQ(check([](TokenDispatch &d) { d.hidden = -1; }),
            "rows of -1 elements and 0 scales" + rows);
  EXPECT_EQ(check([](TokenDispatch &d) { d.numScales = -1; }),
            "rows of 1 elements and -1 scales" + rows);
  EXPECT_NE(check([](TokenDispatch &d) { d.hidden = kMaxRowElems + 1; }), "");
  EXPECT_NE(check([](TokenDispatch &d) { d.numScales = kMaxRowElems + 1; }), "");
  const std::string tokens = "the tokens, their experts, weights or scales are null";
  EXPECT_EQ(check([](TokenDispatch &d) { d.x = nullptr; }), tokens);
  EXPECT_EQ(check([](TokenDispatch &d) { d.numScales = 1; }), tokens);
  const std::string memory = "the memory for rows, experts, weights or scales is null";
  EXPECT_EQ(check([](TokenDispatch &d) { d.rows = nullptr; }), memory);
  EXPECT_EQ(check([](TokenDispatch &d) {
              d.shape.capacity = 0;
              d.rows = d.rowExperts = d.rowWeights = nullptr;
            }),
            ""); // no row can come
}

TEST_F(TokenRows, BadExpertsAreFound) {
  experts_[5] = 4;
  EXPECT_EQ(findBadExpert(sent_, 2).token, 2);
  EXPECT_EQ(findBadExpert(sent_, 2).expert, 4);
  EXPECT_EQ(findBadExpert(sent_, 2).isTwice, 0);
  experts_[1] = 2;
  EXPECT_EQ(findBadExpert(sent_, 2).token, 0);
  EXPECT_EQ(findBadExpert(sent_, 2).isTwice, 1);
}

TEST_F(TokenRows, TheFirstExpertMayNotBeNamedTwiceEither) {
  experts_[3] = 0;
  EXPECT_EQ(findBadExpert(sent_, 2).token, 1);
  EXPECT_EQ(findBadExpert(sent_, 2).isTwice, 1);
}

// What rank 1 says that it sends to rank 0, of 4 tokens.
TEST(TokenGreetings, ImpossibleCountsAreRefused) {
  const auto check = [](int64_t rows) {
    Greeting greeting;
    greeting.tokens = greeting.capacity = 4;
    std::vector<int64_t> one(sizeof(Greeting) / sizeof(int64_t)), all;
    std::memcpy(one.data(), static_cast<const void *>(&greeting), sizeof(greeting));
    for (int64_t toFirst : {int64_t(4), rows}) {
      all.insert(all.end(), one.begin(), one.end());
      all.insert(all.end(), {toFirst, 0});
    }
    const std::vector<int> ranks = {0, 1};
    return Greetings(ranks, all).check().message();
  };
  EXPECT_EQ(check(0), "");
  EXPECT_EQ(check(4), "");
  EXPECT_EQ(check(5), "rank 1 sent counts that are impossible");
  EXPECT_EQ(check(-1), "rank 1 sent counts that are impossible");
}

TEST_F(TokenRows, RoutesAreChecked) {
  const auto open = [&](RouteShape shape, int32_t groupSize, int32_t position) {
    return RouteReader::open(shape, route_, groupSize, position).status().message();
  };
  Result<RouteReader> route = RouteReader::open({4, 2, 4}, route_, 2, 1);
  ASSERT_TRUE(route.ok()) << route.status().toString();
  EXPECT_EQ(route->serial(), 7);
  EXPECT_EQ(route->rowsFrom(), (std::vector<int64_t>{3, 0}));
  EXPECT_EQ(route->rowsTo(), (std::vector<int64_t>{2, 3}));
  const std::string other = "the route is not of a dispatch like this over this group";
  EXPECT_EQ(open({4, 2, 4}, 3, 1), other);
  EXPECT_EQ(open({4, 2, 4}, 2, 0), other);
  EXPECT_EQ(open({3, 2, 4}, 2, 1), other);
  EXPECT_EQ(open({4, 1, 4}, 2, 1), other);
  EXPECT_EQ(open({4, 2, 5}, 2, 1), other);
  RouteWriter(RouteShape{4, 2, 4}, route_).sources()[0] = 2;
  EXPECT_EQ(open({4, 2, 4}, 2, 1), "the route is damaged");
  RouteWriter(RouteShape{4, 2, 4}, route_).sources()[0] = 0;
  RouteWriter(RouteShape{4, 2, 4}, route_).targetsOf(3)[1] = 1;
  EXPECT_EQ(open({4, 2, 4}, 2, 1), "the route is damaged");
}

} // namespace
} // namespace coll::rt::test
