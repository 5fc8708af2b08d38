#include "test/support/fakes/ibverbs.h"

#include "test/support/fakes/ibverbs_state.h"

#include <cstdio>
#include <utility>

namespace coll::net::test {

//===-- what the devices do -----------------------------------------------------===//

// Returns the address of a registered range in this process; null if it is not registered for
// `access`.
uint8_t *FakeIbverbs::State::resolve(uint32_t key, uint64_t address, uint64_t bytes, int access) {
  auto it = mrs.find(key);
  if (it == mrs.end() || (access & ~it->second.access))
    return nullptr;
  const FakeMr &mr = it->second;
  uint64_t begin = reinterpret_cast<uintptr_t>(mr.base.addr);
  if (address < begin || bytes > mr.base.length || address - begin > mr.base.length - bytes)
    return nullptr;
  return mr.mapped ? mr.mapped + (address - begin) : reinterpret_cast<uint8_t *>(address);
}

void FakeIbverbs::State::complete(FakeCq &cq, ibv_wc completion) {
  EXPECT_LT(cq.completions.size(), static_cast<size_t>(cq.base.cqe)) << "completion queue overrun";
  cq.completions.push_back(completion);
  if (!cq.isArmed)
    return;
  cq.isArmed = false;
  cq.channel->events.push_back(&cq.base);
  signalFd(cq.channel->base.fd);
}

void FakeIbverbs::State::end(FakeQp &qp, const Send &send, ibv_wc_status status) {
  ibv_wc completion = {};
  completion.wr_id = send.request.wr_id;
  completion.status = status;
  completion.qp_num = qp.base.qp_num;
  complete(*qp.cq, completion);
}

void FakeIbverbs::State::breakQp(FakeQp &qp) {
  qp.base.state = IBV_QPS_ERR;
  for (const Recv &recv : qp.recvs) {
    ibv_wc completion = {};
    completion.wr_id = recv.id;
    completion.status = IBV_WC_WR_FLUSH_ERR;
    complete(*qp.cq, completion);
  }
  qp.recvs.clear();
  for (const Send &send : qp.stalled)
    end(qp, send, IBV_WC_WR_FLUSH_ERR);
  qp.stalled.clear();
}

// The peer's side of a message or an immediate.
ibv_wc_status FakeIbverbs::State::receive(FakeQp &peer, const Send &send,
                                          const std::vector<uint8_t> &data) {
  if (peer.recvs.empty())
    return IBV_WC_RNR_RETRY_EXC_ERR;
  Recv recv = std::move(peer.recvs.front());
  peer.recvs.pop_front();
  ibv_wc completion = {};
  completion.wr_id = recv.id;
  completion.qp_num = peer.base.qp_num;
  completion.byte_len = static_cast<uint32_t>(data.size());
  bool isSend = send.request.opcode == IBV_WR_SEND;
  completion.opcode = isSend ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM;
  completion.imm_data = send.request.imm_data;
  size_t done = 0;
  for (const ibv_sge &place : recv.places) {
    if (!isSend)
      break;
    size_t count = std::min<size_t>(place.length, data.size() - done);
    uint8_t *to = resolve(place.lkey, place.addr, place.length, IBV_ACCESS_LOCAL_WRITE);
    EXPECT_NE(to, nullptr) << "a receive into memory that is not registered";
    if (to)
      std::copy_n(data.data() + done, count, to);
    done += count;
  }
  if (isSend && done < data.size())
    completion.status = IBV_WC_LOC_LEN_ERR;
  complete(*peer.cq, completion);
  return completion.status == IBV_WC_SUCCESS ? IBV_WC_SUCCESS : IBV_WC_REM_INV_REQ_ERR;
}

// Returns the queue pair of this number if it accepts packets, else null.
FakeQp *FakeIbverbs::State::alive(uint32_t number) {
  auto found = qps.find(number);
  if (found == qps.end() || found->second.base.state < IBV_QPS_RTR ||
      found->second.base.state > IBV_QPS_RTS)
    return nullptr;
  return &found->second;
}

// Its packets have been sent, and are not acknowledged yet.
void FakeIbverbs::State::delay(FakeQp &qp, const Send &send) {
  Late &one = late.emplace_back();
  one.peer = qp.peer;
  one.rkey = send.request.wr.rdma.rkey;
  one.address = send.request.wr.rdma.remote_addr;
  for (const ibv_sge &place : send.places)
    if (const uint8_t *from = resolve(place.lkey, place.addr, place.length, 0))
      one.data.insert(one.data.end(), from, from + place.length);
  qp.stalled.push_back(send);
}

ibv_wc_status FakeIbverbs::State::execute(FakeQp &qp, const Send &send) {
  ibv_wr_opcode opcode = send.request.opcode;
  if (auto it = failNext.find(opcode); it != failNext.end()) {
    ibv_wc_status status = it->second;
    failNext.erase(it);
    return status;
  }
  FakeQp *found = alive(qp.peer);
  if (isCut || !found)
    return IBV_WC_RETRY_EXC_ERR;
  FakeQp &peer = *found;
  bool isRead = opcode == IBV_WR_RDMA_READ;
  std::vector<uint8_t> data = send.inlined;
  uint64_t total = data.size();
  std::vector<uint8_t *> places;
  for (const ibv_sge &place : send.places) {
    places.push_back(
        resolve(place.lkey, place.addr, place.length, isRead ? IBV_ACCESS_LOCAL_WRITE : 0));
    if (!places.back())
      return IBV_WC_LOC_PROT_ERR;
    total += place.length;
    if (!isRead)
      data.insert(data.end(), places.back(), places.back() + place.length);
  }
  if (opcode == IBV_WR_SEND)
    return receive(peer, send, data);
  const auto &rdma = send.request.wr.rdma;
  uint8_t *remote = resolve(rdma.rkey, rdma.remote_addr, total,
                            isRead ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE);
  if (!remote) {
    breakQp(peer);
    return IBV_WC_REM_ACCESS_ERR;
  }
  if (isRead) {
    for (size_t i = 0; i < places.size(); ++i) {
      std::copy_n(remote, send.places[i].length, places[i]);
      remote += send.places[i].length;
    }
    return IBV_WC_SUCCESS;
  }
  std::copy(data.begin(), data.end(), remote);
  ++writes[findIn(contexts, qp.base.context)->device->number];
  return opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? receive(peer, send, data) : IBV_WC_SUCCESS;
}

void FakeIbverbs::State::run(FakeQp &qp, const Send &send) {
  if (qp.base.state == IBV_QPS_ERR)
    return end(qp, send, IBV_WC_WR_FLUSH_ERR);
  if (send.request.opcode == IBV_WR_RDMA_WRITE && std::exchange(isNextLate, false))
    return delay(qp, send);
  ibv_wc_status status = execute(qp, send);
  end(qp, send, status);
  if (status != IBV_WC_SUCCESS)
    breakQp(qp);
}

// Drops events that were not taken yet, and waits until those that were taken are acknowledged.
void FakeIbverbs::State::forgetEvents(std::unique_lock<std::mutex> &lock, ibv_context *context,
                                      const void *subject) {
  std::deque<ibv_async_event> &events = findIn(contexts, context)->events;
  auto isAboutIt = [subject](const ibv_async_event &event) { return subjectOf(event) == subject; };
  events.erase(std::remove_if(events.begin(), events.end(), isAboutIt), events.end());
  acked.wait(lock, [&] { return unacked.count(subject) == 0; });
}

//===-- knobs -------------------------------------------------------------------===//

FakeIbverbs::FakeIbverbs(int numDevices) : state_(std::make_unique<State>()) {
  for (int i = 0; i < numDevices; ++i) {
    auto device = std::make_unique<FakeDevice>();
    device->number = i;
    std::snprintf(device->base.name, sizeof(device->base.name), "fake%d", i);
    state_->devices.push_back(std::move(device));
  }
  state_->fillTable();
  fake = state_.get();
  rt::dl::useFakeIbverbs(&state_->table);
}

FakeIbverbs::~FakeIbverbs() {
  rt::dl::useFakeIbverbs(nullptr);
  EXPECT_TRUE(state_->qps.empty()) << "a queue pair was left";
  EXPECT_TRUE(state_->cqs.empty()) << "a completion queue was left";
  EXPECT_TRUE(state_->channels.empty()) << "a completion channel was left";
  EXPECT_TRUE(state_->mrs.empty()) << "a registration was left";
  EXPECT_TRUE(state_->pds.empty()) << "a protection domain was left";
  EXPECT_TRUE(state_->contexts.empty()) << "a device is still open";
  fake = nullptr;
}

void FakeIbverbs::setDmabuf(Dmabuf dmabuf) {
  FakeLock lock(state_->mutex);
  state_->dmabuf = dmabuf;
  state_->table.regDmabufMr = dmabuf == Dmabuf::NotInLibrary ? nullptr : fakeRegDmabufMr;
}

void FakeIbverbs::fail(const std::string &call, int error) {
  FakeLock lock(state_->mutex);
  if (error)
    state_->failing[call] = error;
  else
    state_->failing.erase(call);
}

void FakeIbverbs::failNext(ibv_wr_opcode opcode, ibv_wc_status status) {
  FakeLock lock(state_->mutex);
  state_->failNext[opcode] = status;
}

void FakeIbverbs::delayNext() {
  FakeLock lock(state_->mutex);
  state_->isNextLate = true;
}

int FakeIbverbs::deliverLate() {
  FakeLock lock(state_->mutex);
  int taken = 0;
  for (const Late &one : std::exchange(state_->late, {})) {
    uint8_t *to = state_->resolve(one.rkey, one.address, one.data.size(), IBV_ACCESS_REMOTE_WRITE);
    if (!state_->alive(one.peer) || !to)
      continue;
    std::copy(one.data.begin(), one.data.end(), to);
    ++taken;
  }
  return taken;
}

void FakeIbverbs::stall(bool isStalled) {
  FakeLock lock(state_->mutex);
  state_->isStalled = isStalled;
  if (isStalled)
    return;
  for (auto &[number, qp] : state_->qps)
    for (; !qp.stalled.empty();) {
      Send send = std::move(qp.stalled.front());
      qp.stalled.pop_front();
      state_->run(qp, send);
    }
}

void FakeIbverbs::cut(bool isCut) {
  FakeLock lock(state_->mutex);
  state_->isCut = isCut;
}

void FakeIbverbs::raise(int device, ibv_event_type type, int port) {
  FakeLock lock(state_->mutex);
  FakeContext *context = state_->devices[static_cast<size_t>(device)]->context;
  ASSERT_NE(context, nullptr);
  auto add = [context](const ibv_async_event &event) {
    context->events.push_back(event);
    signalFd(context->base.async_fd);
  };
  ibv_async_event event = {};
  event.event_type = type;
  switch (type) {
  case IBV_EVENT_CQ_ERR:
    for (FakeCq &cq : state_->cqs)
      if (cq.base.context == &context->base) {
        event.element.cq = &cq.base;
        add(event);
      }
    return;
  case IBV_EVENT_QP_FATAL:
  case IBV_EVENT_QP_REQ_ERR:
  case IBV_EVENT_QP_ACCESS_ERR:
    for (auto &[number, qp] : state_->qps)
      if (qp.base.context == &context->base) {
        event.element.qp = &qp.base;
        add(event);
      }
    return;
  default:
    event.element.port_num = port;
    add(event);
  }
}

const rt::dl::Ibverbs *FakeIbverbs::table() const { return &state_->table; }

size_t FakeIbverbs::numRegistrations() const {
  FakeLock lock(state_->mutex);
  return state_->mrs.size();
}

int FakeIbverbs::numPosted(ibv_wr_opcode opcode) const {
  FakeLock lock(state_->mutex);
  auto it = state_->posted.find(opcode);
  return it == state_->posted.end() ? 0 : it->second;
}

int FakeIbverbs::numInline() const {
  FakeLock lock(state_->mutex);
  return state_->inlined;
}

int FakeIbverbs::numWrites(int device) const {
  FakeLock lock(state_->mutex);
  auto it = state_->writes.find(device);
  return it == state_->writes.end() ? 0 : it->second;
}

} // namespace coll::net::test
