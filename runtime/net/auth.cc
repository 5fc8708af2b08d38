#include "runtime/net/auth.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

namespace coll::net {

Result<Secret> Secret::create(std::string_view text) {
  if (text.size() < kMinBytes)
    return Status::invalid("a job's secret (COLL_SECRET) needs at least " +
                           std::to_string(kMinBytes) + " characters, it has " +
                           std::to_string(text.size()));
  return Secret(text);
}

Secret::~Secret() { OPENSSL_cleanse(key_.data(), key_.size()); }

Result<Mac> Secret::sign(std::string_view label, const std::vector<std::string_view> &parts) const {
  std::string message(label);
  message.push_back('\0');
  for (std::string_view part : parts)
    message += part;
  Mac mac;
  unsigned length = 0;
  if (!HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
            reinterpret_cast<const unsigned char *>(message.data()), message.size(), mac.data(),
            &length) ||
      length != mac.size())
    return Status(kCollDevice, "OpenSSL cannot compute HMAC-SHA256");
  return mac;
}

bool sameMac(const Mac &a, const Mac &b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Status fillRandom(void *data, size_t bytes) {
  if (RAND_bytes(static_cast<unsigned char *>(data), static_cast<int>(bytes)) != 1)
    return {kCollDevice, "OpenSSL has no random bytes"};
  return {};
}

} // namespace coll::net
