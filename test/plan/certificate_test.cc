// Certificates of reshards: the checker accepts what the planner claims, and refuses false claims.

#include "test/plan/simulator.h"

#include "plan/reshard_certificate.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace coll::plan::test {
namespace {

ReshardCertificate certificateOf(const ReshardCase &reshard,
                                 const CostModel &cost = CostModel::byBytes()) {
  return certify(reshard.mesh, reshard.reshard, searchMoves(reshard.mesh, reshard.reshard, cost));
}

TEST(CertificateTest, NamesStepsLinksAndTheBound) {
  ReshardCase reshard;
  reshard.mesh = meshOf({2, 4});
  reshard.reshard.shape = {16, 8};
  reshard.reshard.elemBytes = 4;
  reshard.reshard.from = replicated(reshard.reshard.shape);
  reshard.reshard.from.partial = {0, 1};
  reshard.reshard.to = replicated(reshard.reshard.shape);
  reshard.reshard.to.dims[0] = {{0}, 8};
  EXPECT_EQ(certificateOf(reshard).describe(), "[],[] partial [a,b] -> [a],[]\n"
                                               "  reduce_scatter dim 0 over [a]: 2048 bytes\n"
                                               "  all_reduce over [b]: 3072 bytes\n"
                                               "  over [a]: 2048 bytes\n"
                                               "  over [b]: 3072 bytes\n"
                                               "  5120 bytes, at least 5120\n");
  reshard.reshard.shape = {7};
  reshard.reshard.from = replicated({7});
  reshard.reshard.from.dims[0] = {{1}, 2};
  reshard.reshard.to = replicated({7});
  EXPECT_EQ(certificateOf(reshard).describe(), "[b] -> []\n"
                                               "  all_gather dim 0 over [b]: 192 bytes\n"
                                               "  over [b]: 192 bytes\n"
                                               "  192 bytes (24 of padding), at least 168: blocks "
                                               "travel with their padding; a route, which has "
                                               "more calls, takes longer where a call counts as "
                                               "much as 50 KB\n");
  EXPECT_EQ(certificateOf(reshard, CostModel::byBytes(0)).describe(),
            "[b] -> []\n"
            "  route over [b] in 6 rounds: 168 bytes\n"
            "  over [b]: 168 bytes\n"
            "  168 bytes, at least 168\n");
}

// The ranks along `a` hold the same contributions, and could share the work.
std::string reasonOfSum(int64_t extent) {
  ReshardCase reshard;
  reshard.mesh = meshOf({2, 4});
  reshard.reshard.shape = {extent};
  reshard.reshard.from = reshard.reshard.to = replicated({extent});
  reshard.reshard.from.partial = {1};
  return certificateOf(reshard).reason;
}

TEST(CertificateTest, SaysWhyAReductionIsNoRoute) {
  EXPECT_EQ(reasonOfSum(1 << 20),
            "collectives move whole blocks, and some elements more than once; reductions stay "
            "collectives, which share calls with others");
  EXPECT_EQ(reasonOfSum(1 << 10),
            "collectives move whole blocks, and some elements more than once; a route, which has "
            "more calls, takes longer where a call counts as much as 50 KB");
}

// Changes one piece of a route. Returns false if the move has none.
bool falsifyRoute(Move &route, Random &random) {
  std::vector<std::vector<RouteRound> *> all = {&route.rounds};
  for (RoutedSum &sum : route.sums) {
    all.push_back(&sum.in);
    all.push_back(&sum.out);
  }
  std::vector<RouteRound> &rounds = *all[random() % all.size()];
  if (rounds.empty())
    return false;
  RouteRound &round = rounds[random() % rounds.size()];
  RoutePiece &piece = round.pieces[random() % round.pieces.size()];
  switch (below(random, 7)) {
  case 0:
    round.pieces.erase(round.pieces.begin() + (&piece - round.pieces.data()));
    return true;
  case 1:
    ++piece.sourceStart[random() % piece.sourceStart.size()];
    return true;
  case 2:
    ++piece.targetStart[random() % piece.targetStart.size()];
    return true;
  case 3:
    piece.source += below(random, 2) ? 1 : -1;
    return true;
  case 4:
    piece.target += below(random, 2) ? 1 : -1;
    return true;
  case 5:
    ++round.extent[random() % round.extent.size()];
    return true;
  default:
    round.sends = !round.sends;
    return true;
  }
}

// Changes one claim. Returns false if the certificate has no claim of that kind.
bool falsify(ReshardCertificate &certificate, Random &random) {
  std::vector<Move> &steps = certificate.steps;
  Move *step = steps.empty() ? nullptr : &steps[random() % steps.size()];
  const int64_t amount = 1 + below(random, 100);
  switch (below(random, 18)) {
  case 0:
    certificate.wireBytes += below(random, 2) ? amount : -amount;
    return true;
  case 1:
    certificate.leastBytes += below(random, 2) ? amount : -amount;
    return true;
  case 2:
    certificate.reason = certificate.reason.empty() ? "it is faster" : "";
    return true;
  case 3: // the bytes of a step, and all that is summed from it
    if (!step || step->wireBytes == 0)
      return false;
    for (ReshardCertificate::Link &link : certificate.links)
      link.bytes += link.axes == step->axes ? amount : 0;
    step->wireBytes += amount;
    certificate.wireBytes += amount;
    certificate.reason = "it is faster";
    return true;
  case 4:
    if (certificate.links.empty())
      return false;
    certificate.links[random() % certificate.links.size()].bytes += amount;
    return true;
  case 5:
    if (certificate.links.empty())
      return false;
    certificate.links.pop_back();
    return true;
  case 6:
    if (!step)
      return false;
    steps.erase(steps.begin() + (step - steps.data()));
    return true;
  case 7: {
    if (!step)
      return false;
    const Move copy = *step;
    steps.insert(steps.begin(), copy);
    return true;
  }
  case 8:
    if (!step)
      return false;
    step->kind = static_cast<MoveKind>((static_cast<int>(step->kind) + 1 + below(random, 7)) % 8);
    return true;
  case 9:
    if (!step)
      return false;
    if (step->split >= 0)
      step->split = step->split == 0 ? -1 : step->split - 1;
    else if (step->join >= 0)
      step->join = step->join == 0 ? -1 : step->join - 1;
    else
      return false;
    return true;
  case 10:
    if (!step || step->axes.size() < 2)
      return false;
    step->axes.pop_back();
    return true;
  case 11:
    if (!step || step->pairs.size() < 4)
      return false;
    std::swap(step->pairs[0], step->pairs[2]);
    return true;
  case 12:
    if (!step || step->result.dims.empty())
      return false;
    ++step->result.dims[random() % step->result.dims.size()].block;
    return true;
  case 13:
    certificate.paddingBytes += below(random, 2) ? amount : -amount;
    return true;
  case 14:
  case 15:
  case 16:
    return step && step->kind == MoveKind::Route && falsifyRoute(*step, random);
  default:
    if (!step || step->axes.size() < 2 || step->kind == MoveKind::AllReduce ||
        step->kind == MoveKind::MakePartial)
      return false;
    std::swap(step->axes[0], step->axes[1]);
    return true;
  }
}

TEST(CertificateTest, AllFalsifiedCertificatesAreFound) {
  int falsified = 0;
  for (uint64_t seed = 0; falsified < 1000; ++seed) {
    Random random(seed);
    const ReshardCase reshard = randomCase(random);
    if (reshard.mesh.numRanks() == 1 || localElems(replicated(reshard.reshard.shape)) == 0)
      continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(reshard));
    // Half of them for routes wherever these send less.
    ReshardCertificate certificate =
        certificateOf(reshard, seed % 2 ? CostModel::byBytes(0) : CostModel::byBytes());
    ASSERT_EQ(checkCertificate(certificate), "") << certificate.describe();
    if (!falsify(certificate, random))
      continue;
    ++falsified;
    EXPECT_NE(checkCertificate(certificate), "") << certificate.describe();
  }
}

TEST(CertificateTest, AllFalsifiedRoutesAreFound) {
  int falsified = 0, sums = 0;
  for (uint64_t seed = 0; falsified < 1000; ++seed) {
    Random random(seed);
    const ReshardCase reshard = randomCase(random);
    ReshardCertificate certificate = certificateOf(reshard, CostModel::byBytes(0));
    const auto route = std::find_if(certificate.steps.begin(), certificate.steps.end(),
                                    [](const Move &step) { return step.kind == MoveKind::Route; });
    if (route == certificate.steps.end() || !falsifyRoute(*route, random))
      continue;
    ++falsified;
    sums += !route->sums.empty();
    EXPECT_NE(checkCertificate(certificate), "")
        << "seed " << seed << ": " << describe(reshard) << "\n"
        << certificate.describe();
  }
  EXPECT_GT(sums, 100);
}

} // namespace
} // namespace coll::plan::test
