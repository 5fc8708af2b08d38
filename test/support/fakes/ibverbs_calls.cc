// The library's functions, implemented by the fake devices.

#include "test/support/fakes/ibverbs_state.h"

#include <sys/eventfd.h>
#include <sys/mman.h>

namespace coll::net::test {

namespace {

constexpr int kMaxInline = 256;

FakeCq &cqOf(const ibv_cq *cq) { return *findIn(fake->cqs, cq); }
FakeQp &qpOf(const ibv_qp *qp) { return fake->qps.at(qp->qp_num); }

ibv_device **getDeviceList(int *count) {
  FakeLock lock(fake->mutex);
  if (fake->fails("getDeviceList"))
    return nullptr;
  *count = static_cast<int>(fake->devices.size());
  auto **list = new ibv_device *[fake->devices.size() + 1];
  for (size_t i = 0; i < fake->devices.size(); ++i)
    list[i] = &fake->devices[i]->base;
  return list;
}

ibv_context *openDevice(ibv_device *device) {
  FakeLock lock(fake->mutex);
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
  FakeLock lock(fake->mutex);
  auto it = findIn(fake->contexts, context);
  close(it->base.async_fd);
  if (it->device->context == &*it)
    it->device->context = nullptr;
  fake->contexts.erase(it);
  return 0;
}

int getAsyncEvent(ibv_context *context, ibv_async_event *event) {
  FakeLock lock(fake->mutex);
  FakeContext &mine = *findIn(fake->contexts, context);
  if (!takeFd(context->async_fd) || mine.events.empty())
    return -1;
  *event = mine.events.front();
  mine.events.pop_front();
  if (const void *subject = subjectOf(*event))
    ++fake->unacked[subject];
  return 0;
}

void ackAsyncEvent(ibv_async_event *event) {
  FakeLock lock(fake->mutex);
  if (const void *subject = subjectOf(*event); subject && --fake->unacked[subject] == 0)
    fake->unacked.erase(subject);
  fake->acked.notify_all();
}

int queryDevice(ibv_context *, ibv_device_attr *attributes) {
  FakeLock lock(fake->mutex);
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

int queryPort(ibv_context *context, uint8_t, ibv_port_attr *attributes) {
  FakeLock lock(fake->mutex);
  if (fake->fails("queryPort"))
    return errno;
  *attributes = {};
  const int number = findIn(fake->contexts, context)->device->number;
  const bool isDown =
      fake->failing.count("port") || fake->failing.count("port" + std::to_string(number));
  attributes->state = isDown ? IBV_PORT_DOWN : IBV_PORT_ACTIVE;
  attributes->active_mtu = attributes->max_mtu = IBV_MTU_4096;
  attributes->gid_tbl_len = 4;
  attributes->active_speed = 32;
  attributes->active_width = 2;
  attributes->link_layer = IBV_LINK_LAYER_ETHERNET;
  return 0;
}

// The GIDs of a RoCE port: link-local and IPv4, each for v1 and v2.
int queryGid(ibv_context *context, uint8_t, int index, ibv_gid *gid) {
  *gid = {};
  if (index < 0 || index >= 4)
    return -1;
  int number = 0;
  {
    FakeLock lock(fake->mutex);
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
  FakeLock lock(fake->mutex);
  if (fake->fails("allocPd"))
    return nullptr;
  return &fake->pds.emplace_back(ibv_pd{context, 0});
}

int deallocPd(ibv_pd *pd) {
  FakeLock lock(fake->mutex);
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
  FakeLock lock(fake->mutex);
  if (fake->fails("regMr"))
    return nullptr;
  return addMr(pd, reinterpret_cast<uintptr_t>(data), bytes, access, nullptr);
}

int deregMr(ibv_mr *mr) {
  FakeLock lock(fake->mutex);
  fake->mrs.erase(mr->lkey);
  return 0;
}

ibv_comp_channel *createCompChannel(ibv_context *context) {
  FakeLock lock(fake->mutex);
  if (fake->fails("createCompChannel"))
    return nullptr;
  FakeChannel &channel = fake->channels.emplace_back();
  channel.base.context = context;
  channel.base.fd = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
  return &channel.base;
}

int destroyCompChannel(ibv_comp_channel *channel) {
  FakeLock lock(fake->mutex);
  auto it = findIn(fake->channels, channel);
  close(it->base.fd);
  fake->channels.erase(it);
  return 0;
}

ibv_cq *createCq(ibv_context *context, int entries, void *cqContext, ibv_comp_channel *channel,
                 int) {
  FakeLock lock(fake->mutex);
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
  std::unique_lock<std::mutex> lock(fake->mutex);
  fake->forgetEvents(lock, cq->context, cq);
  auto it = findIn(fake->cqs, cq);
  std::deque<ibv_cq *> &events = it->channel->events;
  events.erase(std::remove(events.begin(), events.end(), cq), events.end());
  fake->cqs.erase(it);
  return 0;
}

int getCqEvent(ibv_comp_channel *channel, ibv_cq **cq, void **cqContext) {
  FakeLock lock(fake->mutex);
  FakeChannel &mine = *findIn(fake->channels, channel);
  if (!takeFd(channel->fd) || mine.events.empty())
    return -1;
  *cq = mine.events.front();
  *cqContext = (*cq)->cq_context;
  mine.events.pop_front();
  return 0;
}

int reqNotifyCq(ibv_cq *cq, int) {
  FakeLock lock(fake->mutex);
  if (fake->fails("reqNotifyCq"))
    return errno;
  cqOf(cq).isArmed = true;
  return 0;
}

int pollCq(ibv_cq *cq, int count, ibv_wc *completions) {
  FakeLock lock(fake->mutex);
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
  FakeLock lock(fake->mutex);
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
  FakeLock lock(fake->mutex);
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
  std::unique_lock<std::mutex> lock(fake->mutex);
  fake->forgetEvents(lock, qp->context, qp);
  fake->qps.erase(qp->qp_num);
  return 0;
}

int postSend(ibv_qp *qp, ibv_send_wr *request, ibv_send_wr **) {
  FakeLock lock(fake->mutex);
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
  FakeLock lock(fake->mutex);
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

ibv_mr *fakeRegDmabufMr(ibv_pd *pd, uint64_t offset, size_t bytes, uint64_t iova, int fd,
                        int access) {
  FakeLock lock(fake->mutex);
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

void FakeIbverbs::State::fillTable() {
  table.getDeviceList = getDeviceList;
  table.freeDeviceList = [](ibv_device **list) { delete[] list; };
  table.getDeviceName = [](ibv_device *device) -> const char * { return device->name; };
  table.openDevice = openDevice;
  table.closeDevice = closeDevice;
  table.getAsyncEvent = getAsyncEvent;
  table.ackAsyncEvent = ackAsyncEvent;
  table.queryDevice = queryDevice;
  table.queryPort = queryPort;
  table.queryGid = queryGid;
  table.queryGidEx = queryGidEx;
  table.allocPd = allocPd;
  table.deallocPd = deallocPd;
  table.regMr = regMr;
  table.regDmabufMr = fakeRegDmabufMr;
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

} // namespace coll::net::test
