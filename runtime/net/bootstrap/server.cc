#include "runtime/net/bootstrap/server.h"

#include "runtime/net/bootstrap/member.h"
#include "runtime/net/handshake.h"

#include <algorithm>
#include <sys/epoll.h>

namespace coll::net {

using wire::Refusal;

class BootstrapServer::Acceptor final : public PollHandler {
public:
  explicit Acceptor(BootstrapServer &server) : server_(server) {}
  void onEvents(uint32_t) override { server_.acceptSome(); }
  void onDeadline() override {}

private:
  BootstrapServer &server_;
};

// A connection that has not proven the secret yet.
class BootstrapServer::Candidate final : public PollHandler {
public:
  Candidate(BootstrapServer &server, Fd fd, std::string host, uint64_t id)
      : server_(server), host_(std::move(host)), id_(id),
        shake_(Handshake::server(std::move(fd), server.secret_, wire::Purpose::Bootstrap,
                                 [this](const wire::Context &context) {
                                   Refusal refusal = server_.judge(context);
                                   reserved_ = refusal == Refusal::None;
                                   return refusal;
                                 })) {}

  void onEvents(uint32_t) override {
    switch (shake_.advance()) {
    case Handshake::State::Reading:
      return server_.poller_->modify(id_, shake_.fd(), EPOLLIN);
    case Handshake::State::Writing:
      return server_.poller_->modify(id_, shake_.fd(), EPOLLOUT);
    case Handshake::State::Done:
      return server_.admit(*this);
    case Handshake::State::Failed:
      return refuse(shake_.failure().message());
    }
  }
  void onDeadline() override { refuse("too slow"); }

  void refuse(const std::string &why) {
    ++server_.stats_.refused;
    server_.log_.warn("bootstrap: refused a connection: " + why + " (from " + host_ + ")");
    server_.refusals_.add(host_, why);
    if (reserved_)
      server_.taken_[wire::decodeRank(shake_.context()).rank] = false;
    server_.forget(*this);
  }

