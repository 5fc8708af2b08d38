// state_arguments.h - converts between the states of a user and the arguments that hold them.
//
// Most states are one argument each. An argument with parts holds several states, each at its
// offset, with zeros between them. An internal argument holds no state, and starts as zeros.

#ifndef COLL_RUNTIME_PROGRAM_STATE_ARGUMENTS_H
#define COLL_RUNTIME_PROGRAM_STATE_ARGUMENTS_H

#include "runtime/program/program.h"
#include "runtime/program/tensor_view.h"

#include <vector>

namespace coll::rt {

// The state arguments of a program, with global shapes, from its states.
class StateArguments {
public:
  // `states`: as descriptor.states has them, which the caller has checked. They and the
  // descriptor outlive the arguments.
  static Result<StateArguments> create(const Descriptor &descriptor,
                                       const std::vector<TensorView> &states);

  // One per state argument, in order.
  const std::vector<TensorView> &views() const { return views_; }

private:
  std::vector<HostTensor> packed_; // of arguments with parts, and internal ones
  std::vector<TensorView> views_;
};

// A part's own tensor, from the argument that holds it.
HostTensor partOf(const StateInfo &state, const HostTensor &argument);

// The states in order, from the state arguments in order.
std::vector<HostTensor> statesOf(const Descriptor &descriptor, std::vector<HostTensor> arguments);

} // namespace coll::rt

#endif // COLL_RUNTIME_PROGRAM_STATE_ARGUMENTS_H
