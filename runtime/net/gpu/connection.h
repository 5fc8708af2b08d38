// connection.h - a connection whose messages may start and end in GPU memory.
//
// Decorates a connection; transport.h is the contract. Requests of host memory are passed on. Other
// requests go through stages, which test() of any request advances:
//
//   receive: posted below -> landed -> published | copied to the GPU -> done
//   send:    packed by a kernel | copied from the GPU | ready -> posted below -> done
//
// Sends of one tag are posted below in the order of isend(), because messages of one tag keep their
// order: a send that waits for its data delays later sends of its tag.

#ifndef COLL_RUNTIME_NET_GPU_CONNECTION_H
#define COLL_RUNTIME_NET_GPU_CONNECTION_H

#include "runtime/net/gpu/counters.h"
#include "runtime/net/gpu/greeting.h"
#include "runtime/net/gpu/request.h"
#include "runtime/net/gpu/transport.h"

#include <deque>
#include <map>
#include <mutex>

namespace coll::net {

enum class Role { Accepted, Connected };

// The state that the connections of one transport share.
struct DeviceShared {
  // The GPU, kept as long as the transport, because destroying it waits for running kernels, which
  // the end of a connection must not do.
  Result<std::shared_ptr<Gpu>> gpu(int ordinal);

  const rt::dl::Cuda &cuda;
  const DeviceOptions options;
  DeviceCounters counters;
  std::mutex mutex;
  std::map<int, std::shared_ptr<Gpu>> gpus; // by ordinal; protected by the mutex
};

class GpuConnection final : public DeviceConnection {
public:
  // kCollDevice if the GPU or its pool has no room for a connection with a handle.
  static Result<std::unique_ptr<Connection>> create(DeviceShared &shared,
                                                    const DeviceProperties &properties,
                                                    std::unique_ptr<Connection> inner, Role role);
  ~GpuConnection() override;

  Result<Request *> isend(const Segment *segments, int count, uint64_t tag) override;
  Result<Request *> irecv(const Segment *segments, int count, uint64_t tag) override;
  Result<Request *> iwrite(const Segment *segments, int count, const RemoteKey &key,
                           uint64_t offset) override;
  Result<Request *> iread(const Segment *segments, int count, const RemoteKey &key,
                          const RemoteRows &rows) override;
  Result<Request *> iflush(const Segment *segments, int count) override;
  Result<Completion> test(Request *request) override;
  void rest() override { inner_->rest(); }
  int parts(const Request *request, MessagePart *out, int max) const override;
  void consumed() override;
  void consumed(int32_t slot) override;
  Status republish(int32_t slot) override;
  const DeviceHandle *deviceHandle() const override;
  const DeviceHandle *packHandle() const override;
  KernelView unpackView() const override;
  KernelView packView() const override;
  int packRoom() const override;
  std::vector<rt::PageDescriptor> packPages(const Request *request) const override;
  void packed(const Request *request) override;
  void close() override;

private:
  GpuConnection(DeviceShared &shared, const DeviceProperties &properties,
                std::unique_ptr<Connection> inner)
      : shared_(shared), properties_(properties), inner_(std::move(inner)) {}
  Status makeHandles(Role role);

  // The caller of all functions below holds mutex_.
  GpuRequest &newRequest(GpuRequest::Kind kind);
  void release(GpuRequest &request); // together with its blocks and slots
  // Returns `request`, with `inner` as its request below; releases it if that is null or an error.
  Result<Request *> posted(GpuRequest &request, const Result<Request *> &inner);
  Result<Request *> refuse(); // for lack of room
  Status progress();          // an error if the connection has ended
  void end(const Status &why);
  uint64_t tagBelow(uint64_t tag) const;
  Status check(const Segment *segments, int count) const;
  Status checkDevice(const Segment *segments, int count) const;
  // Ensures an account and blocks for `bytes` bytes; false if there is no room.
  Result<bool> takeBlocks(GpuRequest &request, uint64_t bytes);
  Result<Completion> testBelow(GpuRequest &request);
  Result<Request *> oneSided(const Segment *segments, int count, const RemoteKey &key,
                             const RemoteRows &rows, bool write);

  Result<Request *> receiveHost(const Segment *segments, int count, uint64_t tag);
  Result<Request *> receiveDevice(const Segment &segment, uint64_t tag);
  Result<Completion> testReceive(GpuRequest &request);
  Result<Completion> landed(GpuRequest &request, uint64_t streamBytes);
  bool slotsByLanding() const { return shared_.options.slots == SlotOrder::Landing; }
  Result<Completion> handOver(GpuRequest &request); // passes the message to the kernel
  Status layOut(GpuRequest &request, uint64_t streamBytes);
  Status layOutFragments(GpuRequest &request, uint64_t streamBytes);
  Result<Completion> endReceive(GpuRequest &request, const Result<Completion> &outcome);

  Result<Request *> sendHost(const Segment *segments, int count, uint64_t tag);
  Result<Request *> sendDevice(const Segment &segment, uint64_t tag);
  Result<Request *> queued(GpuRequest &request);
  // Whether no send before that position has the tag.
  bool isNext(std::deque<GpuRequest *>::const_iterator before, uint64_t tag) const;
  Result<bool> sourceReady(GpuRequest &request);
  void aim(GpuRequest &request);
  void postSends();
  Result<Completion> testSend(GpuRequest &request);

  DeviceShared &shared_;
  const DeviceProperties properties_;
  const std::unique_ptr<Connection> inner_;

  mutable std::mutex mutex_;
  Greeting greeting_;
  Status ended_; // why no more requests are accepted
  bool closed_ = false;
  std::shared_ptr<Gpu> gpu_; // the GPU of the accounts and the handles
  std::unique_ptr<BouncePool::Account> receives_, sends_;
  std::unique_ptr<UnpackSlots> unpack_;
  std::unique_ptr<PackSlots> pack_;
  std::vector<std::unique_ptr<GpuRequest>> requests_;
  std::vector<GpuRequest *> free_;
  std::vector<uint8_t> tail_;        // end of a stream that is spread over blocks
  std::deque<GpuRequest *> waiting_; // sends that are not posted below yet
  int outbound_ = 0;                 // sends in flight
  uint64_t seed_ = 1;                // seed of the next shuffled message
};

} // namespace coll::net

#endif // COLL_RUNTIME_NET_GPU_CONNECTION_H
