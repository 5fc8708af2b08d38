#include "runtime/net/handshake.h"

#include <cerrno>
#include <sys/socket.h>

namespace coll::net {

using wire::Refusal;

namespace {

std::string_view view(const uint8_t *bytes, size_t count) {
  return {reinterpret_cast<const char *>(bytes), count};
}

} // namespace

Handshake Handshake::client(Fd fd, const Secret &secret, wire::Purpose purpose,
                            const wire::Context &context) {
  Handshake shake(std::move(fd), secret, purpose);
  shake.hello_.purpose = purpose;
  shake.hello_.context = context;
  if (Status random = fillRandom(shake.hello_.nonce.data(), shake.hello_.nonce.size());
      !random.ok())
    shake.fail(random.code(), random.message());
  shake.send(wire::Hello::kBytes);
  encode(shake.hello_, shake.out_.data());
  std::copy(shake.out_.begin(), shake.out_.end(), shake.helloBytes_);
  shake.expect(Step::Challenge, wire::Challenge::kBytes);
  return shake;
}

Handshake Handshake::server(Fd fd, const Secret &secret, wire::Purpose purpose, Judge judge) {
  Handshake shake(std::move(fd), secret, purpose);
  shake.judge_ = std::move(judge);
  shake.expect(Step::Hello, wire::Hello::kBytes);
  return shake;
}

void Handshake::expect(Step step, size_t bytes) {
  step_ = step;
  in_.resize(bytes);
  received_ = 0;
}

void Handshake::fail(CollCode code, std::string message) {
  if (!failed_)
    failure_ = Status(code, std::move(message));
  failed_ = true;
  step_ = Step::End;
}

Handshake::State Handshake::advance() {
  while (true) {
    // A refusal is written before the failure is reported, so that the peer learns the reason.
    if (!flush())
      return failed_ ? State::Failed : State::Writing;
    if (failed_)
      return State::Failed;
    if (step_ == Step::End)
      return State::Done;
    if (!fill())
      return failed_ ? State::Failed : State::Reading;
    take();
  }
}

// Writes the pending bytes; false if some are left.
bool Handshake::flush() {
  while (sent_ < out_.size()) {
    ssize_t count =
        ::send(fd_.get(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && errno == EAGAIN)
      return false;
    if (count < 0) {
      fail(kCollLink, linkError("handshake", errno).message());
      return false;
    }
    sent_ += static_cast<size_t>(count);
  }
  return true;
}

// Reads the expected bytes; false if some are missing.
bool Handshake::fill() {
  while (received_ < in_.size()) {
    ssize_t count = ::recv(fd_.get(), in_.data() + received_, in_.size() - received_, MSG_DONTWAIT);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && errno == EAGAIN)
      return false;
    if (count <= 0) {
      fail(kCollLink, count == 0 ? "the peer hung up during the handshake"
                                 : linkError("handshake", errno).message());
      return false;
    }
    received_ += static_cast<size_t>(count);
  }
  return true;
}

void Handshake::take() {
  switch (step_) {
  case Step::Hello:
    return takeHello();
  case Step::Challenge:
    return takeChallenge();
  case Step::Proof:
    return takeProof();
  case Step::Verdict:
    return takeVerdict();
  case Step::End:
    return;
  }
}

Result<Mac> Handshake::proof(bool ofClient, std::string_view verdict) const {
  return secret_.sign(ofClient ? "coll client" : "coll server",
                      {view(helloBytes_, sizeof(helloBytes_)),
                       view(challengeBytes_, sizeof(challengeBytes_)), verdict});
}

//===-- server ------------------------------------------------------------------===//

void Handshake::takeHello() {
  std::optional<wire::Hello> hello = wire::decodeHello(in_.data());
  if (!hello || (hello->version == wire::kVersion && hello->purpose != purpose_))
    return fail(kCollPeer, "the peer uses another protocol");
  hello_ = *hello;
  std::copy(in_.begin(), in_.end(), helloBytes_);
  wire::Challenge challenge;
  if (hello->version != wire::kVersion)
    challenge.refusal = Refusal::WrongVersion;
  if (Status random = fillRandom(challenge.nonce.data(), challenge.nonce.size()); !random.ok())
    return fail(random.code(), random.message());
  send(wire::Challenge::kBytes);
  encode(challenge, out_.data());
  std::copy(out_.begin(), out_.end(), challengeBytes_);
  if (challenge.refusal != Refusal::None)
    return fail(kCollPeer, "the peer speaks version " + std::to_string(hello->version) +
                               ", this is version " + std::to_string(wire::kVersion));
  expect(Step::Proof, sizeof(Mac));
}

void Handshake::takeProof() {
  Mac given;
  std::copy(in_.begin(), in_.end(), given.begin());
  Result<Mac> wanted = proof(/*ofClient=*/true, {});
  if (!wanted.ok())
    return fail(wanted.status().code(), wanted.status().message());
  wire::Verdict verdict;
  bool proven = sameMac(given, *wanted);
  verdict.refusal = proven ? judge_(hello_.context) : Refusal::WrongSecret;
  send(wire::Verdict::kBytes);
  encode(verdict, out_.data());
  if (proven) {
    Result<Mac> mac = proof(false, view(out_.data(), wire::Verdict::kSignedBytes));
    if (!mac.ok())
      return fail(mac.status().code(), mac.status().message());
    verdict.mac = *mac;
    encode(verdict, out_.data());
  }
  if (verdict.refusal != Refusal::None)
    return fail(kCollPeer, wire::refusalText(verdict.refusal));
  step_ = Step::End;
}

//===-- client ------------------------------------------------------------------===//

void Handshake::takeChallenge() {
  std::optional<wire::Challenge> challenge = wire::decodeChallenge(in_.data());
  if (!challenge)
    return fail(kCollPeer, "the peer uses another protocol");
  if (challenge->refusal != Refusal::None || challenge->version != wire::kVersion)
    return fail(kCollPeer, "the peer speaks version " + std::to_string(challenge->version) +
                               ", this is version " + std::to_string(wire::kVersion));
  std::copy(in_.begin(), in_.end(), challengeBytes_);
  Result<Mac> mac = proof(/*ofClient=*/true, {});
  if (!mac.ok())
    return fail(mac.status().code(), mac.status().message());
  send(mac->size());
  std::copy(mac->begin(), mac->end(), out_.begin());
  expect(Step::Verdict, wire::Verdict::kBytes);
}

void Handshake::takeVerdict() {
  std::optional<wire::Verdict> verdict = wire::decodeVerdict(in_.data());
  if (!verdict)
    return fail(kCollPeer, "the peer uses another protocol");
  if (verdict->refusal == Refusal::WrongSecret)
    return fail(kCollPeer, wire::refusalText(verdict->refusal));
  Result<Mac> wanted = proof(false, view(in_.data(), wire::Verdict::kSignedBytes));
  if (!wanted.ok())
    return fail(wanted.status().code(), wanted.status().message());
  if (!sameMac(verdict->mac, *wanted))
    return fail(kCollPeer, "the peer does not know the job's secret");
  if (verdict->refusal != Refusal::None)
    // temporary, or permanent
    return fail(verdict->refusal == Refusal::Busy ? kCollLink : kCollPeer,
                wire::refusalText(verdict->refusal));
  step_ = Step::End;
}

} // namespace coll::net
