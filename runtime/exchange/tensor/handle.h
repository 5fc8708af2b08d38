// handle.h - describes a tensor to another process, as bytes.
//
// A handle says which process owns the tensor, what it is, and how it is reached. A TensorOwner
// makes it, the user sends it by any means, and it is valid until the tensor is withdrawn. It
// contains keys that cannot be guessed: every process that has it may read and write the tensor.
//
// The bytes (little-endian, version 1): "CTensor\0", version, total length, the fields in the order
// of the struct, FNV-1a of everything before. Nothing may follow.

#ifndef COLL_RUNTIME_EXCHANGE_TENSOR_HANDLE_H
#define COLL_RUNTIME_EXCHANGE_TENSOR_HANDLE_H

#include "runtime/exchange/reshard_plan.h"
#include "runtime/net/transport.h"

#include <string>
#include <string_view>
#include <vector>

namespace coll::rt::exchange {

inline constexpr uint32_t kTensorHandleVersion = 1;

struct TensorHandle {
  std::string owner; // its name, for messages
  CollDtype dtype = kCollF32;
  std::vector<int64_t> shape, strides; // elements; strides always as many as dimensions

  // Inside a node: the owner's socket (net/node_socket.h), and the question to send to it. Empty:
  // the tensor is not reachable in this way.
  std::string socket;
  uint64_t id = 0, key = 0;

  // Over a transport. If the name is empty, the tensor is not reachable in this way.
  std::string transport;
  net::Handle listener;
  // From the tensor's first element to its last. Key 0: the transport does not reach it, and the
  // owner's thread serves it (server.h).
  net::RemoteKey memory;

  std::string serialize() const;
  // kCollInvalidCall says what is wrong with the bytes: another kind, version or length, damage, or
  // an impossible tensor.
  static Result<TensorHandle> parse(std::string_view bytes);

  int64_t span() const; // bytes from the first element to the end of the last
};

// A tensor, or a slice of one, in memory of this process.
struct TensorView {
  CollDtype dtype = kCollF32;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides; // elements; none: row-major without gaps
  void *data = nullptr;
  // Its registration with the transport; null: each access over a transport registers it.
  const net::Memory *memory = nullptr;
};

// The view with its strides, and its span in bytes. kCollInvalidCall for an invalid view;
// `written`: elements must not overlap either.
struct CheckedView {
  TensorView view;
  int64_t span = 0;
};
Result<CheckedView> checkView(const TensorView &view, bool written);

} // namespace coll::rt::exchange

#endif // COLL_RUNTIME_EXCHANGE_TENSOR_HANDLE_H
