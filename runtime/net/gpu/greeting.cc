#include "runtime/net/gpu/greeting.h"

#include "runtime/net/wire.h"

#include <string>

namespace coll::net {

namespace {

constexpr uint32_t kMagic = 0x6c6c6f63;
constexpr uint32_t kVersion = 1; // version of the layout of scattered messages

std::string describe(uint32_t version, bool scatter) {
  return "version " + std::to_string(version) + ", COLL_NET_SCATTER=" + (scatter ? "1" : "0");
}

} // namespace

Status Greeting::start(Connection &connection, bool scatter) {
  scatter_ = scatter;
  wire::Encoder(mine_.data()).put(kMagic).put(kVersion).put(uint32_t(scatter));
  Segment in{theirs_.data(), theirs_.size(), nullptr}, out{mine_.data(), mine_.size(), nullptr};
  Result<Request *> expected = connection.irecv(&in, 1, kGreetingTag);
  if (!expected.ok())
    return expected.status();
  expected_ = *expected;
  Result<Request *> sent = connection.isend(&out, 1, kGreetingTag);
  if (!sent.ok())
    return sent.status();
  sent_ = *sent;
  return {};
}

Status Greeting::progress(Connection &connection) {
  if (sent_) {
    Result<Completion> completion = connection.test(sent_);
    if (!completion.ok() || completion->done)
      sent_ = nullptr;
  }
  if (!expected_)
    return {};
  Result<Completion> completion = connection.test(expected_);
  if (completion.ok() && !completion->done)
    return {};
  expected_ = nullptr;
  if (!completion.ok())
    return {}; // the caller's own requests will report it
  wire::Decoder decoder(theirs_.data());
  auto magic = decoder.get<uint32_t>();
  auto version = decoder.get<uint32_t>();
  auto scatter = decoder.get<uint32_t>();
  if (completion->bytes != kBytes || magic != kMagic || scatter > 1)
    return {kCollPeer, "the peer's greeting is malformed"};
  if (version != kVersion || (scatter == 1) != scatter_)
    return {kCollMismatch,
            "the peer uses another format of messages: " + describe(version, scatter == 1) +
                "; here " + describe(kVersion, scatter_)};
  return {};
}

} // namespace coll::net
