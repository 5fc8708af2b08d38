#include "test/exchange/remote_tensor_rig.h"

#include "runtime/base/dtype.h"
#include "runtime/exchange/tensor/owner.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <optional>

namespace coll::rt::exchange::test {

namespace {

std::vector<int64_t> rowMajor(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * std::max<int64_t>(1, shape[d]);
  return strides;
}

// Byte offsets of a view's elements, in row-major order.
std::vector<int64_t> offsetsOf(const std::vector<int64_t> &shape,
                               const std::vector<int64_t> &strides, int64_t elemBytes) {
  std::vector<int64_t> offsets = {0};
  for (size_t d = 0; d < shape.size(); ++d) {
    std::vector<int64_t> longer;
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < shape[d]; ++i)
        longer.push_back(offset + i * strides[d] * elemBytes);
    offsets = longer;
  }
  return offsets;
}

// A tensor in the middle of some memory, and a part of it.
struct Layout {
  CollDtype dtype = kCollF32;
  std::vector<int64_t> shape, strides;
  int64_t offset = 0; // bytes
  int64_t bytes = 0;  // of the memory
  int64_t size() const { return dtypeSize(dtype); }
  TensorView view(char *memory) const { return {dtype, shape, strides, memory + offset, nullptr}; }
};

Layout randomLayout(Random &random, CollDtype dtype, std::vector<int64_t> shape) {
  Layout layout;
  layout.dtype = dtype;
  layout.shape = std::move(shape);
  layout.strides = rowMajor(layout.shape);
  if (below(random, 2) == 0) { // gaps
    int64_t stride = 1 + below(random, 2);
    for (size_t d = layout.shape.size(); d-- > 0;) {
      layout.strides[d] = stride;
      stride = stride * std::max<int64_t>(1, layout.shape[d]) + below(random, 3);
    }
  }
  layout.offset = layout.size() * below(random, 5);
  int64_t last = 1;
  for (size_t d = 0; d < layout.shape.size(); ++d)
    last += std::max<int64_t>(0, layout.shape[d] - 1) * layout.strides[d];
  layout.bytes = layout.offset + last * layout.size();
  return layout;
}

Region randomPart(Random &random, const std::vector<int64_t> &shape) {
  Region part = {std::vector<int64_t>(shape.size(), 0), shape};
  if (below(random, 2) == 0)
    for (size_t d = 0; d < shape.size(); ++d) {
      part.begin[d] = below(random, shape[d] + 1);
      part.extent[d] = below(random, shape[d] - part.begin[d] + 1);
    }
  return part;
}

std::vector<int64_t> randomShape(Random &random) {
  std::vector<int64_t> shape(static_cast<size_t>(below(random, 9)));
  for (int64_t &extent : shape)
    extent = 1 + below(random, shape.size() > 5 ? 3 : 7);
  return shape;
}

void fillRandom(Random &random, char *data, int64_t bytes) {
  for (int64_t i = 0; i < bytes; ++i)
    data[i] = static_cast<char>(random());
}

// Memory of a fake GPU, if there is one: host memory that only the fake driver may access.
struct LocalMemory {
  LocalMemory(const std::shared_ptr<dl::GpuContext> &gpu, int64_t bytes) {
    if (gpu)
      device = dl::GpuMemory::create(gpu, dl::GpuMemory::Kind::Device, bytes).take();
    else
      plain.resize(static_cast<size_t>(bytes));
    data = gpu ? device.device() : plain.data();
  }
  dl::GpuMemory device;
  Bytes plain;
  char *data = nullptr;
};

// Makes one read and one write of a part, and compares them with a loop over elements.
void accessOnce(Random &random, TensorOwner &owner, RemoteTensors &remote, const TensorWays &ways,
                Via via, const std::shared_ptr<dl::GpuContext> &gpu) {
  const auto dtype = static_cast<CollDtype>(below(random, kNumDtypes));
  const Layout theirs = randomLayout(random, dtype, randomShape(random));
  const int64_t places = gpu ? 1 + below(random, 3) : 0; // 1: the tensor, 2: the local memory
  std::optional<LocalMemory> onGpu;
  if (places & 1)
    onGpu.emplace(gpu, theirs.bytes);
  Result<void *> allocated = onGpu ? Result<void *>(onGpu->data) : owner.allocate(theirs.bytes);
  ASSERT_TRUE(allocated.ok()) << allocated.status().toString();
  auto *memory = static_cast<char *>(*allocated);
  fillRandom(random, memory, theirs.bytes);
  Result<std::string> handle = owner.publish(theirs.view(memory), ways);
  ASSERT_TRUE(handle.ok()) << handle.status().toString();
  Result<std::shared_ptr<RemoteTensor>> tensor = remote.open(*handle);
  ASSERT_TRUE(tensor.ok()) << tensor.status().toString();

  for (bool reads : {true, false}) {
    const Region part = randomPart(random, theirs.shape);
    const Layout ours = randomLayout(random, dtype, part.extent);
    LocalMemory local(places & 2 ? gpu : nullptr, ours.bytes);
    fillRandom(random, local.data, ours.bytes);
    Bytes expectedLocal(local.data, local.data + ours.bytes);
    Bytes expectedRemote(memory, memory + theirs.bytes);
    int64_t begin = theirs.offset;
    for (size_t d = 0; d < part.begin.size(); ++d)
      begin += part.begin[d] * theirs.strides[d] * theirs.size();
    const auto from = offsetsOf(part.extent, theirs.strides, theirs.size());
    const auto to = offsetsOf(part.extent, ours.strides, ours.size());
    for (size_t i = 0; i < from.size(); ++i) {
      char *there = expectedRemote.data() + begin + from[i];
      char *here = expectedLocal.data() + ours.offset + to[i];
      std::memcpy(reads ? here : there, reads ? there : here, static_cast<size_t>(ours.size()));
    }
    const TensorView view = ours.view(local.data);
    const Status status =
        reads ? (*tensor)->readInto(view, {via, part}) : (*tensor)->writeFrom(view, {via, part});
    ASSERT_TRUE(status.ok()) << status.toString();
    ASSERT_EQ(Bytes(local.data, local.data + ours.bytes), expectedLocal);
    ASSERT_EQ(Bytes(memory, memory + theirs.bytes), expectedRemote);
    // A prepared access does the same. The last element has changed.
    if (from.empty() || below(random, 2) == 0)
      continue;
    auto prepared = reads ? (*tensor)->prepareRead(view, {via, part})
                          : (*tensor)->prepareWrite(view, {via, part});
    ASSERT_TRUE(prepared.ok()) << prepared.status().toString();
    (reads ? local.data + ours.offset : memory + begin)[reads ? to.back() : from.back()] ^= 1;
    const Status run = (*prepared)->run();
    ASSERT_TRUE(run.ok()) << run.toString();
    ASSERT_EQ(Bytes(local.data, local.data + ours.bytes), expectedLocal);
    ASSERT_EQ(Bytes(memory, memory + theirs.bytes), expectedRemote);
  }
  tensor->reset();
  ASSERT_TRUE(owner.withdraw(*handle).ok());
  if (!onGpu) {
    ASSERT_TRUE(owner.release(memory).ok());
  }
}

} // namespace

void accessMany(net::Transport *transport, Via via, int cases,
                const std::shared_ptr<dl::GpuContext> &gpu) {
  TensorOwnerOptions options;
  options.transport = transport;
  options.gpu = gpu;
  auto owner = TensorOwner::create(options);
  ASSERT_TRUE(owner.ok()) << owner.status().toString();
  RemoteTensorsOptions remoteOptions;
  remoteOptions.transport = transport;
  remoteOptions.gpu = gpu;
  RemoteTensors remote(remoteOptions);
  for (uint64_t seed = 0; seed < static_cast<uint64_t>(cases); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    accessOnce(random, **owner, remote, {via != Via::Rdma, via != Via::Ipc}, via, gpu);
    if (testing::Test::HasFailure())
      return;
  }
}

} // namespace coll::rt::exchange::test
