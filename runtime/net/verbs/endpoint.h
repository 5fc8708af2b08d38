// endpoint.h - one side of a verbs connection: a control queue pair, queue pairs for
// data, one completion queue, and the TCP connection over which they were set up.
//
// The control queue pair carries messages of at most kSlotBytes into buffers that the receiver has
// posted; a sender has a credit for each. A larger message is announced; when the peer has a
// receive, it answers with the addresses of its buffers, and the data is written there, in parts
// over the data queue pairs, each with an immediate that notifies the receiver. The TCP connection
// stays open and idle: its end shows at once that the peer has died.
//
// One lock protects everything. A thread that tests a request polls the completion queue
// unless another thread does; a progress thread sleeps on the completion channel.

#ifndef COLL_RUNTIME_NET_VERBS_ENDPOINT_H
#define COLL_RUNTIME_NET_VERBS_ENDPOINT_H

#include "runtime/net/verbs/queue_pair.h"
#include "runtime/net/verbs/request.h"
#include "runtime/net/verbs/shared.h"

#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace coll::net::verbs {

inline constexpr uint32_t kSlots = 64;     // receive buffers, and as many to send from
inline constexpr uint32_t kDataSends = 64; // in flight on a data queue pair
inline constexpr uint32_t kInlineBytes = 192;
// The content of wr_id: the kind of work that ended, and its slot, or the queue and the request.
enum class WorkKind : uint8_t { ControlSend = 1, ControlRecv, DataSend, DataRecv };
inline constexpr uint64_t kMirrorQueue = 0xff;
inline uint64_t workId(WorkKind kind, uint64_t queue, uint64_t index) {
  return static_cast<uint64_t>(kind) << 56 | queue << 32 | index;
}

class Endpoint final : public DeviceUser, public std::enable_shared_from_this<Endpoint> {
public:
  // Creates queue pairs that are not connected yet.
  static Result<std::shared_ptr<Endpoint>> create(Shared &shared, const Rail &rail, int queues);
  ~Endpoint() override;

  SetupInfo setupInfo() const;
  // From now on the device can receive.
  Status connect(const SetupInfo &peer);
  // The peer is ready, too. The set-up leaves nothing to read in `tcp`.
  Status start(Fd tcp);

  // See Connection.
  Result<Request *> isend(const Segment *segments, int count, uint64_t tag);
  Result<Request *> irecv(const Segment *segments, int count, uint64_t tag);
  Result<Request *> access(bool isWrite, const Segment *segments, int count, const RemoteKey &key,
                           const RemoteRows &rows);
  Result<Request *> iflush(const Segment *segments, int count);
  Result<Completion> test(Request *request);
  void close();
  void abort();

  void onDeviceError(const Status &why) override;

private:
  class Watch;
  using Kind = VerbsRequest::Kind;

  using Pool = RequestPool<VerbsRequest>;

  // A message that waits for a credit.
  struct Outgoing {
    Message message;
    VerbsRequest *request = nullptr; // Eager: its payload
    bool byReference = false;        // Eager: the device fetches the payload itself
    std::vector<RemoteSegment> segments;
  };
  // A piece of data that waits for its queue pair.
  struct Work {
    VerbsRequest *request = nullptr;
    ibv_wr_opcode opcode = IBV_WR_RDMA_WRITE;
    uint64_t offset = 0, bytes = 0; // in the request
    uint64_t address = 0;           // at the peer
    uint32_t rkey = 0;
    uint8_t *staged = nullptr; // mirror: used instead of the request's buffers
  };
  struct DataQueue {
    std::unique_ptr<QueuePair> pair;
    std::deque<Work> waiting;
    uint32_t underWay = 0;
  };

  Endpoint(Shared &shared, const Rail &rail)
      : shared_(shared), device_(*rail.device), api_(rail.device->api()), portNumber_(rail.port),
        poller_(shared.nextPoller()) {}

  // endpoint.cc: life. The caller holds the lock.
  Status createQueues(int queues);
  Status createBuffers();
  Status refusal() const;
  void failAll(const Status &why);
  void fail(const Status &why);
  void teardown();
  void onTcp();
  void onTcpDeadline();
  void onChannel();

  // endpoint_post.cc: requests. The caller holds the lock, except for prepare().
  Result<Keys> prepare(const Segment *segments, int count, bool isSource);
  VerbsRequest *begin(Pool &pool, Kind kind, const Segment *segments, int count, uint64_t total);
  void release(VerbsRequest &request);
  bool hasRoom(const Pool &pool);

