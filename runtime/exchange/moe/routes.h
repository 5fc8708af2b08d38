// routes.h - the routes of tokens if ranks are on several nodes; computed on the host.
//
// A token crosses the network once for each other node that has one of its experts, to the rank
// with the source's number in that node. That rank *relays* it to the ranks of its node, adds up
// the rows that they give back, and returns the sum the same way. The places of rows at their
// receivers are the same as with one node: by source rank, then by the token's place there.

#ifndef COLL_RUNTIME_EXCHANGE_MOE_ROUTES_H
#define COLL_RUNTIME_EXCHANGE_MOE_ROUTES_H

#include "runtime/exchange/moe/moe.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace coll::rt {

// The position of this rank.
struct MoeWorld {
  int rank = 0;
  int numRanks = 1;
  int nodeSize = 1; // numRanks is a multiple, except in the low-latency mode

  int numNodes() const { return (numRanks + nodeSize - 1) / nodeSize; }
  // Ranks of this node.
  int members() const {
    const int after = numRanks - node() * nodeSize;
    return after < nodeSize ? after : nodeSize;
  }
  int node() const { return rank / nodeSize; }
  int place() const { return rank % nodeSize; } // in the node
  // This rank's counterpart.
  int onNode(int node) const { return node * nodeSize + place(); }
};

// The counts that a rank reports of its tokens.
struct MoeCounts {
  int64_t numTokens = 0;
  std::vector<int32_t> perRank, perNode;
  std::vector<int32_t> perExpert; // of the experts of the rank that receives the report
};

// A token that crosses to another node. Plain bytes.
struct MoeRoute {
  int32_t token = 0;    // number at its source
  uint32_t members = 0; // bit i: rank i of the node takes it
};
// For each node the tokens that go there, in order. isTokenInRank: as in MoeLayout, on the
// host.
std::vector<std::vector<MoeRoute>> moeRoutesOf(const MoeWorld &world, const uint8_t *isTokenInRank,
                                               int64_t numTokens);

// The routes of one dispatch's tokens, seen by one rank. Rows are positions at their receiver; -1:
// none.
struct MoeRoutes {
  MoeWorld world;
  int64_t numTokens = 0;                // of this rank
  std::vector<int32_t> rankPrefix;      // as in MoeHandle
  std::vector<int32_t> tokensPerExpert; // received, of this rank's experts
  // [nodeSize]: number of tokens that each rank of this node receives
  std::vector<int32_t> memberTokens;
  std::vector<int32_t> ownRows;    // [numTokens][nodeSize]: of this rank's tokens
  std::vector<int32_t> sendTokens; // this rank's tokens for other nodes, node by node
  std::vector<int64_t> sendBegin;  // [numNodes + 1] in sendTokens
  std::vector<int32_t> places;     // [numTokens][numNodes]: in sendTokens, or -1
  // tokens that other nodes send here: number at the source, node by node
  std::vector<int32_t> relaySource;
  std::vector<int64_t> relayBegin; // [numNodes + 1] in relaySource
  std::vector<int32_t> relayRows;  // [relayed][nodeSize]
  // The largest values of any rank, so that all ranks get the same result about a call's memory.
  int64_t maxTokens = 0, maxSent = 0, maxRelayed = 0, maxReceived = 0;
  int maxReceiver = 0; // the rank that receives the most

  int64_t numReceived() const { return memberTokens[static_cast<size_t>(world.place())]; }
  int64_t numRelayed() const { return relayBegin.back(); }
};

// Describes the dispatch that made a handle. Between nodes it has routes. With a worst case the
// routes are found when that dispatch is done, and only the thread that executes calls reads them.
struct MoeWay {
  std::shared_ptr<const char> owner; // the mark of the buffer that made it
  int64_t numTokens = 0;             // of this rank
  bool isKnown = false;              // the caller knows the routes
  std::shared_ptr<const MoeRoutes> routes;
};

// counts[r] is what rank r has reported, here[n] goes from this rank to node n, there[n] comes from
// the counterpart on node n. kCollMismatch, with the rank, if they do not match.
Result<std::shared_ptr<MoeRoutes>> makeMoeRoutes(const MoeWorld &world,
                                                 const std::vector<MoeCounts> &counts,
                                                 const std::vector<std::vector<MoeRoute>> &here,
                                                 const std::vector<std::vector<MoeRoute>> &there);

// Checks that a rank's report of its tokens is possible. kCollMismatch names the rank.
Status checkMoeCounts(const MoeWorld &world, int rank, const MoeCounts &counts);

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_MOE_ROUTES_H
