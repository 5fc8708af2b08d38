// options.h - the options of `coll-perf net`.

#ifndef COLL_TOOLS_COLL_PERF_NET_OPTIONS_H
#define COLL_TOOLS_COLL_PERF_NET_OPTIONS_H

#include "runtime/base/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace coll::perf {

enum class Mode { Latency, OneWay, BothWays };
enum class Op { Send, Write, Read };

// What both processes measure; rank 0 sends it to rank 1.
struct NetPlan {
  std::string transport = "tcp";
  std::vector<uint64_t> sizes;
  std::vector<Mode> modes = {Mode::Latency, Mode::OneWay, Mode::BothWays};
  Op op = Op::Send;
  int connections = 1;
  int inflight = 8; // messages on the way per connection and direction
  int rails = 1;    // devices that a connection uses at once
  int sockets = 0;  // per connection and device; 0: the transport's default
  int threads = 0;  // of the transport; 0: its default
  double seconds = 0.3;
  int repeat = 3;
  bool peer = true; // also measure raw sockets or perftest

  uint64_t largest() const;
};

// Options that apply to one process only.
struct NetPlace {
  std::string iface;
  std::string listen, connect; // both empty: starts the peer itself
  bool isListener = false;
  int64_t timeoutUs = 60'000'000;
};

// Checks that the plan can run: numbers in range, memory bounded.
rt::Status check(const NetPlan &plan);
std::string encode(const NetPlan &plan);
// Decodes a peer's plan: kCollMismatch if it is not one.
rt::Result<NetPlan> decodePlan(const std::string &text);

const char *nameOf(Mode mode);
const char *nameOf(Op op);
// Parses names separated by commas; kCollInvalidCall: the message names the unknown one.
rt::Result<std::vector<Mode>> parseModes(const std::string &text);
rt::Result<Op> parseOp(const std::string &text);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_NET_OPTIONS_H
