//===- evaluate.cc - accuracy on held-out examples ------------------------------===//

#include "tools/coll-run/evaluate.h"

#include "tools/coll-run/error.h"

namespace coll::run {
namespace {

llvm::Error checkArguments(llvm::StringRef path, const rt::Descriptor &descriptor,
                           const Tensors &arguments) {
  if (descriptor.args.size() != arguments.size())
    return makeError("'" + path + "' takes " + counted(descriptor.args.size(), "argument") +
                     "; state and held-out arrays are " + llvm::Twine(arguments.size()));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const rt::TensorInfo &info = descriptor.args[i];
    if (info.dtype != arguments[i].dtype || info.shape != arguments[i].shape)
      return makeError("'" + path + "': " + describe(info) + " is given " +
                       arguments[i].typeString());
  }
  return llvm::Error::success();
}

} // namespace

llvm::Expected<Accuracy> evaluate(StepCompiler &compiler, llvm::StringRef path,
                                  const Tensors &state, std::vector<NpyArray> test) {
  Accuracy accuracy;
  if (!test.empty() && !test[0].shape.empty())
    accuracy.total = test[0].shape[0];
  if (accuracy.total < 1)
    return makeError("there are no held-out examples");
  Tensors arguments = state;
  for (NpyArray &array : test)
    arguments.push_back(toTensor(std::move(array)));
  llvm::Expected<StepFile> file = compiler.open(path, /*stateArgs=*/0);
  if (!file)
    return file.takeError();
  auto code = compiler.compile(*file, Target());
  if (!code)
    return code.takeError();
  auto launched = launchStep(std::move(*code), rt::ExecutorOptions());
  if (!launched)
    return launched.takeError();
  rt::Executor &executor = *launched->executor;
  if (llvm::Error error = checkArguments(path, executor.descriptor(), arguments))
    return error;
  if (llvm::Error error = toError(executor.initialize({})))
    return error;
  llvm::Expected<Tensors> results = toExpected(executor.step(arguments));
  if (!results)
    return results.takeError();
  if (results->size() != 1 || !(*results)[0].shape.empty())
    return makeError("'" + path + "' must return one scalar, the number correct");
  accuracy.correct = std::llround(element((*results)[0], 0));
  return accuracy;
}

} // namespace coll::run
