#include "runtime/program/state_arguments.h"

#include "runtime/base/dtype.h"

#include <cstring>

namespace coll::rt {

Result<StateArguments> StateArguments::create(const Descriptor &descriptor,
                                              const std::vector<TensorView> &states) {
  StateArguments made;
  std::vector<int> wholes(descriptor.args.size(), -1);
  for (size_t k = 0; k < states.size(); ++k)
    if (!descriptor.states[k].isPart)
      wholes[static_cast<size_t>(descriptor.states[k].arg)] = static_cast<int>(k);
  made.packed_.reserve(descriptor.args.size()); // views refer to them
  for (size_t i = 0; i < descriptor.args.size(); ++i) {
    const TensorInfo &arg = descriptor.args[i];
    if (!arg.isState())
      continue;
    if (arg.parts.empty() && !arg.isInternal) {
      made.views_.push_back(states[static_cast<size_t>(wholes[i])]);
      continue;
    }
    Result<HostTensor> packed = HostTensor::zeros(arg.dtype, arg.shape);
    if (!packed)
      return packed.status();
    made.packed_.push_back(packed.take());
    for (const StatePart &part : arg.parts) {
      const TensorView &state = states[static_cast<size_t>(part.state)];
      if (state.bytes > 0)
        std::memcpy(made.packed_.back().data.data() + part.offset * dtypeSize(arg.dtype),
                    state.data, static_cast<size_t>(state.bytes));
    }
    made.views_.push_back(TensorView::of(made.packed_.back()));
  }
  return made;
}

HostTensor partOf(const StateInfo &state, const HostTensor &argument) {
  HostTensor tensor;
  tensor.dtype = state.info.dtype;
  tensor.shape = state.info.shape;
  const char *begin = argument.data.data() + state.offset * dtypeSize(state.info.dtype);
  tensor.data.assign(begin, begin + state.info.globalBytes());
  return tensor;
}

std::vector<HostTensor> statesOf(const Descriptor &descriptor, std::vector<HostTensor> arguments) {
  std::vector<int> places(descriptor.args.size(), -1);
  int next = 0;
  for (size_t i = 0; i < descriptor.args.size(); ++i)
    if (descriptor.args[i].isState())
      places[i] = next++;
  std::vector<HostTensor> states;
  states.reserve(descriptor.states.size());
  for (const StateInfo &state : descriptor.states) {
    HostTensor &argument = arguments[static_cast<size_t>(places[static_cast<size_t>(state.arg)])];
    states.push_back(state.isPart ? partOf(state, argument) : std::move(argument));
  }
  return states;
}

} // namespace coll::rt
