// Large messages and one-sided operations, part by part, and failed links.

#include "runtime/net/bond/connection.h"

#include "runtime/base/log.h"

#include <algorithm>

namespace coll::net::bond {

namespace {

// Smaller parts are not worth another link.
constexpr uint64_t kPartBytes = 128 << 10;

// The tag of a part on every link. A part is sent at most once on each.
uint64_t tagOf(uint64_t id, size_t part) { return id * BondOptions::kMaxRails + part; }

// Whether the error concerns one request of a link and not the link.
bool isOfRequest(const Status &status) {
  return status.code() == kCollInvalidCall || status.code() == kCollMismatch ||
         status.code() == kCollUnsupported;
}

} // namespace

//===-- parts -------------------------------------------------------------------===//

// `count` parts or fewer, of whole units if `unit` is set; `bytes` is then a multiple of it.
std::vector<Part> BondConnection::divide(uint64_t bytes, size_t count, uint64_t unit) {
  std::vector<Part> parts;
  const auto whole = [unit](uint64_t place) { return unit ? place - place % unit : place; };
  for (const Extent &extent : equalParts(bytes, kPartBytes, count)) {
    const uint64_t begin = whole(extent.offset), end = whole(extent.offset + extent.bytes);
    if (begin == end)
      continue;
    Part &part = parts.emplace_back();
    part.offset = begin;
    part.bytes = end - begin;
  }
  return parts;
}

// The working rails, starting with another one each time.
std::vector<uint8_t> BondConnection::upRails() {
  std::vector<uint8_t> up;
  for (size_t i = 0; i < rails_.size(); ++i)
    if (rails_[i].isUp)
      up.push_back(static_cast<uint8_t>(i));
  if (!up.empty())
    std::rotate(up.begin(), up.begin() + static_cast<ptrdiff_t>(turn_++ % up.size()), up.end());
  return up;
}

// A working rail; if none works, the connection is about to end.
uint8_t BondConnection::nextRail() {
  std::vector<uint8_t> up = upRails();
  return up.empty() ? uint8_t(0) : up.front();
}

void BondConnection::activate(BondRequest &request) {
  request.isActive = true;
  active_.push_back(&request);
  for (size_t i = 0; i < rails_.size(); ++i)
    if (!rails_[i].isUp && request.kind != Kind::Recv)
      moveParts(request, i);
  advance(request);
}

void BondConnection::advance(BondRequest &request) {
  for (size_t i = 0; i < request.parts.size() && !over_; ++i) {
    Part &part = request.parts[i];
    if (part.stage == Stage::Ready)
      if (Status refused = post(request, part); !refused.ok())
        refuse(request, refused);
    if (part.stage == Stage::Posted && part.below)
      testPart(request, part);
  }
  if (!over_)
    settle(request);
}

// A returned error concerns the request. If the link has no room, the part stays Ready.
Status BondConnection::post(BondRequest &request, Part &part) {
  Segment pieces[kMaxRequestSegments];
  int count = 0;
  // A sender that cannot send a part sends an empty one instead.
  if (request.verdict.ok())
    request.forEachPiece(part.offset, part.bytes, kMaxRequestSegments,
                         [&](size_t segment, uint8_t *at, uint64_t bytes) {
                           pieces[count++] = {at, bytes, request.segments[segment].memory};
                         });
  Connection &link = *rails_[part.rail].link;
  uint64_t tag = tagOf(request.number, static_cast<size_t>(&part - request.parts.data()));
  Result<Request *> posted(nullptr);
  switch (request.kind) {
  case Kind::Send:
    posted = link.isend(pieces, count, tag);
    break;
  case Kind::Recv:
    posted = link.irecv(pieces, count, tag);
    break;
  case Kind::Write:
    posted = link.iwrite(pieces, count, request.key, request.rows.at(part.offset));
    break;
  default:
    posted = link.iread(pieces, count, request.key,
                        {request.rows.at(part.offset), request.rows.rowBytes, request.rows.stride});
    break;
  }
  if (posted.ok() && *posted) {
    part.below = *posted;
    part.stage = Stage::Posted;
  } else if (!posted.ok() && isOfRequest(posted.status())) {
    part.stage = request.isOneSided() ? Stage::Done : Stage::Ready;
    return posted.status();
  } else if (!posted.ok()) {
    railFailed(part.rail, posted.status());
  }
  return {};
}

void BondConnection::testPart(BondRequest &request, Part &part) {
  Result<Completion> ended = rails_[part.rail].link->test(part.below);
  if (ended.ok() && !ended->done)
    return;
  part.below = nullptr;
  if (!ended.ok() && !isOfRequest(ended.status()))
    return railFailed(part.rail, ended.status());
  part.stage = Stage::Done;
  if (!ended.ok())
    return refuse(request, ended.status());
  if (request.kind == Kind::Recv && ended->bytes != part.bytes)
    refuse(request, {kCollMismatch, "the peer could not send from its buffer"});
}

// Ends the request if none of its parts is in flight.
void BondConnection::settle(BondRequest &request) {
  if (!request.isActive || request.hasPart(Stage::Posted))
    return;
  if (request.kind == Kind::Send) {
    // Parts that are ready are sent first: the receiver waits for them, even if it drops them.
    if (!request.isAnswered || request.hasPart(Stage::Ready))
      return;
  } else if (request.verdict.ok() &&
             (request.hasPart(Stage::Ready) || request.hasPart(Stage::Waiting))) {
    return;
  }
  request.isActive = false;
  active_.erase(std::find(active_.begin(), active_.end(), &request));
  if (request.kind == Kind::Recv && request.verdict.ok()) {
    Frame frame;
    frame.type = FrameType::Fin;
    frame.id = request.number;
    push(frame);
  }
  request.verdict.ok() ? request.finish() : request.fail(request.verdict);
}

//===-- receiving ---------------------------------------------------------------===//

// Copies a complete small message into a receive.
void BondConnection::deliver(BondRequest &request, const uint8_t *data, uint64_t bytes) {
  ++tookMessages_;
  tookBytes_ += bytes;
  request.total = bytes;
  if (bytes > request.capacity)
    return request.fail(request.truncation());
  request.scatter(data, bytes);
  request.finish();
}

// Gives a new receive the oldest message with its tag, if there is one.
bool BondConnection::matchUnexpected(BondRequest &request) {
  std::optional<Early> message = takeFirst(unexpected_, [&](const Early &one) {
    // Messages that were only announced ended with the connection.
    return one.frame.tag == request.tag && (one.frame.type == FrameType::Eager || !over_);
  });
  if (!message)
    return false;
  if (message->frame.type == FrameType::Eager) {
    deliver(request, message->data.data(), message->frame.bytes);
    return true;
  }
  --announced_;
  receive(request, message->frame);
  return true;
}

// A large message has been matched with its receive.
void BondConnection::receive(BondRequest &request, const Frame &frame) {
  request.total = frame.bytes;
  request.number = frame.id;
  request.parts = divide(frame.bytes, frame.count);
  for (size_t i = 0; i < request.parts.size(); ++i) {
    Part &part = request.parts[i];
    part.rail = frame.rails[i];
    if (part.rail != kNoRail)
      continue;
    if (frame.bytes <= request.capacity)
      askAgain(request, i);
    else
      part.stage = Stage::Done; // the part is not needed any more
  }
  if (frame.bytes > request.capacity)
    refuse(request, request.truncation());
  activate(request);
}

// A receive that fails still receives the parts in flight and drops them; a send or a one-sided
// operation ends at once.
void BondConnection::refuse(BondRequest &request, const Status &why) {
  if (!request.verdict.ok())
    return;
  request.verdict = why;
  if (request.kind != Kind::Recv)
    return;
  for (size_t i = 0; i < request.parts.size(); ++i) {
    Part &part = request.parts[i];
    if (part.stage != Stage::Ready)
      continue;
    part.stage = Stage::Done;
    if (rails_[part.rail].isUp)
      discards_.push_back({part.rail, tagOf(request.number, i), nullptr});
  }
  // A correct peer ends a send only after its parts were sent.
  if (discards_.size() > size_t(kMaxRequests) * BondOptions::kMaxRails)
    return fail({kCollPeer, "protocol: announced parts never arrived"});
  Frame frame;
  frame.type = FrameType::Fin;
  frame.code = request.total > request.capacity ? FrameCode::Truncated : FrameCode::Refused;
  frame.id = request.number;
  push(frame);
}

void BondConnection::advanceDiscards() {
  for (auto it = discards_.begin(); it != discards_.end();) {
    Connection &link = *rails_[it->rail].link;
    Status broken;
    bool isOver = false;
    if (!it->below) {
      Result<Request *> wanted = link.irecv(nullptr, 0, it->tag);
      broken = wanted.status();
      it->below = wanted.ok() ? *wanted : nullptr;
    } else {
      Result<Completion> ended = link.test(it->below);
      isOver = ended.ok() ? ended->done : isOfRequest(ended.status());
      if (!isOver)
        broken = ended.status();
    }
    if (!broken.ok())
      return railFailed(it->rail, broken); // the list has changed
    it = isOver ? discards_.erase(it) : std::next(it);
  }
}

//===-- links that fail ---------------------------------------------------------===//

std::string BondConnection::name(size_t rail) const {
  return properties_.name + ": link " + std::to_string(rail);
}

// Closes the link at this end, tells the peer, and redistributes its work over the others.
void BondConnection::railFailed(size_t number, const Status &why) {
  Rail &rail = rails_[number];
  if (over_ || !rail.isUp)
    return;
  rail.isUp = false;
  // Queued before all frames that the last received frames cause; sent once the link is closed.
  Frame frame;
  frame.type = FrameType::Down;
  frame.rails[0] = static_cast<uint8_t>(number);
  push(frame);
  (void)takeFrames(number);
  if (over_)
    return;
  // abort(), not close(): otherwise data that the peer has in flight could arrive after it was sent
  // again.
  rail.link->abort();
  forgive(rail);
  if (!closeRail(number))
    return fail(rails_.size() == 1 ? why : why.annotate("the last link of the connection"));
  if (!closed_)
    rt::log(rt::LogLevel::Warn,
            name(number) + " has failed; the connection continues without it: " + why.message());
  for (Early &message : unexpected_)
    std::replace(message.frame.rails.begin(), message.frame.rails.begin() + message.frame.count,
                 static_cast<uint8_t>(number), kNoRail);
  for (BondRequest *request : std::vector<BondRequest *>(active_))
    if (request->isActive)
      moveParts(*request, number);
}

// Releases the work that a closed link had in flight. False if no other link is left.
bool BondConnection::closeRail(size_t number) {
  Rail &rail = rails_[number];
  rail.isUp = false;
  rail.isClosed = true;
  rail.slots.clear();
  rail.sending.clear();
  discards_.remove_if([number](const Discard &discard) { return discard.rail == number; });
  auto other = std::find_if(rails_.begin(), rails_.end(), [](const Rail &r) { return r.isUp; });
  if (other == rails_.end())
    return false;
  takeBack(number);
  return true;
}

void BondConnection::moveParts(BondRequest &request, size_t number) {
  for (size_t i = 0; i < request.parts.size(); ++i) {
    Part &part = request.parts[i];
    if (part.rail != number)
      continue;
    part.isLost = true;
    if (part.stage == Stage::Done)
      continue;
    part.below = nullptr;
    part.stage = Stage::Waiting;
    if (!request.verdict.ok() && request.kind != Kind::Send)
      part.stage = Stage::Done;
    else if (request.kind == Kind::Recv)
      askAgain(request, i);
    else if (request.isOneSided() && rails_[number].peerClosed) {
      part.rail = nextRail();
      part.stage = Stage::Ready;
    }
  }
}

// This end of the part's link is closed, so only the new copy will arrive.
void BondConnection::askAgain(BondRequest &request, size_t number) {
  Part &part = request.parts[number];
  part.rail = nextRail();
  part.stage = Stage::Ready;
  part.isLost = false;
  Frame frame;
  frame.type = FrameType::Resend;
  frame.id = request.number;
  frame.part = static_cast<uint8_t>(number);
  frame.rails[0] = part.rail;
  push(frame);
}

} // namespace coll::net::bond
