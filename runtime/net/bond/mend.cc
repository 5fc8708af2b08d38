// Connects failed links again.
//
//   accepting end                               connecting end
//   waits until both ends have closed the link, and a while longer
//   listens for this one link
//   Invite: try number, handle  ->              connects, proves the secret
//                               <- over the new link: LinkHello
//   Joined: try number          ->              both use it
//
// Invite and Joined are numbered frames over the working links, and so is Decline, which the
// connecting end sends if it cannot connect. So frames that name the new link come after those that
// name the old one.

#include "runtime/net/bond/connection.h"

#include "runtime/base/log.h"
#include "runtime/net/bond/mailbox.h"
#include "runtime/net/socket.h"

#include <algorithm>
#include <cstring>

namespace coll::net::bond {

namespace {

constexpr int64_t kStepUs = 1000;
// A link that fails sooner than this keeps its count of attempts.
constexpr int64_t kSteadyUs = 10'000'000;

} // namespace

// Whether a failed link is to be retried.
bool BondConnection::isMending() const {
  if (closed_)
    return false;
  auto isOut = [this](const Rail &rail) {
    return !rail.isUp && (rail.mend || (identity_.isAcceptor &&
                                        rail.retries < identity_.shared->options.maxRetries));
  };
  auto end = rails_.begin() + static_cast<ptrdiff_t>(identity_.rails);
  return std::any_of(rails_.begin(), end, isOut);
}

void BondConnection::mend() {
  const int64_t now = nowUs();
  if (now < nextMendUs_)
    return;
  nextMendUs_ = now + kStepUs;
  for (size_t i = 0; i < identity_.rails && !over_; ++i) {
    Rail &rail = rails_[i];
    if (rail.isUp)
      continue;
    if (!rail.mend && identity_.isAcceptor && rail.isClosed && rail.peerClosed)
      invite(i, now);
    if (!rail.mend)
      continue;
    Status outcome = identity_.isAcceptor ? welcome(i) : sendHello(rail, i);
    if (outcome.ok() && rail.mend && now > rail.mend->deadlineUs)
      outcome = {kCollTimeout, "timed out waiting for the link"};
    if (!outcome.ok())
      giveUp(i, outcome);
  }
}

// Ends one attempt.
void BondConnection::giveUp(size_t number, const Status &why) {
  Rail &rail = rails_[number];
  rail.mend.reset();
  const bool isLast = identity_.isAcceptor && rail.retries >= identity_.shared->options.maxRetries;
  rt::log(isLast ? rt::LogLevel::Warn : rt::LogLevel::Info,
          name(number) + (isLast ? " is not tried again: " : " is not back: ") + why.message());
  if (identity_.isAcceptor)
    return;
  Frame frame;
  frame.type = FrameType::Decline;
  frame.rails[0] = static_cast<uint8_t>(number);
  frame.id = rail.attempt;
  push(frame);
}

// Starts using the new link.
void BondConnection::raise(size_t number, std::unique_ptr<Connection> link) {
  Rail &rail = rails_[number];
  rt::log(rt::LogLevel::Warn, name(number) + " is back");
  rail.link = std::move(link); // destroys the old link, so nothing uses its memory any more
  rail.memory.clear();
  rail.slots.clear();
  rail.unposted.clear();
  rail.sending.clear();
  rail.sent = rail.arrived = rail.came = rail.joined = 0;
  rail.isUp = true;
  rail.isClosed = rail.peerClosed = false;
  rail.upUs = nowUs();
  if (Status posted = postSlots(rail); !posted.ok())
    railFailed(number, posted);
}

//===-- the accepting end -------------------------------------------------------===//

void BondConnection::invite(size_t number, int64_t now) {
  Rail &rail = rails_[number];
  const BondOptions &options = identity_.shared->options;
  if (rail.retries >= options.maxRetries)
    return;
  if (rail.nextUs == 0)
    rail.nextUs = now + std::min(options.maxRetryUs, options.retryUs << std::min(rail.retries, 20));
  if (now < rail.nextUs)
    return;
  rail.nextUs = 0;
  Transport &inner = *identity_.shared->inner;
  if (!inner.isUp(identity_.below(number)))
    return; // no attempt was made, so none is counted
  ++rail.retries;
  Result<std::unique_ptr<Listener>> listener = inner.listen(identity_.below(number));
  if (!listener.ok())
    return giveUp(number, listener.status());
  rail.mend = std::make_unique<Mend>();
  rail.mend->deadlineUs = now + options.joinTimeoutUs;
  rail.mend->listener = listener.take();
  Frame frame;
  frame.type = FrameType::Invite;
  frame.rails[0] = static_cast<uint8_t>(number);
  frame.id = ++rail.attempt;
  push(frame, rail.mend->listener->handle().bytes.data(), Handle::kBytes);
}

// Accepts the incoming link and reads its message.
Status BondConnection::welcome(size_t number) {
  Rail &rail = rails_[number];
  Mend &mend = *rail.mend;
  if (!mend.candidate) {
    Result<std::unique_ptr<Connection>> came = mend.listener->accept();
    if (!came.ok() || !*came)
      return came.status();
    mend.candidate = std::make_unique<Mailbox>(came.take());
  }
  std::vector<uint8_t> in;
  Result<bool> said = mend.candidate->get(in);
  if (!said.ok() || !*said)
    return said.status();
  std::optional<LinkHello> hello = decodeLinkHello(in.data(), in.size());
  if (!hello || hello->id != identity_.id || hello->rail != number) {
    mend.candidate.reset(); // it is not the invited link
    return {};
  }
  std::unique_ptr<Connection> link = mend.candidate->take();
  rail.mend.reset();
  if (!identity_.shared->inner->isUp(identity_.below(number)))
    return {kCollLink, "its device is down"};
  Frame frame;
  frame.type = FrameType::Joined;
  frame.rails[0] = static_cast<uint8_t>(number);
  frame.id = rail.attempt;
  push(frame);
  const uint64_t joined = lastSent_;
  raise(number, std::move(link));
  rail.joined = joined; // the peer uses the link only from then on
  return {};
}

Status BondConnection::onDecline(const Frame &frame) {
  const size_t number = frame.rails[0];
  if (!identity_.isAcceptor || number >= identity_.rails || frame.id > rails_[number].attempt)
    return violation("an attempt that was not requested");
  // An older attempt has already ended.
  if (rails_[number].mend && frame.id == rails_[number].attempt)
    giveUp(number, {kCollLink, "the peer cannot connect it"});
  return {};
}

//===-- the connecting end ------------------------------------------------------===//

Status BondConnection::onInvite(const Frame &frame, const uint8_t *payload) {
  const size_t number = frame.rails[0];
  if (identity_.isAcceptor || number >= identity_.rails || !rails_[number].isClosed ||
      !rails_[number].peerClosed || frame.id <= rails_[number].attempt)
    return violation("an invitation for a link that has not failed");
  Rail &rail = rails_[number];
  rail.attempt = frame.id;
  rail.isInvited = true;
  rail.mend.reset(); // the peer has given up that attempt
  Transport &inner = *identity_.shared->inner;
  if (!inner.isUp(identity_.below(number)))
    return giveUp(number, {kCollLink, "its device is down"}), Status();
  Handle handle;
  std::memcpy(handle.bytes.data(), payload, Handle::kBytes);
  Result<std::unique_ptr<Connector>> connector = inner.connect(identity_.below(number), handle);
  if (!connector.ok())
    return giveUp(number, connector.status()), Status();
  rail.mend = std::make_unique<Mend>();
  rail.mend->deadlineUs = nowUs() + identity_.shared->options.joinTimeoutUs;
  rail.mend->connector = connector.take();
  return {};
}

// Connects the link, and sends the message that names its connection.
Status BondConnection::sendHello(Rail &rail, size_t number) {
  Mend &mend = *rail.mend;
  if (!mend.link) {
    Result<std::unique_ptr<Connection>> made = mend.connector->poll();
    if (!made.ok() || !*made)
      return made.status();
    if (!identity_.shared->inner->isUp(identity_.below(number)))
      return {kCollLink, "its device is down"};
    mend.link = made.take();
  }
  if (!mend.hello) {
    LinkHello hello;
    hello.id = identity_.id;
    hello.rail = static_cast<uint8_t>(number);
    auto outgoing = std::make_shared<Outgoing>();
    outgoing->bytes = encode(hello);
    Segment all{outgoing->bytes.data(), outgoing->bytes.size(), nullptr};
    Result<Request *> sent = mend.link->isend(&all, 1, kSetupTag);
    if (!sent.ok() || !*sent)
      return sent.status();
    outgoing->below = *sent;
    mend.hello = std::move(outgoing);
  }
  if (!mend.hello->below)
    return {};
  Result<Completion> left = mend.link->test(mend.hello->below);
  if (!left.ok() || left->done)
    mend.hello->below = nullptr;
  return left.status();
}

Status BondConnection::onJoined(const Frame &frame) {
  const size_t number = frame.rails[0];
  if (identity_.isAcceptor || number >= identity_.rails || !rails_[number].isInvited ||
      frame.id != rails_[number].attempt)
    return violation("a link that was not requested");
  Rail &rail = rails_[number];
  rail.isInvited = false;
  std::unique_ptr<Mend> mend = std::move(rail.mend);
  if (!mend || !mend->hello) { // both ends gave up at the same time
    rail.peerClosed = false;
    Frame down;
    down.type = FrameType::Down;
    down.rails[0] = static_cast<uint8_t>(number);
    push(down);
    return {};
  }
  raise(number, std::move(mend->link));
  if (rail.isUp && mend->hello->below)
    rail.sending.push_back(std::move(mend->hello));
  return {};
}

// Sets the pause before a failed link is retried, depending on how long it was up.
void BondConnection::forgive(Rail &rail) {
  if (nowUs() - rail.upUs > kSteadyUs)
    rail.retries = 0;
  rail.nextUs = 0;
}

} // namespace coll::net::bond
