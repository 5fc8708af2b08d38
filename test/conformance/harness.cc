#include "test/conformance/harness.h"

#include "runtime/base/dtype.h"
#include "runtime/base/env.h"
#include "test/support/sanitizers.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <sstream>
#include <thread>

namespace coll::rt::test {

void Meeting::end() {
  missing_ = ranks_;
  ++meetings_;
  changed_.notify_all();
}

void Meeting::arrive() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (--missing_ == 0)
    return end();
  changed_.wait(lock, [this, before = meetings_] { return meetings_ != before; });
}

void Meeting::leave() {
  std::lock_guard<std::mutex> lock(mutex_);
  --ranks_;
  if (--missing_ == 0)
    end();
}

void Member::settle() {
  meeting->arrive();
  spent.clear(); // may wait until the GPU is idle: no rank begins a call meanwhile
  meeting->arrive();
}

Status Member::call(const Call &call) {
  if (!async)
    return run(call);
  Result<Request *> request = start(call);
  return request ? wait(*request) : request.status();
}

Status Member::run(Communicator &on, const Call &call) {
  if (!gpu)
    return on.run(call);
  std::unique_ptr<StagedCall> copy =
      gpu->stage(call, rank, static_cast<int>(on.ranks().size()), on.position());
  Status outcome = on.run(copy->call());
  copy->finish();
  spent.push_back(std::move(copy));
  return outcome;
}

Result<Request *> Member::start(Communicator &on, const Call &call) {
  if (!gpu)
    return on.start(call);
  std::unique_ptr<StagedCall> copy =
      gpu->stage(call, rank, static_cast<int>(on.ranks().size()), on.position());
  Result<Request *> request = on.start(copy->call());
  if (request)
    staged[*request] = std::move(copy);
  return request;
}

Status Member::wait(Request *request) {
  Status outcome = endpoint.wait(request);
  if (auto it = staged.find(request); it != staged.end()) {
    it->second->finish();
    spent.push_back(std::move(it->second));
    staged.erase(it);
  }
  return outcome;
}

namespace {

constexpr int64_t kLeastNcclUs = 10'000'000;

// `spent` keeps the rank's copies in GPU memory until all ranks have ended. Freeing memory waits
// for all kernels of its GPU, and delays launches that these kernels may wait for.
void runRank(Endpoint &endpoint, const Layout &layout, int rank,
             const std::function<void(Member &)> &body, GpuMemory *gpu, Meeting &meeting,
             std::vector<std::unique_ptr<StagedCall>> &spent) {
  for (const std::vector<int> &ranks : layout.groups) {
    auto it = std::find(ranks.begin(), ranks.end(), rank);
    if (it == ranks.end())
      continue;
    Result<std::unique_ptr<Communicator>> group = endpoint.communicator(ranks);
    ASSERT_TRUE(group.ok()) << group.status().toString();
    Member member = {endpoint, **group, rank, static_cast<int>(ranks.size()),
                     static_cast<int>(it - ranks.begin())};
    member.gpu = gpu;
    member.meeting = &meeting;
    EXPECT_EQ((*group)->position(), member.position);
    body(member);
    endpoint.leave(); // before the buffers go
    std::move(member.spent.begin(), member.spent.end(), std::back_inserter(spent));
    for (auto &[request, copy] : member.staged)
      spent.push_back(std::move(copy));
  }
}

// "name/transport/algorithm/memory/path"; what is left out is empty.
struct Variant {
  explicit Variant(const std::string &text) {
    std::istringstream parts(text);
    for (std::string *part : {&name, &transport, &algorithm, &memory, &path})
      std::getline(parts, *part, '/');
    constexpr std::string_view kScattered = "scattered-";
    scatters = path.compare(0, kScattered.size(), kScattered) == 0;
    path.erase(0, scatters ? kScattered.size() : 0);
  }
  std::string name, transport, algorithm, memory, path;
  bool scatters = false; // data lands out of place
};

// As createBackend() takes it; "plugin" is the library that the build makes of the example.
std::string nameOf(const Variant &variant) {
#ifdef COLL_CONFORMANCE_PLUGIN
  if (variant.name == "plugin")
    return "plugin:" COLL_CONFORMANCE_PLUGIN;
#endif
  return variant.name;
}

std::unique_ptr<GpuMemory> makeMemory(const Variant &variant, std::string &whyNot) {
  whyNot = "backend net is not built";
  return makeGpuMemory ? makeGpuMemory(variant.memory, whyNot) : nullptr;
}

} // namespace

