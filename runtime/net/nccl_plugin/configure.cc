#include "runtime/net/nccl_plugin/configure.h"

#include "runtime/base/env.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

namespace coll::net::nccl {

using rt::Status;

namespace {

bool sameWord(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

std::optional<int64_t> numberOf(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

bool isZero(std::string_view text) { return text == "0"; }
bool isSimple(std::string_view text) { return sameWord(text, "Simple"); }
bool isRing(std::string_view text) { return sameWord(text, "Ring"); }
// NCCL accepts a name, or a number; 5 and more mean the same as the name.
bool isSystemLevel(std::string_view text) { return sameWord(text, "SYS") || text == "5"; }

// NCCL divides a channel's buffer into 8 steps; a receive is one or two steps, and a bounce slot
// has 4 MiB.
bool isSmallBuffer(std::string_view text) {
  std::optional<int64_t> value = numberOf(text);
  return value && *value <= 16 << 20;
}

// If the user has set one of these, the plugin does not change them.
constexpr const char *kChannelVariables[] = {
    "NCCL_MIN_NCHANNELS",     "NCCL_MAX_NCHANNELS",     "NCCL_MIN_CTAS",          "NCCL_MAX_CTAS",
    "NCCL_MIN_P2P_NCHANNELS", "NCCL_MAX_P2P_NCHANNELS", "NCCL_P2P_NET_CHUNKSIZE", "NCCL_BUFFSIZE"};
constexpr const char *kPerPeer = "NCCL_NCHANNELS_PER_NET_PEER";
constexpr int64_t kMaxChannels = 32;

} // namespace

const std::vector<NcclVariable> &unpackVariables() {
  static const std::vector<NcclVariable> variables = {
      {"NCCL_PROTO", "Simple", "the LL protocols do not unpack, and NCCL then hangs", isSimple},
      {"NCCL_ALGO", "Ring", "a tree has up to 3 peers, NCCL's unpack queues 2", isRing},
      {"NCCL_PAT_ENABLE", "0", "the PAT algorithm does not unpack, and gives wrong data", isZero},
      {"NCCL_LOCAL_REGISTER", "0", "registered buffers bypass the unpacking kernel", isZero},
      {"NCCL_GRAPH_REGISTER", "0", "registered buffers bypass the unpacking kernel", isZero},
      {"NCCL_NET_GDR_LEVEL", "SYS", "receives have to name GPU memory, wherever the NIC is",
       isSystemLevel},
      {"NCCL_NET_GDR_READ", "0", "sends start in host memory", isZero},
      {"NCCL_BUFFSIZE", nullptr, "a receive has at most 4 MiB", isSmallBuffer},
  };
  return variables;
}

bool configureChannels(int64_t channels) {
  for (const char *name : kChannelVariables)
    if (channels <= 0 || rt::foreignEnv(name))
      return false;
  const std::optional<std::string> perPeer = rt::foreignEnv(kPerPeer);
  const int64_t wanted = perPeer ? numberOf(*perPeer).value_or(0) : channels;
  if (wanted <= 0)
    return false;
  std::string count = std::to_string(std::min(wanted, kMaxChannels));
  rt::setForeignEnv("NCCL_MIN_P2P_NCHANNELS", count.c_str());
  rt::setForeignEnv("NCCL_P2P_NET_CHUNKSIZE", "524288");
  if (!perPeer)
    rt::setForeignEnv(kPerPeer, count.c_str());
  return !perPeer;
}

Status configureForUnpack() {
  for (const NcclVariable &variable : unpackVariables())
    if (std::optional<std::string> text = rt::foreignEnv(variable.name);
        text && !variable.accepts(*text))
      return Status::invalid(
          "UNPACK mode cannot work with " + std::string(variable.name) + "=" + *text + " (" +
          variable.why + "): unset it" +
          (variable.value ? " or set it to " + std::string(variable.value) : std::string()) +
          ", or set COLL_NET_DEVICE_UNPACK=0");
  for (const NcclVariable &variable : unpackVariables())
    if (variable.value && !rt::foreignEnv(variable.name))
      rt::setForeignEnv(variable.name, variable.value);
  return {};
}

} // namespace coll::net::nccl
