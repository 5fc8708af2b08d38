#include "runtime/net/listener_handle.h"

#include <cstring>
#include <netinet/in.h>

namespace coll::net {

void encode(const ListenerHandle &handle, wire::Encoder &encoder) {
  uint8_t address[16] = {};
  uint32_t scope = 0;
  const sockaddr_storage &storage = handle.address.storage;
  const bool isV4 = handle.address.family() == AF_INET;
  if (isV4) {
    std::memcpy(address, &reinterpret_cast<const sockaddr_in &>(storage).sin_addr, 4);
  } else {
    const auto &v6 = reinterpret_cast<const sockaddr_in6 &>(storage);
    std::memcpy(address, &v6.sin6_addr, 16);
    scope = v6.sin6_scope_id;
  }
  encoder.put(static_cast<uint8_t>(isV4 ? 4 : 6))
      .put(handle.address.port())
      .put(address, sizeof(address))
      .put(scope)
      .put(handle.listener)
      .put(static_cast<uint8_t>(handle.secret ? 1 : 0));
  if (handle.secret)
    encoder.put(handle.secret->data(), handle.secret->size());
}

std::optional<ListenerHandle> decodeListener(wire::Decoder &decoder) {
  ListenerHandle handle;
  const uint8_t family = decoder.get<uint8_t>();
  const uint16_t port = decoder.get<uint16_t>();
  uint8_t address[16];
  decoder.get(address, sizeof(address));
  const uint32_t scope = decoder.get<uint32_t>();
  handle.listener = decoder.get<uint64_t>();
  const uint8_t hasSecret = decoder.get<uint8_t>();
  if ((family != 4 && family != 6) || hasSecret > 1)
    return std::nullopt;
  if (hasSecret)
    decoder.get(handle.secret.emplace().data(), handle.secret->size());
  if (family == 4) {
    auto &v4 = reinterpret_cast<sockaddr_in &>(handle.address.storage);
    v4.sin_family = AF_INET;
    std::memcpy(&v4.sin_addr, address, 4);
    handle.address.length = sizeof(v4);
  } else {
    auto &v6 = reinterpret_cast<sockaddr_in6 &>(handle.address.storage);
    v6.sin6_family = AF_INET6;
    std::memcpy(&v6.sin6_addr, address, 16);
    v6.sin6_scope_id = scope;
    handle.address.length = sizeof(v6);
  }
  handle.address.setPort(port);
  return handle;
}

Result<Secret> nameListener(const Fd &socket, const std::optional<Secret> &ofJob,
                            ListenerHandle &handle) {
  Result<Address> local = localAddress(socket);
  if (!local.ok())
    return local.status();
  handle.address = *local;
  COLL_RETURN_IF_ERROR(fillRandom(&handle.listener, sizeof(handle.listener)));
  if (!ofJob)
    COLL_RETURN_IF_ERROR(fillRandom(handle.secret.emplace().data(), handle.secret->size()));
  return secretFor(ofJob, handle);
}

Result<Secret> secretFor(const std::optional<Secret> &ofJob, const ListenerHandle &handle) {
  if (ofJob.has_value() == handle.secret.has_value())
    return Status::invalid(ofJob ? "this process has a COLL_SECRET, the listener has none"
                                 : "the listener has a COLL_SECRET, this process has none");
  if (ofJob)
    return *ofJob;
  return Secret::create(
      {reinterpret_cast<const char *>(handle.secret->data()), handle.secret->size()});
}

} // namespace coll::net