  uint64_t id() const { return id_; }
  Handshake &shake() { return shake_; }
  bool reserved() const { return reserved_; }
  size_t place = 0; // in candidates_

private:
  BootstrapServer &server_;
  const std::string host_;
  uint64_t id_;
  Handshake shake_;
  bool reserved_ = false; // the rank is reserved for it
};

Result<std::unique_ptr<BootstrapServer>>
BootstrapServer::create(Fd fd, int worldSize, const Secret &secret, int64_t handshakeUs) {
  Result<Address> local = localAddress(fd);
  if (!local.ok())
    return local.status();
  std::unique_ptr<BootstrapServer> server(
      new BootstrapServer(std::move(fd), worldSize, secret, handshakeUs));
  server->address_ = *local;
  Result<std::unique_ptr<Poller>> poller = Poller::create();
  if (!poller.ok())
    return poller.status();
  server->poller_ = poller.take();
  COLL_RETURN_IF_ERROR(server->poller_->add(server->poller_->reserve(), server->fd_.get(), EPOLLIN,
                                            std::make_shared<Acceptor>(*server)));
  return server;
}

BootstrapServer::~BootstrapServer() {
  for (int64_t end = nowUs() + 1'000'000; unsent_ > 0 && nowUs() < end;)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  // Handlers use poller_ until their thread has ended.
  if (poller_)
    poller_->stop();
}

//===-- candidates ----------------------------------------------------------------===//

void BootstrapServer::acceptSome() {
  acceptWaiting(
      fd_, [this](Fd fd) { welcome(std::move(fd)); },
      [this] {
        log_.warn("bootstrap: no descriptor for a connection");
        return evictOne();
      });
}

void BootstrapServer::welcome(Fd fd) {
  if (candidates_.size() >= kMaxCandidates)
    evictOne();
  ++stats_.accepted; // last: a reader that sees it also sees the eviction that made room
  setStreamOptions(fd, handshakeUs_);
  int raw = fd.get();
  Result<Address> peer = peerAddress(fd);
  auto candidate = std::make_shared<Candidate>(
      *this, std::move(fd), peer.ok() ? peer->host() : "an unknown host", poller_->reserve());
  candidate->place = candidates_.size();
  candidates_.push_back(candidate);
  if (!poller_->add(candidate->id(), raw, EPOLLIN, candidate, nowUs() + handshakeUs_).ok())
    forget(*candidate);
}

bool BootstrapServer::evictOne() {
  for (int attempt = 0; attempt < 8 && !candidates_.empty(); ++attempt) {
    std::shared_ptr<Candidate> victim = candidates_[random_() % candidates_.size()];
    if (victim->reserved())
      continue;
    ++stats_.evicted;
    log_.warn("bootstrap: too many unproven connections; evicted one");
    forget(*victim);
    return true;
  }
  return false;
}

void BootstrapServer::forget(Candidate &candidate) {
  std::shared_ptr<Candidate> keep = candidates_[candidate.place];
  candidates_.back()->place = candidate.place;
  std::swap(candidates_[candidate.place], candidates_.back());
  candidates_.pop_back();
  poller_->remove(candidate.id(), candidate.shake().fd());
  candidate.shake().takeFd();
}

Refusal BootstrapServer::judge(const wire::Context &context) {
  wire::RankContext who = wire::decodeRank(context);
  if (who.worldSize != static_cast<uint32_t>(worldSize_))
    return Refusal::WrongWorldSize;
  if (who.rank >= who.worldSize)
    return Refusal::BadRank;
  if (taken_[who.rank])
    return Refusal::DuplicateRank;
  taken_[who.rank] = true;
  return Refusal::None;
}

void BootstrapServer::admit(Candidate &candidate) {
  int rank = static_cast<int>(wire::decodeRank(candidate.shake().context()).rank);
  uint64_t id = poller_->reserve();
  int raw = candidate.shake().fd();
  poller_->remove(candidate.id(), raw);
  Fd fd = candidate.shake().takeFd();
  forget(candidate);
  setStreamOptions(fd, 60'000'000);
  auto member = std::make_shared<Member>(*this, std::move(fd), id, rank);
  members_[static_cast<size_t>(rank)] = member;
  ++stats_.admitted;
  if (!poller_->add(id, raw, EPOLLIN, member).ok())
    lose(*member, /*left=*/false);
}

//===-- members -----------------------------------------------------------------===//

void BootstrapServer::lose(Member &member, bool left) {
  size_t rank = static_cast<size_t>(member.rank());
  std::shared_ptr<Member> keep = std::move(members_[rank]);
  if (!keep)
    return;
  poller_->remove(member.id(), member.fd());
  unsent_ -= member.unsent() ? 1 : 0;
  std::string text = "rank " + std::to_string(rank) + (left ? " has left the job" : " is gone");
  if (!left)
    rt::log(rt::LogLevel::Info, "bootstrap: " + text);
  if (goneText_.empty())
    goneText_ = text;
  rounds_.clear();
  for (const std::shared_ptr<Member> &other : members_)
    if (other && other->waiting() && other->request().op == wire::BootOp::Gather)
      other->reply(kCollPeer, text);
}

void BootstrapServer::handle(Member &member) {
  switch (member.request().op) {
  case wire::BootOp::Put:
    return put(member);
  case wire::BootOp::Get:
    return get(member);
  case wire::BootOp::Gather:
    return gather(member);
  case wire::BootOp::Leave:
    return;
  }
}

void BootstrapServer::put(Member &member) {
  if (store_.count(member.key()))
    return member.reply(kCollInvalidCall, "key \"" + member.key() + "\" was already put");
  size_t bytes = member.key().size() + member.value().size() + 64;
  if (bytes > kMaxStoreBytes - storeBytes_)
    return member.reply(kCollDevice, "the bootstrap's store is full");
  storeBytes_ += bytes;
  const std::string &value = store_[member.key()] = std::move(member.value());
  for (const std::shared_ptr<Member> &other : members_)
    if (other && other->waiting() && other->request().op == wire::BootOp::Get &&
        other->key() == member.key())
      other->reply(kCollOk, value);
  member.reply(kCollOk, {});
}

void BootstrapServer::get(Member &member) {
  auto it = store_.find(member.key());
  if (it != store_.end())
    return member.reply(kCollOk, it->second);
  member.wait();
}

void BootstrapServer::gather(Member &member) {
  if (!goneText_.empty())
    return member.reply(kCollPeer, goneText_);
  Round &round = rounds_[member.key()];
  size_t world = static_cast<size_t>(worldSize_), rank = static_cast<size_t>(member.rank());
  round.values.resize(world);
  round.here.resize(world);
  if (round.bytes + member.value().size() + 4 * world > wire::kMaxReplyBytes)
    return endRound(member.key(), kCollInvalidCall, "the values together are too large");
  round.bytes += member.value().size();
  round.values[rank] = std::move(member.value());
  round.here[rank] = true;
  if (++round.count < worldSize_)
    return member.wait();
  completeRound(member.key(), round);
}

void BootstrapServer::completeRound(const std::string &name, Round &round) {
  std::string all;
  for (const std::string &value : round.values) {
    uint8_t length[4];
    wire::Encoder(length).put(static_cast<uint32_t>(value.size()));
    all.append(reinterpret_cast<const char *>(length), sizeof(length));
    all += value;
  }
  endRound(name, kCollOk, all);
}

// Sends the same answer to all members that wait for it.
void BootstrapServer::endRound(std::string key, CollCode code, const std::string &answer) {
  rounds_.erase(key);
  for (const std::shared_ptr<Member> &other : members_)
    if (other && other->waiting() && other->request().op == wire::BootOp::Gather &&
        other->key() == key)
      other->reply(code, answer);
}

void BootstrapServer::expire(Member &member) {
  if (member.request().op != wire::BootOp::Gather)
    return member.reply(kCollTimeout, "timed out waiting for key \"" + member.key() + "\"");
  auto it = rounds_.find(member.key());
  if (it == rounds_.end())
    return member.reply(kCollInternal, "no such round");
  std::string text = "waiting for " + missingRanks(it->second) + refusals_.text();
  Round &round = it->second;
  size_t rank = static_cast<size_t>(member.rank());
  round.bytes -= round.values[rank].size();
  round.values[rank].clear();
  round.here[rank] = false;
  if (--round.count == 0)
    rounds_.erase(it);
  member.reply(kCollTimeout, text);
}

std::string BootstrapServer::missingRanks(const Round &round) const {
  std::string text;
  int missing = 0;
  for (int rank = 0; rank < worldSize_; ++rank)
    if (!round.here[static_cast<size_t>(rank)] && ++missing <= 16)
      text += (missing > 1 ? ", " : "") + std::to_string(rank);
  if (missing > 16)
    text += " and " + std::to_string(missing - 16) + " more";
  return (missing == 1 ? "rank " : "ranks ") + text + " of " + std::to_string(worldSize_);
}

} // namespace coll::net