std::string whyNotHere(const std::string &backend) {
  Variant variant(backend);
  std::string whyNot;
  return variant.memory.empty() || makeMemory(variant, whyNot) ? std::string() : whyNot;
}

int mostRanks(const std::string &backend) {
  constexpr int kAny = 1 << 20, kMostOnOneGpu = 4;
  Variant variant(backend);
  if (variant.name != "nccl" && variant.name != "direct")
    return kAny;
  std::string whyNot;
  std::unique_ptr<GpuMemory> memory = makeMemory(variant, whyNot);
  // Ranks of direct may share a GPU, if there are few.
  const int least = memory && variant.name == "direct" ? kMostOnOneGpu : 0;
  return memory ? std::max(memory->gpus(), least) : 0;
}

bool takesOrders(const std::string &backend) { return Variant(backend).name != "nccl"; }

bool takesNarrowFloats(const std::string &backend) { return Variant(backend).name != "plugin"; }

bool showsCalls(const std::string &backend) { return Variant(backend).name != "plugin"; }

void runJob(const std::string &backendName, const Layout &layout,
            const std::function<void(Member &)> &body, int64_t timeoutUs) {
  if (layout.ranks > mostRanks(backendName))
    GTEST_SKIP() << "needs " << layout.ranks << " GPUs";
  Variant variant(backendName);
  const std::string &algorithm = variant.algorithm, &memory = variant.memory, &path = variant.path;
  BackendOptions options;
  options.transport = variant.transport;
  options.numRanks = layout.ranks;
  // A real NCCL needs a second or two to make a communicator.
  const bool isRealNccl = variant.name == "nccl" && memory == "gpu";
  options.timeoutUs = isRealNccl ? std::max(timeoutUs, kLeastNcclUs) : timeoutUs;
  ScopedEnv scoped("COLL_NET_ALGORITHM", algorithm.empty() ? nullptr : algorithm.c_str());
  const bool compress = path == "compress"; // the path kernel
  ScopedEnv scopedPath("COLL_NET_GPU_PATH", path.empty() || compress ? nullptr : path.c_str());
  ScopedEnv scopedScatter("COLL_NET_SCATTER", variant.scatters ? "1" : nullptr);
  ScopedEnv scopedCompress("COLL_NET_GPU_COMPRESS", compress ? "1" : nullptr);
  ScopedEnv scopedBlocks("COLL_NET_GPU_BLOCKS", memory == "fake" ? "2" : nullptr);
  std::unique_ptr<GpuMemory> gpu;
  if (!memory.empty()) {
    std::string whyNot;
    gpu = makeMemory(variant, whyNot);
    ASSERT_TRUE(gpu) << whyNot;
  }
  Result<std::unique_ptr<Backend>> backend = createBackend(nameOf(variant), options);
  ASSERT_TRUE(backend.ok()) << backend.status().toString();
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  for (int rank = 0; rank < layout.ranks; ++rank) {
    Result<std::unique_ptr<Endpoint>> endpoint = (*backend)->endpoint(rank);
    ASSERT_TRUE(endpoint.ok()) << endpoint.status().toString();
    endpoints.push_back(endpoint.take());
    endpoints.back()->enter();
  }
  std::vector<std::vector<std::unique_ptr<StagedCall>>> spent(endpoints.size());
  Meeting meeting(layout.ranks);
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < endpoints.size(); ++rank)
    threads.emplace_back([&, rank] {
      runRank(*endpoints[rank], layout, static_cast<int>(rank), body, gpu.get(), meeting,
              spent[rank]);
      meeting.leave();
    });
  for (std::thread &thread : threads)
    thread.join();
}

