#include "runtime/net/socket.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <ctime>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <thread>

namespace coll::net {

int64_t nowNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

int64_t nowUs() { return nowNs() / 1000; }

Status linkError(std::string_view what, int error) {
  return {kCollLink, std::string(what) + ": " + std::strerror(error)};
}

//===-- addresses ---------------------------------------------------------------===//

Result<Address> Address::parse(std::string_view text) {
  size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0)
    return Status::invalid("\"" + std::string(text) + "\" is not host:port");
  std::string host(text.substr(0, colon)), port(text.substr(colon + 1));
  if (host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string::npos)
    return Status::invalid("the IPv6 address in \"" + std::string(text) + "\" needs brackets");
  uint16_t number = 0;
  auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size())
    return Status::invalid("\"" + port + "\" is not a port");
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo *found = nullptr;
  if (int code = getaddrinfo(host.c_str(), port.c_str(), &hints, &found))
    return Status(kCollLink, "host \"" + host + "\": " + gai_strerror(code));
  Address address;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  address.length = found->ai_addrlen;
  freeaddrinfo(found);
  return address;
}

std::string Address::toString() const {
  char host[INET6_ADDRSTRLEN] = "?";
  if (family() == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in &>(storage).sin_addr, host,
              sizeof(host));
    return std::string(host) + ":" + std::to_string(port());
  }
  inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6 &>(storage).sin6_addr, host,
            sizeof(host));
  return "[" + std::string(host) + "]:" + std::to_string(port());
}

std::string Address::host() const {
  const std::string text = toString();
  return text.substr(0, text.rfind(':'));
}

uint16_t Address::port() const {
  return family() == AF_INET ? ntohs(reinterpret_cast<const sockaddr_in &>(storage).sin_port)
                             : ntohs(reinterpret_cast<const sockaddr_in6 &>(storage).sin6_port);
}

void Address::setPort(uint16_t port) {
  if (family() == AF_INET)
    reinterpret_cast<sockaddr_in &>(storage).sin_port = htons(port);
  else
    reinterpret_cast<sockaddr_in6 &>(storage).sin6_port = htons(port);
}

//===-- interfaces --------------------------------------------------------------===//

namespace {

// The bytes of the host part: 4 or 16.
std::pair<const uint8_t *, size_t> hostBytes(const Address &address) {
  if (address.family() == AF_INET)
    return {reinterpret_cast<const uint8_t *>(
                &reinterpret_cast<const sockaddr_in &>(address.storage).sin_addr),
            4};
  return {reinterpret_cast<const uint8_t *>(
              &reinterpret_cast<const sockaddr_in6 &>(address.storage).sin6_addr),
          16};
}

bool isLinkLocal(const Address &address) {
  return address.family() == AF_INET6 &&
         IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6 &>(address.storage).sin6_addr);
}

std::vector<Interface> allInterfaces() {
  std::vector<Interface> all;
  ifaddrs *first = nullptr;
  if (getifaddrs(&first) != 0)
    return all;
  for (ifaddrs *it = first; it; it = it->ifa_next) {
    if (!it->ifa_addr || !(it->ifa_flags & IFF_UP))
      continue;
    int family = it->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6)
      continue;
    Interface interface;
    interface.name = it->ifa_name;
    interface.loopback = (it->ifa_flags & IFF_LOOPBACK) != 0;
    interface.address.length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::memcpy(&interface.address.storage, it->ifa_addr, interface.address.length);
    all.push_back(std::move(interface));
  }
  freeifaddrs(first);
  std::stable_sort(all.begin(), all.end(), [](const Interface &a, const Interface &b) {
    return a.address.family() == AF_INET && b.address.family() == AF_INET6;
  });
  return all;
}

// "10.1.0.0/16" or "fd00::/8".
struct Subnet {
  uint8_t bytes[16] = {};
  size_t size = 0;
  unsigned bits = 0;

  static Result<Subnet> parse(const std::string &text) {
    Subnet subnet;
    size_t slash = text.find('/');
    std::string host = text.substr(0, slash), bits = text.substr(slash + 1);
    if (inet_pton(AF_INET, host.c_str(), subnet.bytes) == 1)
      subnet.size = 4;
    else if (inet_pton(AF_INET6, host.c_str(), subnet.bytes) == 1)
      subnet.size = 16;
    auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), subnet.bits);
    if (subnet.size == 0 || error != std::errc() || end != bits.data() + bits.size() ||
        subnet.bits > subnet.size * 8)
      return Status::invalid("\"" + text + "\" is not a subnet");
    return subnet;
  }

  bool contains(const Address &address) const {
    auto [host, hostSize] = hostBytes(address);
    if (hostSize != size)
      return false;
    for (unsigned bit = 0; bit < bits; ++bit)
      if ((host[bit / 8] ^ bytes[bit / 8]) & (0x80u >> (bit % 8)))
        return false;
    return true;
  }
};

