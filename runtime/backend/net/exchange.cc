#include "runtime/backend/net/exchange.h"

#include <algorithm>
#include <cstring>

namespace coll::rt::network {

Exchange::Exchange(Mesh &mesh, const std::vector<int> &ranks, int me, uint64_t tag, uint64_t number,
                   const Call &call, const std::vector<int64_t> &sizes, int64_t maxBytes)
    : mesh_(mesh), ranks_(ranks), me_(me), tag_(tag), number_(number), site_(call.site),
      room_(CallHeader::kMaxBytes + static_cast<size_t>(maxBytes)) {
  header_.signature = signatureOf(call);
  header_.text = describe(call);
  int n = static_cast<int>(ranks.size());
  offsets_.push_back(0);
  for (int d = 0; d < n; ++d)
    offsets_.push_back(offsets_.back() +
                       static_cast<size_t>(sizes[static_cast<size_t>((me + d) % n)]));
  gathered_.reset(new char[offsets_.back()]);
  for (int distance = 1; distance < n; distance *= 2) {
    int blocks = std::min(distance, n - distance);
    Round round;
    round.from = (me + distance) % n;
    round.to = (me + n - distance) % n;
    round.begin = offsets_[static_cast<size_t>(distance)];
    round.bytes = offsets_[static_cast<size_t>(distance + blocks)] - round.begin;
    round.given = offsets_[static_cast<size_t>(blocks)];
    round.recvTrace = MessageTrace(mesh.rank(), rank(round.from), /*isSend=*/false);
    round.sendTrace = MessageTrace(mesh.rank(), rank(round.to), /*isSend=*/true);
    rounds_.push_back(std::move(round));
  }
}

Exchange::~Exchange() {
  for (Round &round : rounds_) {
    round.recvTrace.close();
    round.sendTrace.close();
  }
}

const char *Exchange::of(int position) const {
  int n = static_cast<int>(ranks_.size());
  return gathered_.get() + offsets_[static_cast<size_t>((position + n - me_) % n)];
}

Result<bool> Exchange::advance(bool &moved, int &failedPeer) {
  bool allSent = true;
  for (size_t k = 0; k < rounds_.size(); ++k) {
    COLL_RETURN_IF_ERROR(post(rounds_[k], moved, failedPeer));
    COLL_RETURN_IF_ERROR(test(rounds_[k], moved, failedPeer));
    if (k == current_ && rounds_[k].received)
      ++current_;
    allSent &= rounds_[k].isSent;
  }
  failedPeer = -1;
  return allSent && current_ == rounds_.size();
}

// Receives are posted at once, so that messages that arrive early can be received.
Status Exchange::post(Round &round, bool &moved, int &failedPeer) {
  uint64_t tag = tag_ + static_cast<uint64_t>(&round - rounds_.data());
  if (!round.recv && !round.received) {
    failedPeer = rank(round.from);
    round.in.reset(new uint8_t[room_]);
    Result<net::Request *> request =
        mesh_.link(failedPeer).recv({round.in.get(), room_, nullptr}, tag);
    if (!request)
      return request.status();
    round.recv = *request;
    if (round.recv)
      round.recvTrace.posted(site_, static_cast<int64_t>(round.bytes));
    moved |= round.recv != nullptr;
  }
  bool mayGo = static_cast<size_t>(&round - rounds_.data()) <= current_;
  if (mayGo && !round.send && !round.isSent) {
    failedPeer = rank(round.to);
    header_.payload = round.given;
    round.header = encode(header_);
    net::Segment segments[2] = {{round.header.data(), round.header.size(), nullptr},
                                {gathered_.get(), round.given, nullptr}};
    Result<net::Request *> request = mesh_.link(failedPeer).send(segments, 2, tag);
    if (!request)
      return request.status();
    round.send = *request;
    if (round.send)
      round.sendTrace.posted(site_, static_cast<int64_t>(round.given));
    moved |= round.send != nullptr;
  }
  return {};
}

Status Exchange::test(Round &round, bool &moved, int &failedPeer) {
  // In the order of the rounds: later ones append to the data of earlier ones.
  bool isNext = static_cast<size_t>(&round - rounds_.data()) == current_;
  if (round.recv && isNext) {
    failedPeer = rank(round.from);
    Result<net::Completion> completion = mesh_.link(failedPeer).test(round.recv, true);
    if (!completion)
      return completion.status();
    if (completion->done) {
      round.recvTrace.done(mesh_, round.recv);
      round.recv = nullptr;
      round.received = moved = true;
      COLL_RETURN_IF_ERROR(take(round, completion->bytes));
    }
  }
  if (round.send) {
    failedPeer = rank(round.to);
    Result<net::Completion> completion = mesh_.link(failedPeer).test(round.send, false);
    if (!completion)
      return completion.status();
    if (completion->done) {
      round.sendTrace.done(mesh_, round.send);
      round.send = nullptr;
      round.isSent = moved = true;
    }
  }
  return {};
}

Status Exchange::take(Round &round, uint64_t bytes) {
  size_t size = 0;
  std::optional<CallHeader> header = decodeCall(round.in.get(), bytes, size);
  if (!header)
    return {kCollPeer,
            "rank " + std::to_string(rank(round.from)) + " sent no description of a call"};
  const char *what = difference(header_.signature, header->signature);
  if (!what && header->payload != round.bytes)
    what = "contributions";
  if (what)
    return mismatch(what, round.from, header->text);
  if (round.bytes > 0)
    std::memcpy(gathered_.get() + round.begin, round.in.get() + size, round.bytes);
  return {};
}

Status Exchange::mismatch(const char *what, int position, const std::string &theirs) const {
  auto says = [&](int p, const std::string &text) {
    return "rank " + std::to_string(rank(p)) + " calls " + text;
  };
  bool mineFirst = me_ < position;
  std::string mine = says(me_, header_.text), other = says(position, theirs);
  return {kCollMismatch, std::string(what) + " differ in call " + std::to_string(number_) +
                             " of group " + describeGroup(ranks_) + ": " +
                             (mineFirst ? mine : other) + ", " + (mineFirst ? other : mine)};
}

std::vector<int> Exchange::waitingFor() const {
  if (current_ < rounds_.size())
    return {rank(rounds_[current_].from)};
  return {};
}

} // namespace coll::rt::network
