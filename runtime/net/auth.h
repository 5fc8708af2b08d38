// auth.h - the job's secret, and proofs that a peer knows it. Any thread may call it.

#ifndef COLL_RUNTIME_NET_AUTH_H
#define COLL_RUNTIME_NET_AUTH_H

#include "runtime/base/status.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coll::net {

using rt::Result;
using rt::Status;

using Nonce = std::array<uint8_t, 32>;
using Mac = std::array<uint8_t, 32>;

// The key that all processes of a job share. It is never logged, and wiped when it is destroyed.
class Secret {
public:
  static constexpr size_t kMinBytes = 16;

  // kCollInvalidCall if the secret has fewer than kMinBytes.
  static Result<Secret> create(std::string_view text);
  Secret(const Secret &) = default;
  Secret(Secret &&) = default;
  Secret &operator=(const Secret &) = default;
  Secret &operator=(Secret &&) = default;
  ~Secret();

  // HMAC-SHA256 (RFC 2104) of `label`, a zero byte, and the parts in order. The
  // labels keep proofs of different kinds apart; each kind has parts of fixed sizes.
  Result<Mac> sign(std::string_view label, const std::vector<std::string_view> &parts) const;

private:
  explicit Secret(std::string_view text) : key_(text) {}
  std::string key_;
};

// Takes the same time for any position of the first difference.
bool sameMac(const Mac &a, const Mac &b);

// Unpredictable bytes.
Status fillRandom(void *data, size_t bytes);

} // namespace coll::net

#endif // COLL_RUNTIME_NET_AUTH_H
