// message.h - the messages between ranks besides data: a rank's number, the call that it makes, and
// that it leaves or gives up.
//
// Everything that a decoder returns came from a peer that knows the job's secret. It is checked
// nevertheless: lengths against the bytes that arrived, numbers against their ranges.

#ifndef COLL_RUNTIME_BACKEND_NET_MESSAGE_H
#define COLL_RUNTIME_BACKEND_NET_MESSAGE_H

#include "runtime/backend/call/signature.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coll::rt::network {

// Tags of a connection below kFirstCallTag are for these messages; those of calls are
// hashes (see callTag).
inline constexpr uint64_t kHelloTag = 1;
inline constexpr uint64_t kControlTag = 2;
inline constexpr uint64_t kFirstCallTag = 1 << 10;

// The first message on a connection, from the side that connected.
struct Hello {
  static constexpr size_t kBytes = 8;
  uint32_t rank = 0;
};
std::array<uint8_t, Hello::kBytes> encode(const Hello &hello);
std::optional<Hello> decodeHello(const uint8_t *data, size_t bytes);

struct Control {
  enum class Type : uint8_t { Left = 1, Abort = 2 };
  static constexpr size_t kMaxBytes = 4096; // longer texts are cut

  Type type = Type::Left;
  uint64_t epoch = 0; // Left: the stretch of the program that has ended
  uint64_t sent = 0;  // Left: messages of calls sent on this connection so far
  Status cause;       // Abort
  uint64_t key = 0;   // Abort: of the call whose members all fail with the cause, or 0
};
std::vector<uint8_t> encode(const Control &control);
std::optional<Control> decodeControl(const uint8_t *data, size_t bytes);

// Precedes the data of small calls and of transfers.
struct CallHeader {
  static constexpr size_t kMaxBytes = 512; // longer texts are cut

  CallSignature signature;
  uint64_t sequence = 0; // transfers: the sender's number, which the answer repeats
  uint64_t payload = 0;  // bytes that follow in the same message
  std::string text;      // describe(call)
};
std::vector<uint8_t> encode(const CallHeader &header);
// `size` receives the header's own length.
std::optional<CallHeader> decodeCall(const uint8_t *data, size_t bytes, size_t &size);

// 64-bit mixing (splitmix64, public domain, by S. Vigna).
uint64_t mix(uint64_t a, uint64_t b);
// The tag of all messages of one call. It equals another one's with a probability of 2^-64.
uint64_t callTag(uint64_t group, uint64_t number);
// Hash of a rank list.
uint64_t groupHash(const std::vector<int> &ranks);

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_MESSAGE_H
