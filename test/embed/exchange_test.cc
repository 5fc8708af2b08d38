// Tensors of other processes, and changes of sharding, through the C API.

#include "embed/c/coll_exchange.h"
#include "test/embed/fixture.h"

#include <sys/wait.h>
#include <unistd.h>

namespace coll::embed {
namespace {

// Returns an owner's tensor with the values 0, 1, 2, … in f32.
coll_tensor countUp(coll_owner owner, const std::vector<int64_t> &shape) {
  coll_tensor tensor = {0};
  COLL_EXPECT_OK(coll_owner_allocate(owner, COLL_F32, static_cast<int32_t>(shape.size()),
                                     shape.data(), &tensor));
  coll_tensor_view view = {};
  view.struct_size = sizeof(view);
  COLL_EXPECT_OK(coll_tensor_describe(tensor, &view));
  float *data = static_cast<float *>(const_cast<void *>(view.data));
  for (int64_t i = 0; i < shape[0] * shape[1]; ++i)
    data[i] = static_cast<float>(i);
  return tensor;
}

std::string publish(coll_owner owner, coll_tensor tensor) {
  std::string handle(COLL_EXCHANGE_HANDLE_BYTES, 0);
  size_t bytes = 0;
  COLL_EXPECT_OK(coll_owner_publish(owner, tensor, handle.data(), handle.size(), &bytes));
  handle.resize(bytes);
  return handle;
}

// Runs in another process: reads a part, and writes the sum of its two elements before it. Returns
// the exit code.
int reader(const std::string &handle) {
  coll_remote remote = {0};
  coll_tensor part = {0};
  const int64_t begin[] = {1, 2}, extent[] = {2, 1}, origin[] = {0, 0};
  coll_error error = coll_remote_open(nullptr, handle.data(), handle.size(), &remote);
  if (error.id == 0)
    error = coll_remote_read(remote, begin, extent, &part);
  if (error.id != 0)
    return 1;
  const std::vector<float> values = read(part), sum = {values[0] + values[1]};
  const coll_tensor written = wrap(sum, {1, 1});
  return coll_remote_write(remote, origin, written).id == 0 && values.size() == 2 ? 0 : 2;
}

TEST(ExchangeTest, AnotherProcessReadsAndWrites) {
  coll_owner owner = {0};
  COLL_EXPECT_OK(coll_owner_create(nullptr, &owner));
  const coll_tensor tensor = countUp(owner, {3, 4});
  const std::string handle = publish(owner, tensor);
  const pid_t child = fork();
  if (child == 0)
    _exit(reader(handle));
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  COLL_EXPECT_OK(coll_owner_withdraw(owner, handle.data(), handle.size()));
  COLL_EXPECT_OK(coll_owner_free(owner));
  EXPECT_EQ(read(tensor)[0], 6.0f + 10.0f); // the memory outlives the owner's handle
}

TEST(ExchangeTest, WhatIsWithdrawnOrDamagedIsRefused) {
  coll_owner owner = {0};
  COLL_EXPECT_OK(coll_owner_create(nullptr, &owner));
  const coll_tensor tensor = countUp(owner, {2, 2});
  char small[8];
  size_t bytes = 0;
  COLL_EXPECT_FAILS(coll_owner_publish(owner, tensor, small, sizeof(small), &bytes),
                    COLL_INVALID_ARGUMENT, "capacity is 8");
  const std::vector<float> own(4);
  const coll_tensor foreign = wrap(own, {2, 2});
  char handle[COLL_EXCHANGE_HANDLE_BYTES];
  COLL_EXPECT_FAILS(coll_owner_publish(owner, foreign, handle, sizeof(handle), &bytes),
                    COLL_UNSUPPORTED, "allocate()");
  std::string made = publish(owner, tensor);
  coll_remote remote = {0};
  COLL_EXPECT_OK(coll_remote_open(nullptr, made.data(), made.size(), &remote));
  COLL_EXPECT_OK(coll_owner_withdraw(owner, made.data(), made.size()));
  coll_tensor copy = {0};
  const Said said = take(coll_remote_read(remote, nullptr, nullptr, &copy));
  EXPECT_NE(said.code, COLL_OK);
  const int64_t outside[] = {1, 1}, extent[] = {2, 2};
  EXPECT_NE(take(coll_remote_read(remote, outside, extent, &copy)).code, COLL_OK);
  COLL_EXPECT_FAILS(coll_remote_read(remote, outside, nullptr, &copy), COLL_INVALID_ARGUMENT,
                    "together");
  made[made.size() / 2] ^= 1;
  COLL_EXPECT_FAILS(coll_remote_open(nullptr, made.data(), made.size(), &remote),
                    COLL_INVALID_ARGUMENT, "");
  coll_exchange_options options = COLL_INIT(coll_exchange_options);
  options.transport = "tcp";
  COLL_EXPECT_FAILS(coll_owner_create(&options, &owner), COLL_INVALID_ARGUMENT, "secret");
  options.secret = "a secret of the job";
  options.transport = "pigeons";
  COLL_EXPECT_FAILS(coll_owner_create(&options, &owner), COLL_INVALID_ARGUMENT, "pigeons");
  COLL_EXPECT_OK(coll_tensor_free(foreign));
  COLL_EXPECT_OK(coll_tensor_free(tensor));
  COLL_EXPECT_OK(coll_remote_free(remote));
  COLL_EXPECT_OK(coll_owner_free(owner));
}

coll_placement placed(const char *mesh, const char *sharding) {
  coll_placement placement = COLL_INIT(coll_placement);
  placement.mesh = mesh;
  placement.sharding = sharding;
  return placement;
}

TEST(ExchangeTest, ReshardMovesRowsToColumns) {
  const int64_t shape[] = {4, 6};
  const coll_placement rows = placed("dp=2", "[dp, -]"), columns = placed("a=3", "[-, a]");
  coll_reshard reshard = {0};
  COLL_EXPECT_OK(coll_reshard_plan(COLL_F32, 2, shape, &rows, &columns, &reshard));
  coll_reshard_info info = COLL_INIT(coll_reshard_info);
  COLL_EXPECT_OK(coll_reshard_describe(reshard, &info));
  EXPECT_EQ(info.num_sources, 2u);
  EXPECT_EQ(info.num_targets, 3u);
  EXPECT_EQ(info.bytes, 64); // all but a third of each source rank's rows
  EXPECT_EQ(info.least_bytes, info.bytes);
  std::vector<float> blocks[2];
  coll_tensor sources[2], targets[3];
  for (int r = 0; r < 2; ++r) {
    for (int i = 0; i < 12; ++i)
      blocks[r].push_back(static_cast<float>(12 * r + i));
    sources[r] = wrap(blocks[r], {2, 6});
  }
  COLL_EXPECT_FAILS(coll_reshard_run(reshard, sources, 1, targets, 3), COLL_INVALID_ARGUMENT,
                    "the mesh has 2");
  COLL_EXPECT_FAILS(coll_reshard_run(reshard, sources, 2, targets, 2), COLL_INVALID_ARGUMENT,
                    "the mesh has 3");
  COLL_EXPECT_OK(coll_reshard_run(reshard, sources, 2, targets, 3));
  for (int r = 0; r < 3; ++r) {
    const float first = static_cast<float>(2 * r);
    EXPECT_EQ(read(targets[r]),
              (std::vector<float>{first, first + 1, first + 6, first + 7, first + 12, first + 13,
                                  first + 18, first + 19}));
  }
  for (coll_tensor source : sources)
    COLL_EXPECT_OK(coll_tensor_free(source));
  COLL_EXPECT_OK(coll_reshard_free(reshard));
}

TEST(ExchangeTest, PlacementsThatMakeNoSenseAreRefused) {
  const int64_t shape[] = {4, 6};
  const coll_placement good = placed("dp=2", "[dp, -]");
  coll_reshard reshard = {0};
  auto refuses = [&](const char *mesh, const char *sharding, const char *text) {
    const coll_placement bad = placed(mesh, sharding);
    COLL_EXPECT_FAILS(coll_reshard_plan(COLL_F32, 2, shape, &bad, &good, &reshard),
                      COLL_INVALID_ARGUMENT, text);
  };
  refuses("", "[-, -]", "the mesh is empty");
  refuses("dp", "[dp, -]", "AXIS=SIZE");
  refuses("dp=0", "[dp, -]", "AXIS=SIZE");
  refuses("dp=2,dp=2", "[dp, -]", "twice");
  refuses("a=999,b=999", "[a, b]", "1024 ranks");
  refuses("dp=2", "dp, -", "as many entries");
  refuses("dp=2", "[dp]", "as many entries");
  refuses("dp=2", "[dp, dp]", "an axis of the mesh");
  refuses("dp=2", "[tp, -]", "an axis of the mesh");
  COLL_EXPECT_FAILS(coll_reshard_plan(COLL_F32, 2, shape, nullptr, &good, &reshard),
                    COLL_INVALID_ARGUMENT, "source is null");
}

} // namespace
} // namespace coll::embed
