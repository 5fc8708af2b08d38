#include "test/net/fake_ibverbs.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <gtest/gtest.h>
#include <list>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace coll::net::test {

namespace {

constexpr int kMaxInline = 256;

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

struct FakeQp {
  ibv_qp base = {};
  FakeCq *cq = nullptr;
  uint32_t peer = 0;
  uint32_t maxSends = 0, maxRecvs = 0, maxSegments = 0;
  std::deque<Recv> recvs;
  std::deque<Send> stalled;
};

void signal(int fd) {
  uint64_t one = 1;
  ASSERT_EQ(write(fd, &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
}

bool take(int fd) {
  uint64_t one = 0;
  return read(fd, &one, sizeof(one)) == static_cast<ssize_t>(sizeof(one));
}

} // namespace

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
  int inlined = 0;
  bool isStalled = false, isCut = false;

  // True, with errno set, where the call is to fail.
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
  ibv_wc_status execute(FakeQp &qp, const Send &send);
  ibv_wc_status receive(FakeQp &peer, const Send &send, const std::vector<uint8_t> &data);
  void run(FakeQp &qp, const Send &send);
  void fillTable();
};

namespace {

FakeIbverbs::State *fake = nullptr;

using Lock = std::lock_guard<std::mutex>;

template <typename List, typename Base>
auto findIn(List &list, const Base *base) {
  auto it = std::find_if(list.begin(), list.end(), [&](auto &item) { return &item.base == base; });
  EXPECT_NE(it, list.end()) << "the fake did not make this";
  return it;
}

FakeCq &cqOf(const ibv_cq *cq) { return *findIn(fake->cqs, cq); }
FakeQp &qpOf(const ibv_qp *qp) { return fake->qps.at(qp->qp_num); }

} // namespace

//===-- what the devices do -----------------------------------------------------===//

// Where a registered range is in this process; null if it is not registered for `access`.
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
  signal(cq.channel->base.fd);
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

ibv_wc_status FakeIbverbs::State::execute(FakeQp &qp, const Send &send) {
  ibv_wr_opcode opcode = send.request.opcode;
  if (auto it = failNext.find(opcode); it != failNext.end()) {
    ibv_wc_status status = it->second;
    failNext.erase(it);
    return status;
  }
  auto found = qps.find(qp.peer);
  if (isCut || found == qps.end() || found->second.base.state < IBV_QPS_RTR ||
      found->second.base.state > IBV_QPS_RTS)
    return IBV_WC_RETRY_EXC_ERR;
  FakeQp &peer = found->second;
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
  return opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? receive(peer, send, data) : IBV_WC_SUCCESS;
}

void FakeIbverbs::State::run(FakeQp &qp, const Send &send) {
  if (qp.base.state == IBV_QPS_ERR)
    return end(qp, send, IBV_WC_WR_FLUSH_ERR);
  ibv_wc_status status = execute(qp, send);
  end(qp, send, status);
  if (status != IBV_WC_SUCCESS)
    breakQp(qp);
}

//===-- calls -------------------------------------------------------------------===//

namespace {

ibv_device **getDeviceList(int *count) {
  Lock lock(fake->mutex);
  if (fake->fails("getDeviceList"))
    return nullptr;
  *count = static_cast<int>(fake->devices.size());
  auto **list = new ibv_device *[fake->devices.size() + 1];
  for (size_t i = 0; i < fake->devices.size(); ++i)
    list[i] = &fake->devices[i]->base;
  return list;
}

ibv_context *openDevice(ibv_device *device) {
  Lock lock(fake->mutex);
  if (fake->fails("openDevice"))
    return nullptr;
  FakeContext &context = fake->contexts.emplace_back();
  for (const std::unique_ptr<FakeDevice> &one : fake->devices)
    if (&one->base == device)
      context.device = one.get();
  context.device->context = &context;
  context.base.device = device;
  context.base.num_comp_vectors = 2;
  context.base.async_fd = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
  return &context.base;
}

int closeDevice(ibv_context *context) {
  Lock lock(fake->mutex);
  auto it = findIn(fake->contexts, context);
  close(it->base.async_fd);
  if (it->device->context == &*it)
    it->device->context = nullptr;
  fake->contexts.erase(it);
  return 0;
}

int getAsyncEvent(ibv_context *context, ibv_async_event *event) {
  Lock lock(fake->mutex);
  FakeContext &mine = *findIn(fake->contexts, context);
  if (!take(context->async_fd) || mine.events.empty())
    return -1;
  *event = mine.events.front();
  mine.events.pop_front();
  return 0;
}

int queryDevice(ibv_context *, ibv_device_attr *attributes) {
  Lock lock(fake->mutex);
  if (fake->fails("queryDevice"))
    return errno;
  *attributes = {};
  attributes->node_guid = 42;
  attributes->phys_port_cnt = 1;
  attributes->max_sge = 8;
  attributes->max_cqe = 4096;
  attributes->max_qp_rd_atom = attributes->max_qp_init_rd_atom = 4;
  return 0;
}

int queryPort(ibv_context *, uint8_t, ibv_port_attr *attributes) {
  Lock lock(fake->mutex);
  if (fake->fails("queryPort"))
    return errno;
  *attributes = {};
  attributes->state = fake->failing.count("port") ? IBV_PORT_DOWN : IBV_PORT_ACTIVE;
  attributes->active_mtu = attributes->max_mtu = IBV_MTU_4096;
  attributes->gid_tbl_len = 4;
  attributes->active_speed = 32;
  attributes->active_width = 2;
  attributes->link_layer = IBV_LINK_LAYER_ETHERNET;
  return 0;
}

// As a RoCE port has them: link-local and IPv4, each for v1 and v2.
int queryGid(ibv_context *context, uint8_t, int index, ibv_gid *gid) {
  *gid = {};
  if (index < 0 || index >= 4)
    return -1;
  int number = 0;
  {
    Lock lock(fake->mutex);
    number = findIn(fake->contexts, context)->device->number;
  }
  if (index < 2) {
    gid->raw[0] = 0xfe;
    gid->raw[1] = 0x80;
    gid->raw[15] = static_cast<uint8_t>(1 + number);
    return 0;
  }
  const uint8_t v4[6] = {0xff, 0xff, 127, 0, 0, static_cast<uint8_t>(1 + number)};
  std::copy(v4, v4 + 6, gid->raw + 10);
  return 0;
}

int queryGidEx(ibv_context *context, uint32_t, uint32_t index, ibv_gid_entry *entry, uint32_t,
               size_t) {
  entry->gid_type = index % 2 ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1;
  return queryGid(context, 1, static_cast<int>(index), &entry->gid);
}

ibv_pd *allocPd(ibv_context *context) {
  Lock lock(fake->mutex);
  if (fake->fails("allocPd"))
    return nullptr;
  return &fake->pds.emplace_back(ibv_pd{context, 0});
}

int deallocPd(ibv_pd *pd) {
  Lock lock(fake->mutex);
  fake->pds.remove_if([pd](const ibv_pd &one) { return &one == pd; });
  return 0;
}

ibv_mr *addMr(ibv_pd *pd, uint64_t address, size_t bytes, int access, uint8_t *mapped) {
  uint32_t key = fake->next++;
  FakeMr &mr = fake->mrs[key];
  mr.base.context = pd->context;
  mr.base.pd = pd;
  mr.base.addr = reinterpret_cast<void *>(address);
  mr.base.length = bytes;
  mr.base.lkey = mr.base.rkey = key;
  mr.access = access;
  mr.mapped = mapped;
  return &mr.base;
}

ibv_mr *regMr(ibv_pd *pd, void *data, size_t bytes, int access) {
  Lock lock(fake->mutex);
  if (fake->fails("regMr"))
    return nullptr;
  return addMr(pd, reinterpret_cast<uintptr_t>(data), bytes, access, nullptr);
}

ibv_mr *regDmabufMr(ibv_pd *pd, uint64_t offset, size_t bytes, uint64_t iova, int fd, int access) {
  Lock lock(fake->mutex);
  if (fake->fails("regDmabufMr"))
    return nullptr;
  errno = fake->dmabuf != FakeIbverbs::Dmabuf::Supported ? EOPNOTSUPP : EBADF;
  if (fake->dmabuf != FakeIbverbs::Dmabuf::Supported || fd < 0)
    return nullptr;
  void *mapped = mmap(nullptr, offset + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  return addMr(pd, iova, bytes, access, static_cast<uint8_t *>(mapped) + offset);
}

int deregMr(ibv_mr *mr) {
  Lock lock(fake->mutex);
  fake->mrs.erase(mr->lkey);
  return 0;
}

ibv_comp_channel *createCompChannel(ibv_context *context) {
  Lock lock(fake->mutex);
  if (fake->fails("createCompChannel"))
    return nullptr;
  FakeChannel &channel = fake->channels.emplace_back();
  channel.base.context = context;
  channel.base.fd = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
  return &channel.base;
}

int destroyCompChannel(ibv_comp_channel *channel) {
  Lock lock(fake->mutex);
  auto it = findIn(fake->channels, channel);
  close(it->base.fd);
  fake->channels.erase(it);
  return 0;
}

ibv_cq *createCq(ibv_context *context, int entries, void *cqContext, ibv_comp_channel *channel,
                 int) {
  Lock lock(fake->mutex);
  if (fake->fails("createCq"))
    return nullptr;
  FakeCq &cq = fake->cqs.emplace_back();
  cq.base.context = context;
  cq.base.cq_context = cqContext;
  cq.base.cqe = entries;
  cq.channel = &*findIn(fake->channels, channel);
  return &cq.base;
}

int destroyCq(ibv_cq *cq) {
  Lock lock(fake->mutex);
  auto it = findIn(fake->cqs, cq);
  std::deque<ibv_cq *> &events = it->channel->events;
  events.erase(std::remove(events.begin(), events.end(), cq), events.end());
  fake->cqs.erase(it);
  return 0;
}

int getCqEvent(ibv_comp_channel *channel, ibv_cq **cq, void **cqContext) {
  Lock lock(fake->mutex);
  FakeChannel &mine = *findIn(fake->channels, channel);
  if (!take(channel->fd) || mine.events.empty())
    return -1;
  *cq = mine.events.front();
  *cqContext = (*cq)->cq_context;
  mine.events.pop_front();
  return 0;
}

int reqNotifyCq(ibv_cq *cq, int) {
  Lock lock(fake->mutex);
  if (fake->fails("reqNotifyCq"))
    return errno;
  cqOf(cq).isArmed = true;
  return 0;
}

int pollCq(ibv_cq *cq, int count, ibv_wc *completions) {
  Lock lock(fake->mutex);
  if (fake->fails("pollCq"))
    return -1;
  std::deque<ibv_wc> &waiting = cqOf(cq).completions;
  int given = 0;
  for (; given < count && !waiting.empty(); ++given) {
    completions[given] = waiting.front();
    waiting.pop_front();
  }
  return given;
}

ibv_qp *createQp(ibv_pd *pd, ibv_qp_init_attr *attributes) {
  Lock lock(fake->mutex);
  if (fake->fails("createQp"))
    return nullptr;
  if (attributes->cap.max_inline_data > kMaxInline ||
      (fake->failing.count("inline") && attributes->cap.max_inline_data > 0)) {
    errno = EINVAL;
    return nullptr;
  }
  uint32_t number = fake->next++;
  FakeQp &qp = fake->qps[number];
  qp.base.context = pd->context;
  qp.base.qp_context = attributes->qp_context;
  qp.base.pd = pd;
  qp.base.qp_num = number;
  qp.base.state = IBV_QPS_RESET;
  qp.cq = &cqOf(attributes->send_cq);
  qp.maxSends = attributes->cap.max_send_wr;
  qp.maxRecvs = attributes->cap.max_recv_wr;
  qp.maxSegments = attributes->cap.max_send_sge;
  return &qp.base;
}

int modifyQp(ibv_qp *qp, ibv_qp_attr *attributes, int mask) {
  Lock lock(fake->mutex);
  if (fake->fails("modifyQp"))
    return errno;
  if (fake->failing.count("rtr") && attributes->qp_state == IBV_QPS_RTR)
    return fake->failing["rtr"];
  FakeQp &mine = qpOf(qp);
  mine.base.state = attributes->qp_state;
  if (mask & IBV_QP_DEST_QPN)
    mine.peer = attributes->dest_qp_num;
  if (mask & IBV_QP_RETRY_CNT) {
    EXPECT_LT(attributes->retry_cnt, 7) << "would try for ever";
    EXPECT_LT(attributes->rnr_retry, 7) << "would try for ever";
  }
  return 0;
}

int destroyQp(ibv_qp *qp) {
  Lock lock(fake->mutex);
  fake->qps.erase(qp->qp_num);
  return 0;
}

int postSend(ibv_qp *qp, ibv_send_wr *request, ibv_send_wr **) {
  Lock lock(fake->mutex);
  FakeQp &mine = qpOf(qp);
  if (fake->fails("postSend"))
    return errno;
  EXPECT_EQ(request->next, nullptr);
  if (mine.base.state < IBV_QPS_RTS || static_cast<uint32_t>(request->num_sge) > mine.maxSegments ||
      mine.stalled.size() >= mine.maxSends)
    return EINVAL;
  Send send;
  send.request = *request;
  ++fake->posted[request->opcode];
  for (int i = 0; i < request->num_sge; ++i) {
    const ibv_sge &place = request->sg_list[i];
    if (request->send_flags & IBV_SEND_INLINE) {
      const auto *from = reinterpret_cast<const uint8_t *>(place.addr);
      send.inlined.insert(send.inlined.end(), from, from + place.length);
      ++fake->inlined;
    } else {
      send.places.push_back(place);
    }
  }
  if (fake->isStalled)
    mine.stalled.push_back(std::move(send));
  else
    fake->run(mine, send);
  return 0;
}

int postRecv(ibv_qp *qp, ibv_recv_wr *request, ibv_recv_wr **) {
  Lock lock(fake->mutex);
  FakeQp &mine = qpOf(qp);
  if (fake->fails("postRecv"))
    return errno;
  if (mine.recvs.size() >= mine.maxRecvs)
    return ENOMEM;
  Recv recv;
  recv.id = request->wr_id;
  recv.places.assign(request->sg_list, request->sg_list + request->num_sge);
  if (mine.base.state != IBV_QPS_ERR)
    mine.recvs.push_back(std::move(recv));
  return 0;
}

} // namespace

void FakeIbverbs::State::fillTable() {
  table.getDeviceList = getDeviceList;
  table.freeDeviceList = [](ibv_device **list) { delete[] list; };
  table.getDeviceName = [](ibv_device *device) -> const char * { return device->name; };
  table.openDevice = openDevice;
  table.closeDevice = closeDevice;
  table.getAsyncEvent = getAsyncEvent;
  table.ackAsyncEvent = [](ibv_async_event *) {};
  table.queryDevice = queryDevice;
  table.queryPort = queryPort;
  table.queryGid = queryGid;
  table.queryGidEx = queryGidEx;
  table.allocPd = allocPd;
  table.deallocPd = deallocPd;
  table.regMr = regMr;
  table.regDmabufMr = regDmabufMr;
  table.deregMr = deregMr;
  table.createCompChannel = createCompChannel;
  table.destroyCompChannel = destroyCompChannel;
  table.createCq = createCq;
  table.destroyCq = destroyCq;
  table.getCqEvent = getCqEvent;
  table.ackCqEvents = [](ibv_cq *, unsigned) {};
  table.reqNotifyCq = reqNotifyCq;
  table.pollCq = pollCq;
  table.createQp = createQp;
  table.modifyQp = modifyQp;
  table.destroyQp = destroyQp;
  table.postSend = postSend;
  table.postRecv = postRecv;
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
  Lock lock(state_->mutex);
  state_->dmabuf = dmabuf;
  state_->table.regDmabufMr = dmabuf == Dmabuf::NotInLibrary ? nullptr : regDmabufMr;
}

void FakeIbverbs::fail(const std::string &call, int error) {
  Lock lock(state_->mutex);
  if (error)
    state_->failing[call] = error;
  else
    state_->failing.erase(call);
}

void FakeIbverbs::failNext(ibv_wr_opcode opcode, ibv_wc_status status) {
  Lock lock(state_->mutex);
  state_->failNext[opcode] = status;
}

void FakeIbverbs::stall(bool isStalled) {
  Lock lock(state_->mutex);
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
  Lock lock(state_->mutex);
  state_->isCut = isCut;
}

void FakeIbverbs::raise(int device, ibv_event_type type, int port) {
  Lock lock(state_->mutex);
  FakeContext *context = state_->devices[static_cast<size_t>(device)]->context;
  ASSERT_NE(context, nullptr);
  auto add = [context](const ibv_async_event &event) {
    context->events.push_back(event);
    signal(context->base.async_fd);
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
  Lock lock(state_->mutex);
  return state_->mrs.size();
}

int FakeIbverbs::numPosted(ibv_wr_opcode opcode) const {
  Lock lock(state_->mutex);
  auto it = state_->posted.find(opcode);
  return it == state_->posted.end() ? 0 : it->second;
}

int FakeIbverbs::numInline() const {
  Lock lock(state_->mutex);
  return state_->inlined;
}

} // namespace coll::net::test
