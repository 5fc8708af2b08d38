// Numbered frames: chooses the link of each, keeps copies until they are acknowledged, and restores
// their order at the receiver.

#include "runtime/net/bond/connection.h"

#include <cstring>

namespace coll::net::bond {

namespace {

constexpr size_t kMaxSending = 64; // frames that one link has in flight
constexpr uint64_t kAckFrames = 32;
// How many frames a link may be behind another before the other one is used. While a link keeps up,
// it is used alone: it then writes several frames at once, and they arrive in order.
constexpr uint64_t kBurst = 32;

} // namespace

// ===-- sending -----------------------------------------------------------------===//

void BondConnection::push(const Frame &frame, const uint8_t *payload, size_t bytes) {
  auto outgoing = std::make_shared<Outgoing>();
  outgoing->frame = frame;
  outgoing->frame.sequence = ++lastSent_;
  outgoing->bytes.resize(Frame::kBytes + bytes);
  if (bytes > 0)
    std::memcpy(outgoing->bytes.data() + Frame::kBytes, payload, bytes);
  unacked_.push_back(std::move(outgoing));
}

// Sends the request's message with the frame.
void BondConnection::pushEager(const Frame &frame, BondRequest &request) {
  push(frame);
  Outgoing &outgoing = *unacked_.back();
  outgoing.request = &request;
  outgoing.bytes.resize(Frame::kBytes + request.total);
  request.gather(outgoing.bytes.data() + Frame::kBytes);
}

// Chooses the link for the next frame, except those in `full` (bits); nullopt if there is none. It
// is the link of the last frame while that is not far behind, else the link with the least in
// flight. With nothing in flight it is the first link.
std::optional<size_t> BondConnection::frameRail(uint32_t full) const {
  std::optional<size_t> least, unknown;
  bool isAnyKnown = false, isLastFree = false;
  for (size_t i = 0; i < rails_.size(); ++i) {
    const Rail &rail = rails_[i];
    if (!rail.isUp)
      continue;
    const bool isKnown = rail.joined <= acked_; // known to the peer
    isAnyKnown |= isKnown;
    if (full >> i & 1)
      continue;
    if (!isKnown)
      unknown = i;
    else if (!least || rail.onTheWay() < rails_[*least].onTheWay())
      least = i;
    isLastFree |= isKnown && i == control_;
  }
  if (!least)
    return isAnyKnown ? std::nullopt : unknown;
  const uint64_t onTheWay = rails_[control_].onTheWay();
  if (isLastFree && onTheWay > 0 && onTheWay < rails_[*least].onTheWay() + kBurst)
    return control_;
  return least;
}

// Gives a frame to a link. False if no link has room. Otherwise its `rail` is the link that has it;
// without a link, the chosen link has failed, or was added to `full`.
bool BondConnection::hand(const std::shared_ptr<Outgoing> &outgoing, uint32_t &full) {
  const std::optional<size_t> number = frameRail(full);
  if (!number)
    return false;
  Rail &rail = rails_[*number];
  Frame &frame = outgoing->frame;
  frame.ack = received_;
  frame.takenMessages = tookMessages_;
  frame.takenBytes = tookBytes_;
  for (size_t i = 0; i < rails_.size(); ++i)
    frame.came[i] = static_cast<uint16_t>(rails_[i].came);
  encode(frame, outgoing->bytes.data());
  Segment all{outgoing->bytes.data(), outgoing->bytes.size(), nullptr};
  Result<Request *> sent(nullptr);
  if (rail.sending.size() < kMaxSending)
    sent = rail.link->isend(&all, 1, kFrameTag);
  if (!sent.ok())
    return railFailed(*number, sent.status()), true;
  if (!*sent) {
    full |= 1u << *number;
    return true;
  }
  control_ = *number;
  rail.sent += frame.sequence > 0 ? 1 : 0;
  toldReceived_ = received_;
  toldMessages_ = tookMessages_;
  toldBytes_ = tookBytes_;
  outgoing->rail = static_cast<uint8_t>(*number);
  outgoing->below = *sent;
  rail.sending.push_back(outgoing);
  return true;
}

void BondConnection::flush() {
  uint32_t full = 0;
  while (!over_ && next_ < unacked_.size() &&
         unacked_[next_]->frame.sequence <= acked_ + kWindowFrames) {
    if (unacked_[next_]->rail != kNoRail)
      ++next_;
    else if (!hand(unacked_[next_], full))
      break;
  }
  if (over_ || (received_ - toldReceived_ < kAckFrames &&
                tookMessages_ - toldMessages_ < kWindowMessages / 4 &&
                tookBytes_ - toldBytes_ < kWindowBytes / 4))
    return;
  auto ack = std::make_shared<Outgoing>();
  ack->bytes.resize(Frame::kBytes);
  (void)hand(ack, full); // if no link has room, the acknowledgement is sent later
}

// Handles frames that a link has sent.
void BondConnection::finishSends(size_t number) {
  Rail &rail = rails_[number];
  while (!rail.sending.empty()) {
    Outgoing &outgoing = *rail.sending.front();
    Result<Completion> left = rail.link->test(outgoing.below);
    if (!left.ok())
      return railFailed(number, left.status());
    if (!left->done)
      return;
    outgoing.below = nullptr;
    if (BondRequest *request = std::exchange(outgoing.request, nullptr))
      request->finish();
    rail.sending.pop_front();
  }
}

// Frames that were sent over a link that is now closed are sent over another one.
void BondConnection::takeBack(size_t number) {
  for (const std::shared_ptr<Outgoing> &outgoing : unacked_)
    if (outgoing->rail == number) {
      outgoing->rail = kNoRail;
      outgoing->below = nullptr;
    }
  next_ = 0;
  toldReceived_ = toldMessages_ = toldBytes_ = 0;
}

// ===-- receiving ---------------------------------------------------------------===//

// Frames of different links may carry outdated acknowledgements.
void BondConnection::acknowledge(const Frame &frame) {
  for (; acked_ < frame.ack; ++acked_) {
    if (BondRequest *request = std::exchange(unacked_.front()->request, nullptr))
      request->finish();
    if (const Frame &taken = unacked_.front()->frame; taken.type == FrameType::Eager) {
      ++ackedMessages_;
      ackedBytes_ += taken.bytes;
    }
    unacked_.pop_front();
    next_ -= next_ > 0 ? 1 : 0;
  }
  peerTookMessages_ = std::max(peerTookMessages_, frame.takenMessages);
  peerTookBytes_ = std::max(peerTookBytes_, frame.takenBytes);
  for (size_t i = 0; i < rails_.size(); ++i) {
    Rail &rail = rails_[i];
    const auto more = static_cast<uint16_t>(frame.came[i] - rail.arrived);
    if (more <= rail.onTheWay())
      rail.arrived += more;
  }
}

// Handles a frame that arrived over a link.
Status BondConnection::onFrame(size_t number, const uint8_t *bytes, uint64_t count) {
  std::optional<Frame> frame = decodeFrame(bytes, count);
  if (!frame)
    return violation("bytes that are not a frame");
  if (frame->ack > lastSent_)
    return violation("an acknowledgement of frames that were not sent");
  acknowledge(*frame);
  // Messages with a receive were acknowledged before, so unacked_ stays within the window.
  if (peerTookMessages_ > ackedMessages_ || peerTookBytes_ > ackedBytes_)
    return violation("an acknowledgement of messages that were not received");
  if (frame->type == FrameType::Ack)
    return {};
  ++rails_[number].came;
  if (frame->sequence <= received_)
    return {}; // the frame was received before
  const uint8_t *payload = bytes + Frame::kBytes;
  if (frame->sequence != received_ + 1)
    return park(*frame, payload, count - Frame::kBytes);
  COLL_RETURN_IF_ERROR(take(*frame, payload));
  return parked_.empty() ? Status() : unpark();
}

// Handles the next frame in order.
Status BondConnection::take(const Frame &frame, const uint8_t *payload) {
  ++received_;
  // After close() only frames that end the peer's links matter.
  if (closed_ && frame.type != FrameType::Down && frame.type != FrameType::Bye)
    return {};
  return dispatch(frame, payload);
}

// Stores a frame that arrived before earlier ones. Small messages are limited like those without a
// receive.
Status BondConnection::park(const Frame &frame, const uint8_t *payload, size_t bytes) {
  if (frame.sequence - received_ > kWindowFrames)
    return violation("a frame further ahead than allowed");
  if (parked_.count(frame.sequence))
    return {}; // it was sent again after a link failed
  const uint64_t small = frame.type == FrameType::Eager ? frame.bytes : 0;
  if (cameBytes_ - tookBytes_ + parkedBytes_ + small > kWindowBytes)
    return violation("more small messages than allowed");
  parked_.emplace(frame.sequence, Early{frame, {payload, payload + bytes}});
  parkedBytes_ += small;
  return {};
}

// Handles stored frames whose turn has come.
Status BondConnection::unpark() {
  while (!over_) {
    auto next = parked_.extract(received_ + 1);
    if (next.empty())
      break;
    const Early &early = next.mapped();
    parkedBytes_ -= early.frame.type == FrameType::Eager ? early.frame.bytes : 0;
    COLL_RETURN_IF_ERROR(take(early.frame, early.data.data()));
  }
  return {};
}

} // namespace coll::net::bond
