// events.h - reports the parts of messages to NCCL's profiler (net_event.h).

#ifndef COLL_RUNTIME_NET_NCCL_PLUGIN_EVENTS_H
#define COLL_RUNTIME_NET_NCCL_PLUGIN_EVENTS_H

#include "runtime/net/nccl_plugin/abi.h"
#include "runtime/net/nccl_plugin/net_event.h"
#include "runtime/net/transport.h"

#include <array>

namespace coll::net::nccl {

// NCCL's callback; null if it has none (before v10).
using ProfilerHook = NcclProfilerCallback;

// The source of events: the same for all messages of a comm.
struct EventSource {
  const char *transport, *device;
  uint64_t connection;
  bool receives;
};

// The events of one message. Used by the thread that posts and tests it; costs one comparison
// without a profiler.
class MessageEvents {
public:
  // `parent` null: there is no profiler.
  void begin(ProfilerHook hook, void *parent, uint64_t message);
  bool isTraced() const { return hook_ != nullptr; }
  // Called after each test, with its outcome.
  void update(const EventSource &source, const Connection &connection, const Request *request,
              const Result<Completion> &outcome);

private:
  // More than the number of sockets of any connection.
  static constexpr int kMaxParts = 17;
  struct Started {
    void *event = nullptr;
    bool open = false;
    CollNetEvent data = {};
  };
  void start(Started &started, const EventSource &source, const MessagePart &part);
  void stop(Started &started, const MessagePart &part);

  ProfilerHook hook_ = nullptr;
  void *parent_ = nullptr;
  uint64_t message_ = 0, messageBytes_ = 0;
  int count_ = 0; // parts that were started
  std::array<Started, kMaxParts> parts_;
};

} // namespace coll::net::nccl

#endif // COLL_RUNTIME_NET_NCCL_PLUGIN_EVENTS_H