Layout oneGroup(int ranks) {
  Layout layout{ranks, {{}}};
  for (int rank = 0; rank < ranks; ++rank)
    layout.groups[0].push_back(rank);
  return layout;
}

std::vector<Layout> layouts(int most) {
  std::vector<Layout> all = {oneGroup(1),         oneGroup(2),
                             oneGroup(5),         {4, {{0, 2}, {1, 3}}},
                             {4, {{3, 1, 0, 2}}}, {8, {{0, 1, 2, 3}, {4, 5, 6, 7}}},
                             {3, {{0}, {2, 1}}}};
  all.erase(std::remove_if(all.begin(), all.end(),
                           [most](const Layout &layout) { return layout.ranks > most; }),
            all.end());
  return all;
}

const std::vector<int64_t> &counts() {
  static const std::vector<int64_t> all = {0, 1, 3, 64, 517, 30'011};
  return all;
}

bool isTested(const Layout &layout, int64_t count, int most) {
  return count < 1000 || layout.ranks == std::min(most, 5);
}

Elements::Elements(CollDtype dtype, int64_t count)
    : dtype_(dtype), count_(count),
      bytes_(static_cast<size_t>(std::max<int64_t>(count * dtypeSize(dtype), 1)), '\x5a') {}

namespace {

template <typename T>
void put(char *at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

template <typename T>
double fetch(const char *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return static_cast<double>(value);
}

void store(CollDtype dtype, double value, char *at) {
  int64_t whole = isFloat(dtype) ? 0 : static_cast<int64_t>(value);
  switch (dtype) {
  case kCollF32:
    return put(at, static_cast<float>(value));
  case kCollF64:
    return put(at, value);
  case kCollF16:
    return put(at, f32ToF16(static_cast<float>(value)));
  case kCollBf16:
    return put(at, f32ToBf16(static_cast<float>(value)));
  case kCollI8:
    return put(at, static_cast<int8_t>(whole));
  case kCollI16:
    return put(at, static_cast<int16_t>(whole));
  case kCollI32:
    return put(at, static_cast<int32_t>(whole));
  case kCollI64:
    return put(at, whole);
  case kCollBool:
    return put(at, static_cast<uint8_t>(whole != 0));
  case kCollF8E4M3FN:
    return put(at, f32ToF8E4M3FN(static_cast<float>(value)));
  case kCollF8E5M2:
    return put(at, f32ToF8E5M2(static_cast<float>(value)));
  case kCollU8:
    return put(at, static_cast<uint8_t>(whole));
  }
}

double load(CollDtype dtype, const char *at) {
  uint16_t half = 0;
  if (dtype == kCollF16 || dtype == kCollBf16)
    std::memcpy(&half, at, sizeof(half));
  switch (dtype) {
  case kCollF32:
    return fetch<float>(at);
  case kCollF64:
    return fetch<double>(at);
  case kCollF16:
    return f16ToF32(half);
  case kCollBf16:
    return bf16ToF32(half);
  case kCollI8:
    return fetch<int8_t>(at);
  case kCollI16:
    return fetch<int16_t>(at);
  case kCollI32:
    return fetch<int32_t>(at);
  case kCollI64:
    return fetch<int64_t>(at);
  case kCollBool:
  case kCollU8:
    return fetch<uint8_t>(at);
  case kCollF8E4M3FN:
    return f8E4M3FNToF32(fetch<uint8_t>(at));
  case kCollF8E5M2:
    return f8E5M2ToF32(fetch<uint8_t>(at));
  }
  return 0;
}

} // namespace

void Elements::set(int64_t i, double value) {
  store(dtype_, value, bytes_.data() + i * dtypeSize(dtype_));
}

double Elements::get(int64_t i) const {
  return load(dtype_, bytes_.data() + i * dtypeSize(dtype_));
}

Elements Elements::samples(CollDtype dtype, int rank, int64_t from, int64_t count) {
  return repeated(dtype, count, [&](int64_t i) { return sample(dtype, rank, from + i); });
}

void Elements::repeat() {
  const size_t whole = static_cast<size_t>(count_ * dtypeSize(dtype_));
  for (size_t done = static_cast<size_t>(kPeriod * dtypeSize(dtype_)); done < whole; done *= 2)
    std::memcpy(bytes_.data() + done, bytes_.data(), std::min(done, whole - done));
}

testing::AssertionResult Elements::has(int64_t at, const Elements &expected) const {
  const int64_t size = dtypeSize(dtype_);
  if (at < 0 || at + expected.count_ > count_ || expected.dtype_ != dtype_)
    return testing::AssertionFailure()
           << expected.count_ << " elements from " << at << " on are not there";
  if (std::memcmp(bytes_.data() + at * size, expected.bytes_.data(),
                  static_cast<size_t>(expected.count_ * size)) == 0)
    return testing::AssertionSuccess();
  for (int64_t i = 0; i < expected.count_; ++i)
    if (get(at + i) != expected.get(i))
      return testing::AssertionFailure()
             << "element " << at + i << " is " << get(at + i) << ", expected " << expected.get(i);
  return testing::AssertionSuccess(); // zeros of different signs
}

double sample(CollDtype dtype, int rank, int64_t i) {
  int64_t value = (rank * 37 + i * 11 + i / 13) % 23 - 9;
  if (dtype == kCollBool)
    return static_cast<double>(value % 2 != 0);
  if (dtype == kCollU8)
    return static_cast<double>((value + 9) * 11); // to 242: no i8, and sums wrap
  // Eight-bit floats represent few whole numbers.
  return static_cast<double>(dtypeSize(dtype) == 1 && isFloat(dtype) ? value % 4 : value);
}

double rounded(CollDtype dtype, double value) {
  char bytes[sizeof(double)];
  store(dtype, value, bytes);
  return load(dtype, bytes);
}

Call makeCall(OpKind kind, CollDtype dtype, int64_t count, void *src, void *dst) {
  Call call;
  call.kind = kind;
  call.dtype = dtype;
  call.count = count;
  call.src = src;
  call.dst = dst;
  call.site.op = 3;
  call.site.loc = "train.py:7:1";
  return call;
}

namespace {

std::vector<CollDtype> allDtypes() {
  std::vector<CollDtype> all;
  for (int i = 0; i < kNumDtypes; ++i)
    all.push_back(static_cast<CollDtype>(i));
  return all;
}

} // namespace

std::vector<CollDtype> movedDtypes() {
  return coll::test::kFindsRaces ? std::vector{kCollI16} : allDtypes();
}

std::vector<TypedReduction> someReductions() {
  return {{kCollF32, kCollSum},  {kCollF32, kCollAvg}, {kCollF64, kCollMin}, {kCollF16, kCollAvg},
          {kCollBf16, kCollSum}, {kCollI8, kCollSum},  {kCollI32, kCollMax}, {kCollI32, kCollAvg},
          {kCollU8, kCollMin},   {kCollU8, kCollAvg},  {kCollBool, kCollSum}};
}

std::vector<TypedReduction> allReductions() {
  if (coll::test::kFindsRaces)
    return someReductions();
  std::vector<TypedReduction> all;
  for (CollDtype dtype : allDtypes())
    for (int i = 0; i < kNumReductions; ++i)
      if (reductionTakes(i, dtype))
        all.emplace_back(dtype, static_cast<CollReduction>(i));
  return all;
}

} // namespace coll::rt::test