  // endpoint_messages.cc: messages of the peer. The caller holds the lock.
  Status onMessage(const uint8_t *bytes, size_t count);
  Status onImmediate(size_t queue, uint32_t value);
  Status onEager(const Message &message, const uint8_t *payload);
  Status onRts(const Message &message);
  Status onCts(const Message &message, const uint8_t *payload);
  Status onCredit(const Message &message);
  Status onAccess(const Message &message);
  Status onGrant(const Message &message);
  static std::vector<RemoteSegment> granted(const VerbsRequest &request, uint64_t address,
                                            uint32_t rkey);
  bool matchUnexpected(VerbsRequest &request);
  void deliver(VerbsRequest &request, const uint8_t *data, uint64_t bytes);
  Status announceBuffers(VerbsRequest &request, Outgoing &answer);
  Status clearToSend(VerbsRequest &request, uint64_t senderId, uint64_t bytes);
  void creditEager(uint64_t bytes);

  // endpoint_work.cc: work of the device. The caller holds the lock.
  bool progress();
  Status onCompletion(const ibv_wc &completion);
  Status postSlot(uint32_t slot);
  bool push(Outgoing outgoing);
  void flush();
  Status flushControl();
  Status sendControl(Outgoing &outgoing);
  Status flushData(DataQueue &queue, uint64_t tag);
  std::vector<Extent> parts(uint64_t bytes) const;
  void split(VerbsRequest &request, ibv_wr_opcode opcode, const std::vector<RemoteSegment> &remote,
             size_t firstQueue);

  // endpoint_mirror.cc: data that the processor must not touch. The caller holds the lock.
  Status createMirror();
  Status mirrorInto(VerbsRequest &request, const uint8_t *data);
  Status mirrorFlush(VerbsRequest &request);

  Shared &shared_;
  Device &device_;
  const rt::dl::Ibverbs &api_;
  const uint8_t portNumber_;
  Port port_;
  Poller &poller_;
  DeviceProperties properties_;
  uint64_t number_ = 0; // its number as a user of the device

  std::mutex mutex_;
  ibv_comp_channel *channel_ = nullptr;
  ibv_cq *cq_ = nullptr;
  uint8_t *buffers_ = nullptr; // slots to receive into, then slots to send from
  size_t bufferBytes_ = 0;
  ibv_mr *bufferMr_ = nullptr;
  std::unique_ptr<QueuePair> control_;
  std::vector<DataQueue> data_;
  int maxSegments_ = 1; // of one work request
  Fd tcp_;
  uint64_t tcpId_ = 0, channelId_ = 0;

  // Control messages. A credit stands for a receive buffer of the peer.
  uint32_t credits_ = 0, peerSlots_ = 0, toReturn_ = 0;
  std::vector<uint32_t> freeSlots_; // to send from
  // the request that is done once the slot was sent; or null
  std::vector<VerbsRequest *> slotRequest_;
  std::deque<Outgoing> out_;
  uint64_t underWay_ = 0; // sends in flight on all queue pairs
  size_t nextQueue_ = 0;

  Pool outbound_{kMaxRequests}, inbound_{kMaxRequests};
  std::deque<VerbsRequest *> posted_; // receives without a message
  std::list<Unexpected> unexpected_;
  uint32_t announced_ = 0; // messages in unexpected_ that were announced by Rts
  // The credit for sending without asking, and what the peer has sent on our credit.
  uint64_t windowBytes_ = kEagerWindowBytes, windowMessages_ = kEagerWindowMessages;
  uint64_t eagerBytes_ = 0, eagerMessages_ = 0;   // used, and not credited yet
  uint64_t creditBytes_ = 0, creditMessages_ = 0; // received, and not yet returned to the peer

  // A queue pair connected to itself, for GPU memory; created when it is needed.
  DataQueue mirror_;
  ibv_mr *mirrorMr_ = nullptr;
  std::vector<uint8_t> mirrorBuffers_; // kEagerBytes for each inbound request, and scratch

  Status failure_;         // the first failure
  bool ending_ = false;    // the peer has closed; work in flight may still succeed
  bool lingering_ = false; // closed, but the queue pairs stay for the peer's acknowledgements
  bool over_ = false;      // the queue pairs are destroyed
  bool closed_ = false;
};

} // namespace coll::net::verbs

#endif // COLL_RUNTIME_NET_VERBS_ENDPOINT_H
