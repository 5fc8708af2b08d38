// protocol.h - rank programs that only communicate: sends, receives and collectives, in
// straight code and loops.

#ifndef COLL_TEST_FUZZ_RANKS_PROTOCOL_H
#define COLL_TEST_FUZZ_RANKS_PROTOCOL_H

#include <cstdint>
#include <string>
#include <vector>

namespace coll::fuzz {

struct Action {
  enum class Kind : uint8_t { Send, Recv, StartSend, StartRecv, Wait, Reduce };
  Kind kind;
  int peer = 0;    // of a transfer: a stage, maybe one that is not there
  int tag = 0;     // of a transfer
  int cross = 0;   // of a transfer that names a rank: 1 and 2 lead to another replica
  int type = 0;    // index of Protocol::types
  int request = 0; // of a start and its wait; unique in the segment
  int group = 0;   // of a collective: 0: the stages, 1: the replicas, 2: all

  bool isTransfer() const { return kind != Kind::Wait && kind != Kind::Reduce; }
  bool isSend() const { return kind == Kind::Send || kind == Kind::StartSend; }
  bool isStart() const { return kind == Kind::StartSend || kind == Kind::StartRecv; }
};

// A loop, or straight code. A start whose wait stands before it is carried: it runs once before the
// first trip as well, each trip waits for the one before, and the last is waited for at the end.
struct Segment {
  int trips = 1;
  std::vector<Action> actions;

  bool isCarried(const Action &start) const;
  // The starts that are carried, in order.
  std::vector<Action> getCarried() const;
};

using Code = std::vector<Segment>;

// Rank r is stage r % stages of replica r / stages.
struct Protocol {
  // How a transfer says which stages it knows: by position in the group of a replica's stages,
  // or as a rank of all.
  enum class Peers : uint8_t { Positions, Ranks };

  int stages = 2, replicas = 1;
  int numTags = 3;
  std::vector<std::string> types = {"tensor<4xf32>", "tensor<8xf32>"};
  Peers peers = Peers::Positions;
  bool isOneProgram = false; // one function that branches over the classes, or a program for each
  uint64_t spelling = 0;     // of peers
  std::vector<Code> classes;
  std::vector<int> classOf; // by rank
  // The replica that cross 1 leads to, and the one that cross 2 leads to, by replica.
  std::vector<int> crossing[2];

  int numRanks() const { return stages * replicas; }
  // Whether any rank runs a class.
  bool hasRanks(int number) const;
  // The stage of the ranks of a class, which is one.
  int stageOf(int number) const;
  // What the transfer names on `rank`: a position or a rank, which need not be there.
  int nameOf(int rank, const Action &action) const;
  // The rank that it means, or -1 if there is no other rank like that.
  int peerOf(int rank, const Action &action) const;
  // As MLIR at the level of rank programs.
  std::string text() const;
};

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_RANKS_PROTOCOL_H
