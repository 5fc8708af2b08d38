// Tensors of DLPack, in and out.

#include "embed/c/dlpack_abi.h"
#include "test/embed/fixture.h"

namespace coll::embed {
namespace {

// A tensor of a framework: eight rows of ones, and how often it was released.
struct Foreign {
  alignas(64) float data[32];
  int64_t shape[2] = {8, 4};
  int deleted = 0;
  DLManagedTensorVersioned managed = {};

  Foreign() {
    std::fill(data, data + 32, 1.0f);
    managed.version = {1, 1};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensorVersioned *self) {
      ++static_cast<Foreign *>(self->manager_ctx)->deleted;
    };
    managed.dl_tensor = {data, {kDlpackCpu, 0}, 2, {kDlpackFloat, 32, 1}, shape, nullptr, 0};
  }
};

TEST_F(EmbedTest, ForeignTensorIsGivenBackOnceItIsUnused) {
  coll_instance instance = makeInstance(1);
  Foreign foreign;
  coll_tensor batch = {0}, loss = {0};
  COLL_EXPECT_OK(coll_tensor_from_dlpack(&foreign.managed, &batch));
  coll_tensor_view view = {};
  view.struct_size = sizeof(view);
  COLL_EXPECT_OK(coll_tensor_describe(batch, &view));
  EXPECT_EQ(view.data, foreign.data);
  COLL_EXPECT_OK(coll_instance_step(instance, &batch, 1, &loss, 1));
  EXPECT_EQ(read(loss), std::vector<float>{32});
  EXPECT_EQ(foreign.deleted, 0);
  COLL_EXPECT_OK(coll_tensor_free(batch));
  EXPECT_EQ(foreign.deleted, 1);
  COLL_EXPECT_OK(coll_instance_free(instance));
}

TEST_F(EmbedTest, ResultLivesAsLongAsItsDlpackTensor) {
  coll_instance instance = makeInstance(2);
  coll_tensor state = {0};
  COLL_EXPECT_OK(coll_instance_state(instance, 0, &state));
  DLManagedTensorVersioned *managed = nullptr;
  DLManagedTensor *unversioned = nullptr;
  COLL_EXPECT_OK(coll_tensor_to_dlpack(state, &managed));
  COLL_EXPECT_OK(coll_tensor_to_dlpack_unversioned(state, &unversioned));
  COLL_EXPECT_OK(coll_tensor_free(state));
  COLL_EXPECT_OK(coll_instance_free(instance));
  EXPECT_EQ(managed->version.major, 1u);
  const DLTensor &tensor = managed->dl_tensor;
  EXPECT_EQ(tensor.data, unversioned->dl_tensor.data);
  EXPECT_EQ(tensor.ndim, 1);
  EXPECT_EQ(tensor.shape[0], 4);
  EXPECT_EQ(tensor.strides[0], 1);
  EXPECT_EQ(tensor.dtype.code, kDlpackFloat);
  EXPECT_EQ(static_cast<float *>(tensor.data)[3], 0.0f);
  // An exported tensor can be imported again like any other.
  coll_tensor again = {0};
  COLL_EXPECT_OK(coll_tensor_from_dlpack(managed, &again));
  unversioned->deleter(unversioned);
  EXPECT_EQ(read(again), std::vector<float>(4));
}

TEST_F(EmbedTest, ForeignTensorThatIsRefusedStaysTheCallers) {
  Foreign foreign;
  coll_tensor tensor = {0};
  foreign.managed.dl_tensor.device = {2, 0};
  COLL_EXPECT_FAILS(coll_tensor_from_dlpack(&foreign.managed, &tensor), COLL_UNSUPPORTED,
                    "copy it to the host");
  foreign.managed.dl_tensor.device = {kDlpackCpu, 0};
  foreign.managed.dl_tensor.dtype = {5, 64, 1};
  COLL_EXPECT_FAILS(coll_tensor_from_dlpack(&foreign.managed, &tensor), COLL_UNSUPPORTED,
                    "type code 5");
  foreign.managed.dl_tensor.dtype = {kDlpackFloat, 32, 2};
  COLL_EXPECT_FAILS(coll_tensor_from_dlpack(&foreign.managed, &tensor), COLL_UNSUPPORTED,
                    "2 lanes");
  foreign.managed.dl_tensor.dtype = {kDlpackFloat, 32, 1};
  foreign.managed.dl_tensor.ndim = -3;
  COLL_EXPECT_FAILS(coll_tensor_from_dlpack(&foreign.managed, &tensor), COLL_INVALID_ARGUMENT,
                    "dimensions");
  foreign.managed.version.major = 2;
  COLL_EXPECT_FAILS(coll_tensor_from_dlpack(&foreign.managed, &tensor), COLL_UNSUPPORTED,
                    "version 2");
  EXPECT_EQ(foreign.deleted, 0);
}

TEST_F(EmbedTest, DonatedMemoryIsGivenBack) {
  int deleted = 0;
  const float value = 3;
  coll_tensor_view view = viewOf(COLL_F32, {}, &value);
  coll_tensor tensor = {0};
  COLL_EXPECT_OK(
      coll_tensor_wrap(&view, [](void *user) { ++*static_cast<int *>(user); }, &deleted, &tensor));
  DLManagedTensorVersioned *managed = nullptr;
  COLL_EXPECT_OK(coll_tensor_to_dlpack(tensor, &managed));
  COLL_EXPECT_OK(coll_tensor_free(tensor));
  EXPECT_EQ(deleted, 0); // the other holder still reads it
  managed->deleter(managed);
  EXPECT_EQ(deleted, 1);
}

} // namespace
} // namespace coll::embed
