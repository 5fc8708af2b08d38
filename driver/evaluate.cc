//===- evaluate.cc - accuracy on held-out examples ------------------------------===//

#include "driver/evaluate.h"

#include "compiler/error.h"

namespace coll::run {

llvm::Error Evaluation::checkTypes(llvm::StringRef path,
                                   const std::vector<rt::TensorInfo> &state) const {
  const rt::Descriptor &descriptor = step_.executor->descriptor();
  if (descriptor.args.size() != state.size() + test_.size())
    return makeError("'" + path + "' takes " + counted(descriptor.args.size(), "argument") +
                     "; state and held-out arrays are " + llvm::Twine(state.size() + test_.size()));
  for (size_t i = 0; i < descriptor.args.size(); ++i) {
    const rt::TensorInfo &info = descriptor.args[i];
    bool isState = i < state.size();
    const rt::HostTensor *test = isState ? nullptr : &test_[i - state.size()];
    if (info.dtype != (isState ? state[i].dtype : test->dtype) ||
        info.shape != (isState ? state[i].shape : test->shape))
      return makeError(
          "'" + path + "': " + describe(info) + " is given " +
          (isState ? rt::typeString(state[i].dtype, state[i].shape) : test->typeString()));
  }
  if (descriptor.results.size() != 1 || !descriptor.results[0].shape.empty())
    return makeError("'" + path + "' must return one scalar, the number correct");
  return llvm::Error::success();
}

llvm::Expected<Evaluation> Evaluation::create(StepCompiler &compiler, llvm::StringRef path,
                                              const std::vector<rt::TensorInfo> &state,
                                              std::vector<NpyArray> test) {
  Evaluation evaluation;
  if (!test.empty() && !test[0].shape.empty())
    evaluation.total_ = test[0].shape[0];
  if (evaluation.total_ < 1)
    return makeError("there are no held-out examples");
  for (NpyArray &array : test)
    evaluation.test_.push_back(toTensor(std::move(array)));
  llvm::Expected<StepFile> file = compiler.open(path, /*stateArgs=*/0);
  if (!file)
    return file.takeError();
  auto code = compiler.compile(*file, Target());
  if (!code)
    return code.takeError();
  auto launched = launchStep(std::move(*code), rt::ExecutorOptions());
  if (!launched)
    return launched.takeError();
  evaluation.step_ = std::move(*launched);
  if (llvm::Error error = evaluation.checkTypes(path, state))
    return error;
  if (llvm::Error error = toError(evaluation.step_.executor->initialize({})))
    return error;
  return evaluation;
}

llvm::Expected<Accuracy> Evaluation::run(const Tensors &state) {
  Tensors arguments = state;
  for (rt::HostTensor &tensor : test_)
    arguments.push_back(std::move(tensor));
  test_.clear();
  llvm::Expected<Tensors> results = toExpected(step_.executor->step(arguments));
  if (!results)
    return results.takeError();
  return Accuracy{std::llround(element((*results)[0], 0)), total_};
}

} // namespace coll::run
