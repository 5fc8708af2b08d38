// Receives frames, and executes each kind.

#include "runtime/net/bond/connection.h"

namespace coll::net::bond {

namespace {

constexpr size_t kSlots = 16;   // posted on each link
constexpr size_t kMaxTurn = 64; // frames that are handled in one turn

} // namespace

Status violation(const char *what) { return {kCollPeer, std::string("protocol: ") + what}; }

// ===-- receiving ---------------------------------------------------------------===//

Status BondConnection::postSlots(Rail &rail) {
  if (rail.memory.empty()) {
    rail.memory.resize(kSlots * kFrameBytes);
    for (size_t i = 0; i < kSlots; ++i)
      rail.unposted.push_back(rail.memory.data() + i * kFrameBytes);
  }
  while (!rail.unposted.empty()) {
    Segment place{rail.unposted.back(), kFrameBytes, nullptr};
    Result<Request *> wanted = rail.link->irecv(&place, 1, kFrameTag);
    if (!wanted.ok())
      return wanted.status();
    if (!*wanted)
      return {};
    rail.slots.push_back({rail.unposted.back(), *wanted});
    rail.unposted.pop_back();
  }
  return {};
}

// Handles the frames that a link has received, including those from before it failed; returns the
// reason of its failure.
Status BondConnection::takeFrames(size_t number) {
  Rail &rail = rails_[number];
  Status broken;
  if (rail.isUp && !rail.unposted.empty())
    broken = postSlots(rail); // the link had no room for the receives
  // One link must not keep the others waiting: a peer may send faster than this end receives.
  for (size_t turn = 0; !rail.slots.empty() && !over_ && !rail.isClosed; ++turn) {
    if (rail.isUp && turn == kMaxTurn)
      break;
    Slot slot = rail.slots.front();
    Result<Completion> came = rail.link->test(slot.below);
    if (came.ok() && !came->done)
      break;
    rail.slots.pop_front();
    if (!came.ok()) {
      if (broken.ok())
        broken = came.status();
      continue;
    }
    const size_t parked = parked_.size();
    if (Status taken = onFrame(number, slot.at, came->bytes); !taken.ok())
      fail(taken);
    if (over_ || rail.isClosed)
      return {};
    rail.unposted.push_back(slot.at);
    if (Status posted = postSlots(rail); !posted.ok() && broken.ok())
      broken = posted;
    if (rail.isUp && parked_.size() > parked)
      break; // another link has the earlier frames
  }
  return broken;
}

Status BondConnection::dispatch(const Frame &frame, const uint8_t *payload) {
  switch (frame.type) {
  case FrameType::Eager:
    return onEager(frame, payload);
  case FrameType::Large:
    return onLarge(frame);
  case FrameType::Fin:
    return onFin(frame);
  case FrameType::Resend:
    return onResend(frame);
  case FrameType::Down:
    return onDown(frame);
  case FrameType::Invite:
    return onInvite(frame, payload);
  case FrameType::Decline:
    return onDecline(frame);
  case FrameType::Joined:
    return onJoined(frame);
  case FrameType::Bye:
    return {kCollPeer, "the peer closed the connection"};
  case FrameType::Ack:
    break;
  }
  return violation("a frame of an unknown type");
}

Status BondConnection::onEager(const Frame &frame, const uint8_t *payload) {
  if (cameMessages_ - tookMessages_ >= kWindowMessages ||
      cameBytes_ - tookBytes_ + frame.bytes > kWindowBytes)
    return violation("more small messages than allowed");
  ++cameMessages_;
  cameBytes_ += frame.bytes;
  if (BondRequest *request = takeTagged(posted_, frame.tag)) {
    deliver(*request, payload, frame.bytes);
    return {};
  }
  unexpected_.push_back({frame, std::vector<uint8_t>(payload, payload + frame.bytes)});
  return {};
}

Status BondConnection::onLarge(const Frame &came) {
  Frame frame = came;
  if (frame.id != ++peerLarge_ || (frame.bytes > 0) != (frame.count > 0) ||
      divide(frame.bytes, frame.count).size() != frame.count)
    return violation("a large message out of order, or in the wrong parts");
  for (size_t i = 0; i < frame.count; ++i) {
    if (frame.rails[i] >= rails_.size())
      return violation("a part on an unknown link");
    // The link may be connected again before there is a receive, but the part used the old one.
    if (!rails_[frame.rails[i]].isUp)
      frame.rails[i] = kNoRail;
  }
  if (BondRequest *request = takeTagged(posted_, frame.tag)) {
    receive(*request, frame);
    return {};
  }
  if (announced_ >= kMaxRequests)
    return violation("more large messages than a peer may have");
  ++announced_;
  unexpected_.push_back({frame, {}});
  return {};
}

Status BondConnection::onFin(const Frame &frame) {
  auto it = sends_.find(frame.id);
  if (it == sends_.end())
    return violation("an answer to an unknown message");
  BondRequest &request = *it->second;
  sends_.erase(it);
  request.isAnswered = true;
  if (frame.code == FrameCode::Ok || request.verdict.code() == kCollInvalidCall)
    return settle(request), Status();
  if (frame.code == FrameCode::Truncated)
    request.verdict = request.truncation();
  else
    request.verdict = {kCollDevice, "the peer could not receive into its buffer"};
  settle(request);
  return {};
}

Status BondConnection::onResend(const Frame &frame) {
  auto it = sends_.find(frame.id);
  if (it == sends_.end() || frame.part >= it->second->parts.size() ||
      frame.rails[0] >= rails_.size())
    return violation("a request for a part of an unknown message");
  Part &part = it->second->parts[frame.part];
  if (!part.isLost)
    return violation("a repeated request for a part whose link works");
  // If that link has failed meanwhile, the peer learns of it and asks again.
  if (!rails_[frame.rails[0]].isUp)
    return {};
  part.rail = frame.rails[0];
  part.stage = Stage::Ready;
  part.isLost = false;
  advance(*it->second);
  return {};
}

Status BondConnection::onDown(const Frame &frame) {
  size_t number = frame.rails[0];
  if (number >= rails_.size() || rails_[number].peerClosed)
    return violation("the end of an unknown link");
  rails_[number].peerClosed = true;
  railFailed(number, {kCollLink, "the link has failed at the peer's end"});
  // Nothing that this end sent over the link can still arrive.
  for (BondRequest *request : std::vector<BondRequest *>(active_))
    if (!over_ && request->isActive && request->isOneSided())
      moveParts(*request, number);
  return {};
}

} // namespace coll::net::bond
