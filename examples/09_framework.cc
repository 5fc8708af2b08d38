// A small framework that embeds the compiler: it owns its tensors, hands a step over as text, and
// trains on 4 ranks of its process. Built outside of the tree, with find_package(coll):
//
//   cmake --install build --component embed --prefix /opt/coll
//   flags=$(PKG_CONFIG_PATH=/opt/coll/lib/pkgconfig pkg-config --cflags --libs coll)
//   c++ -std=c++17 examples/09_framework.cc $flags -o framework
//   ./framework examples/03_data_parallel.mlir
//
// The step's batch is made up; its loss has to fall.

#include <coll/coll.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// A failed call becomes an exception that has the place in the step's text.
void check(coll_error error) {
  if (error.id == 0)
    return;
  std::string text = coll_error_message(error);
  if (*coll_error_location(error))
    text = coll_error_location(error) + (": " + text);
  for (size_t i = 0; i < coll_error_num_notes(error); ++i)
    text += std::string("\n  ") + coll_error_note(error, i);
  coll_error_free(error);
  throw std::runtime_error(text);
}

// Owns a handle of the library.
template <typename Handle, auto Free>
class Owned {
public:
  Owned() = default;
  ~Owned() { (void)Free(handle_); }
  Owned(Owned &&other) noexcept : handle_(other.handle_) { other.handle_ = {}; }
  Owned &operator=(Owned &&) = delete;
  Handle get() const { return handle_; }
  Handle *out() { return &handle_; }

private:
  Handle handle_{};
};
using Context = Owned<coll_context, coll_context_free>;
using Executable = Owned<coll_executable, coll_executable_free>;
using Instance = Owned<coll_instance, coll_instance_free>;
using Borrowed = Owned<coll_tensor, coll_tensor_free>;

// The framework's own tensor: f32, dense, at a multiple of 64 bytes, so that the ranks read it in
// place.
class Tensor {
public:
  explicit Tensor(std::vector<int64_t> shape)
      : shape_(std::move(shape)),
        size_(std::accumulate(shape_.begin(), shape_.end(), size_t{1}, std::multiplies<>())),
        data_(
            static_cast<float *>(std::aligned_alloc(64, (size_ * sizeof(float) + 63) / 64 * 64))) {
    if (!data_)
      throw std::bad_alloc();
  }

  float *begin() { return data_.get(); }
  float *end() { return data_.get() + size_; }

  // Lends the memory to the library; nothing is copied.
  Borrowed lend() const {
    auto view = COLL_INIT(coll_tensor_view);
    view.dtype = COLL_F32;
    view.num_dims = static_cast<int32_t>(shape_.size());
    view.shape = shape_.data();
    view.data = data_.get();
    Borrowed tensor;
    check(coll_tensor_wrap(&view, nullptr, nullptr, tensor.out()));
    return tensor;
  }

private:
  struct Free {
    void operator()(float *memory) const { std::free(memory); }
  };
  std::vector<int64_t> shape_;
  size_t size_;
  std::unique_ptr<float, Free> data_;
};

// The framework's model: a compiled step, its ranks, and tensors for its arguments.
class Model {
public:
  Model(const std::string &text, int ranks) {
    check(coll_context_create(nullptr, context_.out()));
    coll_compile_options options;
    check(coll_compile_options_init(&options, sizeof(options)));
    options.ranks = ranks;
    check(coll_compile(context_.get(), text.data(), text.size(), &options, executable_.out()));
    check(coll_instance_create(executable_.get(), nullptr, instance_.out()));
    info_ = COLL_INIT(coll_executable_info);
    check(coll_executable_describe(executable_.get(), &info_));
    for (size_t i = 0; i < info_.num_args; ++i) {
      auto argument = COLL_INIT(coll_value_info);
      check(coll_executable_arg(executable_.get(), i, &argument));
      if (argument.dtype != COLL_F32)
        throw std::runtime_error(std::string("argument ") + argument.name + " is not f32");
      auto &list = argument.role == std::string("state") ? state_ : batch_;
      list.emplace_back(std::vector<int64_t>(argument.shape, argument.shape + argument.num_dims));
    }
  }

  std::vector<Tensor> &state() { return state_; }
  std::vector<Tensor> &batch() { return batch_; }

  void explain() const {
    std::printf("%d ranks, mesh %s, %s\n", info_.num_ranks, info_.mesh,
                info_.is_proved ? "proved" : "not proved");
    for (size_t i = 0; i < info_.num_collectives; ++i) {
      auto op = COLL_INIT(coll_collective_info);
      check(coll_executable_collective(executable_.get(), i, &op));
      std::printf("  %s of %lld bytes: %s\n", op.kind, static_cast<long long>(op.bytes), op.reason);
    }
  }

  void start() {
    std::vector<Borrowed> lent;
    std::vector<coll_tensor> handles = lend(state_, lent);
    check(coll_instance_set_state(instance_.get(), handles.data(), handles.size()));
  }

  // Runs a step on the batch, and returns its first output.
  float step() {
    std::vector<Borrowed> lent;
    std::vector<coll_tensor> handles = lend(batch_, lent), results(info_.num_outputs);
    check(coll_instance_step(instance_.get(), handles.data(), handles.size(), results.data(),
                             results.size()));
    auto view = COLL_INIT(coll_tensor_view);
    check(coll_tensor_describe(results.at(0), &view));
    const float value = *static_cast<const float *>(view.data);
    for (coll_tensor result : results)
      check(coll_tensor_free(result));
    return value;
  }

private:
  static std::vector<coll_tensor> lend(const std::vector<Tensor> &tensors,
                                       std::vector<Borrowed> &lent) {
    std::vector<coll_tensor> handles;
    for (const Tensor &tensor : tensors)
      handles.push_back(lent.emplace_back(tensor.lend()).get());
    return handles;
  }

  Context context_;
  Executable executable_;
  Instance instance_;
  coll_executable_info info_{};
  std::vector<Tensor> state_, batch_;
};

int run(const char *path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file)
    throw std::runtime_error(std::string("cannot read ") + path);
  Model model(text.str(), /*ranks=*/4);
  model.explain();
  std::mt19937 random(0);
  std::normal_distribution<float> normal;
  for (Tensor &tensor : model.state())
    std::fill(tensor.begin(), tensor.end(), 0.0f);
  for (Tensor &tensor : model.batch())
    std::generate(tensor.begin(), tensor.end(), [&] { return normal(random); });
  model.start();
  const float first = model.step();
  float last = first;
  for (int i = 1; i < 20; ++i)
    last = model.step();
  std::printf("loss %g -> %g\n", first, last);
  return last < first ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) try {
  if (argc != 2)
    throw std::runtime_error("usage: framework STEP");
  return run(argv[1]);
} catch (const std::exception &error) {
  std::fprintf(stderr, "framework: %s\n", error.what());
  return 1;
}
