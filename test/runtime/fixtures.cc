#include "test/runtime/fixtures.h"

#include <cstring>

namespace coll::rt::test {

std::string defaultOps() {
  return R"([{"kind":"all_reduce","loc":"train.py:12:3","name":"grad","bytes":16,"count":4,
              "dtype":"f32","reduction":"sum","group":0,"why":"mean gradient"},
             {"kind":"broadcast","loc":"train.py:5:1","name":"","bytes":16,"count":4,
              "dtype":"f32","reduction":"","group":0,"why":"same start"}])";
}

std::string descriptorText(int ranks, const std::string &ops) {
  return descriptorText(ranks, 0, ranks - 1, ops);
}

std::string descriptorText(int ranks, int firstRank, int lastRank, const std::string &ops) {
  std::string all;
  for (int rank = 0; rank < ranks; ++rank)
    all += (rank ? "," : "") + std::to_string(rank);
  std::string block = std::to_string((8 + ranks - 1) / ranks);
  return R"({"abi":9,"name":"step","mesh":{"name":"m","axes":[{"name":"dp","size":)" +
         std::to_string(ranks) + R"(}]},"ranks":[[)" + std::to_string(firstRank) + "," +
         std::to_string(lastRank) + R"(]],"groups":[[[)" + all + R"(]]],"ops":)" + ops +
         R"(,"args":[{"name":"w","role":"state","dtype":"f32","shape":[4],"local":[4],
                      "sharding":[{"axes":[],"unit":1}]},
                     {"name":"x","role":"batch","dtype":"f32","shape":[8],"local":[)" +
         block + R"(],"sharding":[{"axes":["dp"],"unit":1}]}],
            "results":[{"name":"w","role":"state","dtype":"f32","shape":[4],"local":[4],
                        "sharding":[{"axes":[],"unit":1}],"arg":0},
                       {"name":"loss","role":"","dtype":"f32","shape":[],"local":[],
                        "sharding":[],"arg":-1}],
            "arena_bytes":256})";
}

HostTensor floats(std::vector<int64_t> shape, std::vector<float> numbers) {
  HostTensor tensor;
  tensor.dtype = kCollF32;
  tensor.shape = std::move(shape);
  tensor.data.resize(numbers.size() * sizeof(float));
  if (!numbers.empty())
    std::memcpy(tensor.data.data(), numbers.data(), tensor.data.size());
  return tensor;
}

std::vector<float> values(const HostTensor &tensor) {
  return {tensor.as<float>(), tensor.as<float>() + tensor.data.size() / sizeof(float)};
}

std::unique_ptr<Executor> makeExecutor(int ranks, CollEntry step, CollEntry init,
                                       ExecutorOptions options) {
  Result<Program> program = Program::create(descriptorText(ranks), step, init);
  EXPECT_TRUE(program.ok()) << program.status().toString();
  if (!program)
    return nullptr;
  Result<std::unique_ptr<Executor>> executor = Executor::create({*program}, options);
  EXPECT_TRUE(executor.ok()) << executor.status().toString();
  return executor ? executor.take() : nullptr;
}

} // namespace coll::rt::test
