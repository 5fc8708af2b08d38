// ibverbs.h - RDMA devices that exist in this process only.
//
// Their queue pairs reach each other, and data moves at once, in the thread that posts.
// They do what the specification of verbs says, and on demand what the real software
// device of the kernel cannot: fail as a whole, refuse calls, run out of receives,
// register dmabuf memory. Whatever it does to a buffer is checked against what was
// registered.

#ifndef COLL_TEST_SUPPORT_FAKES_IBVERBS_H
#define COLL_TEST_SUPPORT_FAKES_IBVERBS_H

#include "runtime/dl/ibverbs.h"

#include <memory>
#include <string>

namespace coll::net::test {

class FakeIbverbs {
public:
  // In the library's place while it lives. One at a time.
  explicit FakeIbverbs(int numDevices = 1);
  // Fails the test if something that was created is still there.
  ~FakeIbverbs();

  enum class Dmabuf { NotInLibrary, RefusedByKernel, Supported };
  void setDmabuf(Dmabuf dmabuf);

  // The call of this name (as in dl::Ibverbs) fails from now on; 0: no more. "port": all ports are
  // down, "port0": that of device 0.
  void fail(const std::string &call, int error);
  // The next work of this kind that is posted ends so, and with it its queue pair.
  void failNext(ibv_wr_opcode opcode, ibv_wc_status status);
  // The packets of the next write stay on their way until deliverLate(), whatever becomes of their
  // sender; it says how many writes found a queue pair that takes them.
  void delayNext();
  int deliverLate();
  // Work that is posted stays under way until stall(false).
  void stall(bool isStalled);
  // Devices hear nothing of each other any more.
  void cut(bool isCut);
  // Asynchronous events: of the device or one of its ports, or of all its queue pairs or
  // completion queues.
  void raise(int device, ibv_event_type type, int port = 1);

  const rt::dl::Ibverbs *table() const;
  size_t numRegistrations() const;
  // Work that has been posted, by opcode, since the beginning.
  int numPosted(ibv_wr_opcode opcode) const;
  int numInline() const;
  // That have arrived over a device.
  int numWrites(int device) const;

  struct State;

private:
  std::unique_ptr<State> state_;
};

} // namespace coll::net::test

#endif // COLL_TEST_SUPPORT_FAKES_IBVERBS_H
