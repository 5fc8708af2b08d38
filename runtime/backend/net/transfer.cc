#include "runtime/backend/net/transfer.h"

#include "runtime/backend/net/algorithms/segments.h"
#include "runtime/base/dtype.h"

#include <algorithm>
#include <cstring>

namespace coll::rt::network {

namespace {

// Data of up to this size is sent with the offer.
constexpr int64_t kInlineBytes = 8 << 10;
// Large data is sent in messages of a size that both sides know, whatever memory they use.
constexpr int64_t kMinSegmentBytes = 256 << 10;
constexpr int64_t kMaxSegmentBytes = 2 << 20;
constexpr int64_t kSegments = 16; // so that the first are in flight while others are loaded
// Keeps the tags of offers apart from those of collectives.
constexpr uint64_t kOffers = 0x6f666665720a0001u;

int64_t bytesOf(const Call &call) { return call.count * dtypeSize(call.dtype); }

int64_t segmentBytesOf(const Call &call) {
  int64_t even = bytesOf(call) / kSegments / 4096 * 4096;
  return std::clamp(even, kMinSegmentBytes, kMaxSegmentBytes);
}

// The two directions of a connection have separate tags, so the ranks need not be included.
uint64_t offerTagOf(uint64_t group, const Call &call) {
  return callTag(mix(group, kOffers), static_cast<uint64_t>(call.tag));
}
// The tag of the answer and, in the other direction, of large data.
uint64_t transferTag(uint64_t offerTag, int sender, uint64_t number) {
  return callTag(mix(offerTag, static_cast<uint64_t>(sender)), number);
}
// Tests a request that may be null. True once it has ended, and then it is null.
Result<bool> ended(Link &link, net::Request *&request, bool isRecv, bool &moved,
                   uint64_t *bytes = nullptr) {
  if (!request)
    return true;
  Result<net::Completion> completion = link.test(request, isRecv);
  if (!completion)
    return completion.status();
  if (!completion->done)
    return false;
  request = nullptr;
  moved = true;
  if (bytes)
    *bytes = completion->bytes;
  return true;
}

} // namespace

bool isInline(const Call &call) { return bytesOf(call) <= kInlineBytes; }

Status compareTransfer(int sender, const CallSignature &send, const std::string &sendText,
                       int receiver, const CallSignature &recv, const std::string &recvText) {
  if (send.kind == OpKind::Send && recv.kind == OpKind::Recv && send.dtype == recv.dtype &&
      send.count == recv.count)
    return {};
  return {kCollMismatch, "rank " + std::to_string(sender) + " calls " + sendText + ", rank " +
                             std::to_string(receiver) + " calls " + recvText +
                             ": element types or counts differ"};
}

//===-- the sending side --------------------------------------------------------===//

Sending::Sending(Mesh &mesh, Mover &mover, const TransferPlace &place, uint64_t number)
    : mesh_(mesh), link_(mesh.link(place.peer)), mover_(mover), peer_(place.peer),
      call_(*place.call), offerTag_(offerTagOf(place.group, call_)),
      tag_(transferTag(offerTag_, place.mine, number)),
      offerTrace_(place.mine, place.peer, /*isSend=*/true) {
  failedPeer = peer_;
  CallHeader header;
  header.signature = signatureOf(call_);
  header.text = describe(call_);
  header.sequence = number;
  isInline_ = isInline(call_);
  header.payload = isInline_ ? static_cast<uint64_t>(bytesOf(call_)) : 0;
  offer_ = encode(header);
  if (header.payload > 0) {
    const uint8_t *data = static_cast<const uint8_t *>(call_.src);
    offer_.insert(offer_.end(), data, data + header.payload);
  }
}

// The offer is sent only when a receive for the answer is posted.
Status Sending::begin(bool &moved) {
  if (!answered_) {
    Result<net::Request *> request = link_.recv({&answer_, 1, nullptr}, tag_);
    if (!request)
      return request.status();
    answered_ = *request;
  }
  if (!answered_)
    return {};
  net::Segment segment = {offer_.data(), offer_.size(), nullptr};
  Result<net::Request *> request = link_.send(&segment, 1, offerTag_);
  if (!request)
    return request.status();
  offered_ = *request;
  if (offered_) {
    offerTrace_.posted(call_.site, static_cast<int64_t>(offer_.size()));
    stage_ = Stage::Offered;
    moved = true;
  }
  return {};
}

Result<bool> Sending::advance(bool &moved) {
  if (stage_ == Stage::Begin)
    COLL_RETURN_IF_ERROR(begin(moved));
  if (stage_ == Stage::Begin)
    return false;
  const net::Request *offer = offered_;
  Result<bool> offerDone = ended(link_, offered_, /*isRecv=*/false, moved);
  if (!offerDone)
    return offerDone;
  if (*offerDone)
    offerTrace_.done(mesh_, offer);
  if (stage_ == Stage::Offered) {
    Result<bool> granted = ended(link_, answered_, /*isRecv=*/true, moved);
    if (!granted || !*granted)
      return granted;
    stage_ = Stage::Granted;
  }
  if (stage_ == Stage::Granted) {
    if (!isInline_) {
      data_ = std::make_unique<Schedule>(mesh_, mover_, tag_, call_.site);
      forEachSegment(bytesOf(call_), segmentBytesOf(call_),
                     [&](int64_t, int64_t at, int64_t bytes) {
                       data_->send(peer_, 0, static_cast<const char *>(call_.src) + at, bytes);
                     });
      moved = true;
    }
    stage_ = Stage::Sent;
  }
  Result<bool> sent = data_ ? data_->run(moved, failedPeer) : true;
  failedPeer = peer_;
  if (!sent || !*sent)
    return sent;
  return *offerDone;
}

Sending::~Sending() { offerTrace_.close(); }

std::vector<int> Sending::waitingFor() const {
  return answered_ ? std::vector<int>{peer_} : std::vector<int>();
}

//===-- the receiving side ------------------------------------------------------===//

Receiving::Receiving(Mesh &mesh, Mover &mover, const TransferPlace &place)
    : mesh_(mesh), link_(mesh.link(place.peer)), mover_(mover), mine_(place.mine),
      peer_(place.peer), call_(*place.call), offerTag_(offerTagOf(place.group, call_)),
      offerTrace_(place.mine, place.peer, /*isSend=*/false) {
  failedPeer = peer_;
  offer_.resize(CallHeader::kMaxBytes + static_cast<size_t>(kInlineBytes));
}

Status Receiving::begin(bool &moved) {
  Result<net::Request *> request = link_.recv({offer_.data(), offer_.size(), nullptr}, offerTag_);
  if (!request)
    return request.status();
  offered_ = *request;
  if (offered_) {
    offerTrace_.posted(call_.site, isInline(call_) ? bytesOf(call_) : 0);
    stage_ = Stage::Posted;
    moved = true;
  }
  return {};
}

Status Receiving::take(uint64_t bytes) {
  size_t size = 0;
  std::optional<CallHeader> header = decodeCall(offer_.data(), bytes, size);
  if (!header)
    return {kCollPeer, "rank " + std::to_string(peer_) + " sent no description of a send"};
  tag_ = transferTag(offerTag_, peer_, header->sequence);
  COLL_RETURN_IF_ERROR(compareTransfer(peer_, header->signature, header->text, mine_,
                                       signatureOf(call_), describe(call_)));
  wantsData_ = !isInline(call_);
  if (header->payload != (wantsData_ ? 0 : static_cast<uint64_t>(bytesOf(call_))))
    return {kCollPeer, "rank " + std::to_string(peer_) + " sent an offer of another length"};
  if (header->payload > 0)
    std::memcpy(call_.dst, offer_.data() + size, header->payload);
  return {};
}

// The receive for the data is posted before the sender is told to send.
Result<bool> Receiving::answer(bool &moved) {
  if (wantsData_ && !data_) {
    data_ = std::make_unique<Schedule>(mesh_, mover_, tag_, call_.site);
    forEachSegment(bytesOf(call_), segmentBytesOf(call_), [&](int64_t, int64_t at, int64_t bytes) {
      data_->recv(peer_, 0, static_cast<char *>(call_.dst) + at, bytes);
    });
    Result<bool> posted = data_->run(moved, failedPeer);
    failedPeer = peer_;
    if (!posted)
      return posted;
  }
  net::Segment segment = {&answer_, 1, nullptr};
  Result<net::Request *> request = link_.send(&segment, 1, tag_);
  if (!request)
    return request.status();
  if (!*request)
    return false;
  answered_ = *request;
  moved = true;
  return true;
}

Result<bool> Receiving::advance(bool &moved) {
  if (stage_ == Stage::Begin)
    COLL_RETURN_IF_ERROR(begin(moved));
  if (stage_ == Stage::Begin)
    return false;
  if (stage_ == Stage::Posted) {
    uint64_t bytes = 0;
    const net::Request *offer = offered_;
    Result<bool> offered = ended(link_, offered_, /*isRecv=*/true, moved, &bytes);
    if (!offered || !*offered)
      return offered;
    offerTrace_.done(mesh_, offer);
    COLL_RETURN_IF_ERROR(take(bytes));
    stage_ = Stage::Answer;
  }
  if (stage_ == Stage::Answer) {
    Result<bool> answered = answer(moved);
    if (!answered || !*answered)
      return answered;
    stage_ = Stage::Data;
  }
  Result<bool> told = ended(link_, answered_, /*isRecv=*/false, moved);
  if (!told)
    return told;
  Result<bool> arrived = data_ ? data_->run(moved, failedPeer) : true;
  failedPeer = peer_;
  if (!arrived || !*arrived)
    return arrived;
  data_.reset();
  return *told;
}

Receiving::~Receiving() { offerTrace_.close(); }

std::vector<int> Receiving::waitingFor() const {
  if (offered_)
    return {peer_};
  return data_ ? data_->waitingFor() : std::vector<int>();
}

} // namespace coll::rt::network
