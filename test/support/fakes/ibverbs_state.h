// ibverbs_state.h - the state of the fake devices; only for their own files.

#ifndef COLL_TEST_SUPPORT_FAKES_IBVERBS_STATE_H
#define COLL_TEST_SUPPORT_FAKES_IBVERBS_STATE_H

#include "test/support/fakes/ibverbs.h"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <gtest/gtest.h>
#include <list>
#include <unistd.h>
#include <vector>

namespace coll::net::test {

struct FakeContext;

struct FakeDevice {
  ibv_device base = {};
  std::string name;
  int number = 0;
  FakeContext *context = nullptr; // of the last open
};

struct FakeContext {
  ibv_context base = {};
  FakeDevice *device = nullptr;
  std::deque<ibv_async_event> events;
};

struct FakeMr {
  ibv_mr base = {};
  int access = 0;
  uint8_t *mapped = nullptr; // dmabuf: where this process sees it
};

struct FakeChannel {
  ibv_comp_channel base = {};
  std::deque<ibv_cq *> events;
};

struct FakeCq {
  ibv_cq base = {};
  FakeChannel *channel = nullptr;
  bool isArmed = false;
  std::deque<ibv_wc> completions;
};

struct Recv {
  uint64_t id = 0;
  std::vector<ibv_sge> places;
};

struct Send {
  ibv_send_wr request = {};
  std::vector<ibv_sge> places;
  std::vector<uint8_t> inlined;
};

// A write in flight.
struct Late {
  uint32_t peer = 0, rkey = 0;
  uint64_t address = 0;
  std::vector<uint8_t> data;
};

struct FakeQp {
  ibv_qp base = {};
  FakeCq *cq = nullptr;
  uint32_t peer = 0;
  uint32_t maxSends = 0, maxRecvs = 0, maxSegments = 0;
  std::deque<Recv> recvs;
  std::deque<Send> stalled;
};

struct FakeIbverbs::State {
  rt::dl::Ibverbs table;
  mutable std::mutex mutex;
  std::vector<std::unique_ptr<FakeDevice>> devices;
  std::list<FakeContext> contexts;
  std::list<ibv_pd> pds;
  std::map<uint32_t, FakeMr> mrs; // by key
  std::list<FakeChannel> channels;
  std::list<FakeCq> cqs;
  std::map<uint32_t, FakeQp> qps; // by number
  uint32_t next = 100;
  Dmabuf dmabuf = Dmabuf::RefusedByKernel;
  std::map<std::string, int> failing;
  std::map<ibv_wr_opcode, ibv_wc_status> failNext;
  std::map<ibv_wr_opcode, int> posted;
  std::map<int, int> writes; // by device
  int inlined = 0;
  bool isStalled = false, isCut = false, isNextLate = false;
  std::vector<Late> late;
  // Queue pairs and completion queues whose events were taken and not acknowledged; destroying them
  // waits for that.
  std::map<const void *, int> unacked;
  std::condition_variable acked;

  // Returns true, with errno set, if the call is to fail.
  bool fails(const char *call) {
    auto it = failing.find(call);
    if (it == failing.end())
      return false;
    errno = it->second;
    return true;
  }

  uint8_t *resolve(uint32_t key, uint64_t address, uint64_t bytes, int access);
  void complete(FakeCq &cq, ibv_wc completion);
  void breakQp(FakeQp &qp);
  void end(FakeQp &qp, const Send &send, ibv_wc_status status);
  FakeQp *alive(uint32_t number);
  void delay(FakeQp &qp, const Send &send);
  ibv_wc_status execute(FakeQp &qp, const Send &send);
  ibv_wc_status receive(FakeQp &peer, const Send &send, const std::vector<uint8_t> &data);
  void run(FakeQp &qp, const Send &send);
  void forgetEvents(std::unique_lock<std::mutex> &lock, ibv_context *context, const void *subject);
  void fillTable();
};

// The devices that exist now. Calls of the library do not name a state, so it is found here.
inline FakeIbverbs::State *fake = nullptr;

using FakeLock = std::lock_guard<std::mutex>;

template <typename List, typename Base>
auto findIn(List &list, const Base *base) {
  auto it = std::find_if(list.begin(), list.end(), [&](auto &item) { return &item.base == base; });
  EXPECT_NE(it, list.end()) << "the fake did not make this";
  return it;
}

// Returns the queue pair or completion queue that an event is about, or null.
inline const void *subjectOf(const ibv_async_event &event) {
  switch (event.event_type) {
  case IBV_EVENT_CQ_ERR:
    return event.element.cq;
  case IBV_EVENT_QP_FATAL:
  case IBV_EVENT_QP_REQ_ERR:
  case IBV_EVENT_QP_ACCESS_ERR:
    return event.element.qp;
  default:
    return nullptr;
  }
}

// An eventfd that counts.
inline void signalFd(int fd) {
  uint64_t one = 1;
  ASSERT_EQ(write(fd, &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
}

inline bool takeFd(int fd) {
  uint64_t one = 0;
  return read(fd, &one, sizeof(one)) == static_cast<ssize_t>(sizeof(one));
}

// Like the library's function of this name; in the table only if the fake supports it.
ibv_mr *fakeRegDmabufMr(ibv_pd *pd, uint64_t offset, size_t bytes, uint64_t iova, int fd,
                        int access);

} // namespace coll::net::test

#endif // COLL_TEST_SUPPORT_FAKES_IBVERBS_STATE_H
