// fixture.h - code that the tests of the C API share.

#ifndef COLL_TEST_EMBED_FIXTURE_H
#define COLL_TEST_EMBED_FIXTURE_H

#include "embed/c/coll.h"
#include "test/embed/steps.h"

#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace coll::embed {

// The code and the message of an error, which is freed.
struct Said {
  int32_t code;
  std::string message, location;
  std::vector<std::string> notes;
};

inline Said take(coll_error error) {
  Said said{coll_error_code(error), coll_error_message(error), coll_error_location(error), {}};
  for (size_t i = 0; i < coll_error_num_notes(error); ++i)
    said.notes.emplace_back(coll_error_note(error, i));
  coll_error_free(error);
  return said;
}

#define COLL_EXPECT_OK(call)                                                                       \
  do {                                                                                             \
    const ::coll::embed::Said said_ = ::coll::embed::take(call);                                   \
    EXPECT_EQ(said_.code, COLL_OK) << said_.message;                                               \
  } while (false)

// `text` must be a part of the message.
#define COLL_EXPECT_FAILS(call, expected, text)                                                    \
  do {                                                                                             \
    const ::coll::embed::Said said_ = ::coll::embed::take(call);                                   \
    EXPECT_EQ(said_.code, expected) << said_.message;                                              \
    EXPECT_NE(said_.message.find(text), std::string::npos) << said_.message;                       \
  } while (false)

inline coll_tensor_view viewOf(int32_t dtype, const std::vector<int64_t> &shape, const void *data) {
  coll_tensor_view view = {};
  view.struct_size = sizeof(view);
  view.dtype = dtype;
  view.num_dims = static_cast<int32_t>(shape.size());
  view.shape = shape.data();
  view.data = data;
  return view;
}

inline coll_tensor wrap(const std::vector<float> &values, const std::vector<int64_t> &shape) {
  coll_tensor_view view = viewOf(COLL_F32, shape, values.data());
  coll_tensor tensor = {0};
  COLL_EXPECT_OK(coll_tensor_wrap(&view, nullptr, nullptr, &tensor));
  return tensor;
}

// Returns the elements of a tensor of f32, which is freed.
inline std::vector<float> read(coll_tensor tensor) {
  coll_tensor_view view = {};
  view.struct_size = sizeof(view);
  COLL_EXPECT_OK(coll_tensor_describe(tensor, &view));
  size_t count = 1;
  for (int32_t d = 0; d < view.num_dims; ++d)
    count *= static_cast<size_t>(view.shape[d]);
  const float *data = static_cast<const float *>(view.data);
  std::vector<float> values(data, data + count);
  COLL_EXPECT_OK(coll_tensor_free(tensor));
  return values;
}

class EmbedTest : public testing::Test {
protected:
  void SetUp() override { COLL_EXPECT_OK(coll_context_create(nullptr, &context)); }
  void TearDown() override { COLL_EXPECT_OK(coll_context_free(context)); }

  coll_executable compile(const char *text, int32_t ranks) {
    coll_compile_options options = {};
    COLL_EXPECT_OK(coll_compile_options_init(&options, sizeof(options)));
    options.ranks = ranks;
    coll_executable step = {0};
    COLL_EXPECT_OK(coll_compile(context, text, strlen(text), &options, &step));
    return step;
  }
  // Creates an instance of kStep whose state is zero; the executable's handle is freed.
  coll_instance makeInstance(int32_t ranks) {
    coll_executable step = compile(kStep, ranks);
    coll_instance instance = {0};
    COLL_EXPECT_OK(coll_instance_create(step, nullptr, &instance));
    COLL_EXPECT_OK(coll_executable_free(step));
    const std::vector<float> zeros(4);
    coll_tensor state = wrap(zeros, {4});
    COLL_EXPECT_OK(coll_instance_set_state(instance, &state, 1));
    COLL_EXPECT_OK(coll_tensor_free(state));
    return instance;
  }

  coll_context context = {0};
};

} // namespace coll::embed

#endif // COLL_TEST_EMBED_FIXTURE_H