bool sameAddress(const Interface &a, const Interface &b) {
  auto [left, leftSize] = hostBytes(a.address);
  auto [right, rightSize] = hostBytes(b.address);
  return leftSize == rightSize && std::memcmp(left, right, leftSize) == 0 && a.name == b.name;
}

void append(std::vector<Interface> &chosen, const Interface &candidate) {
  for (const Interface &known : chosen)
    if (sameAddress(known, candidate))
      return;
  chosen.push_back(candidate);
}

// Adds the interfaces that one entry of the choice names.
Status addChosen(const std::string &entry, const std::vector<Interface> &all,
                 std::vector<Interface> &chosen) {
  Subnet subnet;
  bool isSubnet = entry.find('/') != std::string::npos;
  if (isSubnet) {
    Result<Subnet> parsed = Subnet::parse(entry);
    if (!parsed.ok())
      return parsed.status().annotate("interface choice");
    subnet = *parsed;
  }
  for (const Interface &interface : all)
    if (isSubnet ? subnet.contains(interface.address)
                 : interface.name == entry && !isLinkLocal(interface.address))
      append(chosen, interface);
  return {};
}

} // namespace

Result<std::vector<Interface>> findInterfaces(const std::string &choice) {
  std::vector<Interface> all = allInterfaces(), chosen;
  if (choice.empty()) {
    for (bool loopback : {false, true})
      for (const Interface &interface : all)
        if (interface.loopback == loopback && !isLinkLocal(interface.address) &&
            (!loopback || chosen.empty()))
          append(chosen, interface);
  }
  for (size_t begin = 0; begin < choice.size();) {
    size_t end = std::min(choice.find(',', begin), choice.size());
    COLL_RETURN_IF_ERROR(addChosen(choice.substr(begin, end - begin), all, chosen));
    begin = end + 1;
  }
  if (chosen.empty())
    return Status(kCollDevice, choice.empty()
                                   ? "no network interface is up"
                                   : "no interface that is up matches \"" + choice + "\"");
  return chosen;
}

//===-- sockets -----------------------------------------------------------------===//

Result<Fd> listenOn(const Address &address) {
  Fd fd(socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid())
    return linkError("socket", errno);
  int one = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  if (bind(fd.get(), reinterpret_cast<const sockaddr *>(&address.storage), address.length) != 0)
    return linkError("bind to " + address.toString(), errno);
  if (listen(fd.get(), 1024) != 0)
    return linkError("listen on " + address.toString(), errno);
  return fd;
}

Result<Address> localAddress(const Fd &fd) {
  Address address;
  address.length = sizeof(address.storage);
  if (getsockname(fd.get(), reinterpret_cast<sockaddr *>(&address.storage), &address.length) != 0)
    return linkError("getsockname", errno);
  return address;
}

Result<Address> peerAddress(const Fd &fd) {
  Address address;
  address.length = sizeof(address.storage);
  if (getpeername(fd.get(), reinterpret_cast<sockaddr *>(&address.storage), &address.length) != 0)
    return linkError("getpeername", errno);
  return address;
}

void acceptWaiting(const Fd &listener, const std::function<void(Fd)> &welcome,
                   const std::function<bool()> &makeRoom) {
  for (int turn = 0; turn < 64; ++turn) {
    Fd fd(accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd.valid()) {
      welcome(std::move(fd));
      continue;
    }
    if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM)
      return;
    if (!makeRoom()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return;
    }
  }
}

Result<Fd> startConnect(const Address &peer) {
  Fd fd(socket(peer.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid())
    return linkError("socket", errno);
  if (connect(fd.get(), reinterpret_cast<const sockaddr *>(&peer.storage), peer.length) != 0 &&
      errno != EINPROGRESS)
    return linkError("connect to " + peer.toString(), errno);
  return fd;
}

Status connectOutcome(int fd) {
  int error = 0;
  socklen_t length = sizeof(error);
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
    error = errno;
  return error ? linkError("connect", error) : Status();
}

void setStreamOptions(const Fd &fd, int64_t timeoutUs) {
  int one = 1, idleSeconds = 10, intervalSeconds = 5, probes = 3;
  unsigned timeoutMs =
      static_cast<unsigned>(std::clamp<int64_t>(timeoutUs / 1000, 1000, 3'600'000));
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
  setsockopt(fd.get(), IPPROTO_TCP, TCP_KEEPIDLE, &idleSeconds, sizeof(idleSeconds));
  setsockopt(fd.get(), IPPROTO_TCP, TCP_KEEPINTVL, &intervalSeconds, sizeof(intervalSeconds));
  setsockopt(fd.get(), IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
  setsockopt(fd.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &timeoutMs, sizeof(timeoutMs));
}

bool staysHere(const Fd &fd) {
  Result<Address> own = localAddress(fd), peer = peerAddress(fd);
  if (!own.ok() || !peer.ok())
    return false;
  peer->setPort(own->port());
  return peer->length == own->length &&
         std::memcmp(&peer->storage, &own->storage, peer->length) == 0;
}

void setSendBuffer(const Fd &fd, int bytes) {
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

} // namespace coll::net
