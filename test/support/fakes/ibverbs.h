// ibverbs.h - fake RDMA devices that exist only in this process.
//
// Their queue pairs reach each other, and data moves at once, in the thread that posts. They follow
// the specification of verbs and, on demand, do what the real software device of the kernel cannot:
// fail as a whole, refuse calls, run out of receives, register dmabuf memory. Every access to a
// buffer is checked against the registrations.

#ifndef COLL_TEST_SUPPORT_FAKES_IBVERBS_H
#define COLL_TEST_SUPPORT_FAKES_IBVERBS_H

#include "runtime/dl/ibverbs.h"

#include <memory>
#include <string>

namespace coll::net::test {

class FakeIbverbs {
public:
  // Replaces the library while the object lives. Only one at a time.
  explicit FakeIbverbs(int numDevices = 1);
  // Fails the test if an object that was created still exists.
  ~FakeIbverbs();

  enum class Dmabuf { NotInLibrary, RefusedByKernel, Supported };
  void setDmabuf(Dmabuf dmabuf);

  // The call of this name (as in dl::Ibverbs) fails from now on; 0: no more. "port": all ports are
  // down, "port0": that of device 0.
  void fail(const std::string &call, int error);
  // The next work of this kind that is posted ends with this status, and its queue pair fails.
  void failNext(ibv_wr_opcode opcode, ibv_wc_status status);
  // The packets of the next write stay in flight until deliverLate(), whatever happens to their
  // sender; that function returns how many writes found a queue pair that accepts them.
  void delayNext();
  int deliverLate();
  // Work that is posted stays in flight until stall(false).
  void stall(bool isStalled);
  // Devices no longer receive anything from each other.
  void cut(bool isCut);
  // Asynchronous events: of the device or one of its ports, or of all its queue pairs or
  // completion queues.
  void raise(int device, ibv_event_type type, int port = 1);

  const rt::dl::Ibverbs *table() const;
  size_t numRegistrations() const;
  // The number of work requests that were posted with this opcode so far.
  int numPosted(ibv_wr_opcode opcode) const;
  int numInline() const;
  // The number of writes that have arrived over a device.
  int numWrites(int device) const;

  struct State;

private:
  std::unique_ptr<State> state_;
};

} // namespace coll::net::test

#endif // COLL_TEST_SUPPORT_FAKES_IBVERBS_H
