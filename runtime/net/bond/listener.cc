#include "runtime/net/bond/listener.h"

#include "runtime/base/log.h"
#include "runtime/net/auth.h"
#include "runtime/net/bond/connection.h"
#include "runtime/net/bond/mailbox.h"
#include "runtime/net/socket.h"

#include <algorithm>
#include <list>
#include <mutex>

namespace coll::net::bond {

namespace {

Status stranger() {
  return {kCollPeer, "the peer uses another number of devices for a connection (COLL_NET_RAILS)"};
}

// ===-- the accepting end -------------------------------------------------------===//

class BondListener final : public Listener {
public:
  BondListener(Shared &shared, int device, std::vector<std::unique_ptr<Listener>> inner)
      : shared_(shared), device_(device), inner_(std::move(inner)),
        handle_(mark(inner_.front()->handle())) {}

  const Handle &handle() const override { return handle_; }

  Result<std::unique_ptr<Connection>> accept() override {
    std::lock_guard<std::mutex> lock(mutex_);
    for (size_t i = 0; i < inner_.size(); ++i) {
      Result<std::unique_ptr<Connection>> came = inner_[i]->accept();
      // The connecting end omits a link too, unless it is the first.
      if (!came.ok() && i == 0)
        return came.status();
      if (!came.ok())
        rt::log(rt::LogLevel::Warn, "refused a link: " + came.status().message());
      else if (*came)
        candidates_.emplace_back(came.take(), i, nowUs() + shared_.options.timeoutUs);
    }
    for (auto it = candidates_.begin(); it != candidates_.end();) {
      Status outcome = it->isOver() ? Status() : step(*it);
      if (!outcome.ok())
        rt::log(rt::LogLevel::Warn, "refused a link: " + outcome.message());
      it = !outcome.ok() || it->isOver() ? candidates_.erase(it) : std::next(it);
    }
    return takeReady();
  }

private:
  // A link that has been accepted.
  struct Candidate {
    Candidate(std::unique_ptr<Connection> link, size_t rail, int64_t deadlineUs)
        : mail(std::make_unique<Mailbox>(std::move(link))), rail(rail), deadlineUs(deadlineUs) {}
    bool isOver() const { return !mail; }
    std::unique_ptr<Mailbox> mail;
    size_t rail;
    int64_t deadlineUs;
    enum class State { AwaitingHello, Offering, Starting } state = State::AwaitingHello;
    uint64_t id = 0; // of the connection
  };
  // The links of one connection. The first link waits for Start.
  struct Group {
    uint64_t id = 0;
    int64_t deadlineUs = 0;
    uint8_t wanted = 0; // one bit each; 0: not known yet
    size_t rails = 0;   // the number of rails of both ends
    std::vector<std::unique_ptr<Mailbox>> mails;
    bool isComplete() const {
      for (size_t i = 0; i < mails.size(); ++i)
        if ((wanted >> i & 1) && !mails[i])
          return false;
      return wanted != 0;
    }
  };

  Group *find(uint64_t id) {
    auto it = std::find_if(groups_.begin(), groups_.end(),
                           [id](const Group &group) { return group.id == id; });
    return it == groups_.end() ? nullptr : &*it;
  }

  Status step(Candidate &candidate) {
    if (nowUs() > candidate.deadlineUs)
      return {kCollTimeout, "timed out waiting for the peer to complete the connection"};
    if (candidate.state == Candidate::State::AwaitingHello)
      COLL_RETURN_IF_ERROR(readHello(candidate));
    if (candidate.state == Candidate::State::Offering && candidate.mail)
      COLL_RETURN_IF_ERROR(offer(candidate));
    if (candidate.state == Candidate::State::Starting && candidate.mail)
      COLL_RETURN_IF_ERROR(start(candidate));
    return {};
  }

  Status readHello(Candidate &candidate) {
    std::vector<uint8_t> in;
    Result<bool> came = candidate.mail->get(in);
    if (!came.ok() || !*came)
      return came.status();
    std::optional<LinkHello> said = decodeLinkHello(in.data(), in.size());
    if (!said || said->rail != candidate.rail)
      return stranger();
    if (candidate.rail > 0) {
      Group *group = find(said->id);
      if (!group || group->mails[candidate.rail])
        return {kCollPeer, "a link that belongs to no connection"};
      group->mails[candidate.rail] = std::move(candidate.mail);
      return {};
    }
    uint64_t id = 0;
    COLL_RETURN_IF_ERROR(fillRandom(&id, sizeof(id)));
    Group &group = groups_.emplace_back();
    group.id = id;
    group.deadlineUs = candidate.deadlineUs;
    group.mails.resize(inner_.size());
    candidate.id = group.id;
    candidate.state = Candidate::State::Offering;
    return {};
  }

  Status offer(Candidate &candidate) {
    Offer offer;
    offer.id = candidate.id;
    for (size_t i = 1; i < inner_.size(); ++i)
      offer.handles.push_back(inner_[i]->handle());
    Result<bool> left = candidate.mail->put(encode(offer));
    if (left.ok() && *left)
      candidate.state = Candidate::State::Starting;
    return left.status();
  }

  Status start(Candidate &candidate) {
    std::vector<uint8_t> in;
    Result<bool> came = candidate.mail->get(in);
    if (!came.ok() || !*came)
      return came.status();
    std::optional<Start> said = decodeStart(in.data(), in.size());
    Group *group = find(candidate.id);
    if (!said || !group || said->rails >> inner_.size() != 0)
      return stranger();
    group->wanted = said->rails;
    group->rails = std::min<size_t>(said->count, inner_.size());
    group->mails[0] = std::move(candidate.mail);
    return {};
  }

  Result<std::unique_ptr<Connection>> takeReady() {
    int64_t now = nowUs();
    groups_.remove_if([now](const Group &group) { return now > group.deadlineUs; });
    auto it = std::find_if(groups_.begin(), groups_.end(),
                           [](const Group &group) { return group.isComplete(); });
    if (it == groups_.end())
      return std::unique_ptr<Connection>();
    std::vector<std::unique_ptr<Connection>> links(it->mails.size());
    for (size_t i = 0; i < links.size(); ++i)
      if (it->wanted >> i & 1)
        links[i] = it->mails[i]->take();
    const Identity identity{&shared_, device_, it->id, /*isAcceptor=*/true, it->rails};
    groups_.erase(it);
    return BondConnection::create(identity, std::move(links));
  }

  Shared &shared_;
  const int device_;
  const std::vector<std::unique_ptr<Listener>> inner_; // by rail
  const Handle handle_;
  std::mutex mutex_;
  std::list<Candidate> candidates_;
  std::list<Group> groups_;
};

// ===-- the connecting end ------------------------------------------------------===//

class BondConnector final : public Connector {
public:
  BondConnector(Shared &shared, int device, std::unique_ptr<Connector> first)
      : shared_(shared), device_(device), deadlineUs_(nowUs() + shared.options.timeoutUs) {
    links_.reserve(BondOptions::kMaxRails); // keeps references to the first link valid
    links_.emplace_back().connector = std::move(first);
  }

  Result<std::unique_ptr<Connection>> poll() override {
    if (nowUs() > deadlineUs_)
      return Status(kCollTimeout, "timed out waiting for the peer to complete the connection");
    Link &first = links_.front();
    COLL_RETURN_IF_ERROR(advance(first, 0));
    if (first.isIn && !isOffered_)
      COLL_RETURN_IF_ERROR(takeOffer());
    bool areSettled = isOffered_;
    for (size_t i = 1; i < links_.size(); ++i) {
      Link &link = links_[i];
      if (link.isIn || link.isOut)
        continue;
      Status outcome = advance(link, i);
      if (outcome.ok() && nowUs() > joinDeadlineUs_)
        outcome = {kCollTimeout, "timed out waiting for the link"};
      if (!outcome.ok())
        leaveOut(i, outcome);
      areSettled &= link.isIn || link.isOut;
    }
    if (!areSettled)
      return std::unique_ptr<Connection>();
    Start start;
    start.count = static_cast<uint8_t>(links_.size());
    for (size_t i = 0; i < links_.size(); ++i)
      start.rails |= static_cast<uint8_t>(links_[i].isIn ? 1u << i : 0);
    Result<bool> left = first.mail->put(encode(start));
    if (!left.ok() || !*left)
      return left.ok() ? Result<std::unique_ptr<Connection>>(nullptr) : left.status();
    std::vector<std::unique_ptr<Connection>> links(links_.size());
    for (size_t i = 0; i < links.size(); ++i)
      if (links_[i].isIn)
        links[i] = links_[i].mail->take();
    const Identity identity{&shared_, device_, id_, /*isAcceptor=*/false, links.size()};
    return BondConnection::create(identity, std::move(links));
  }

private:
  struct Link {
    std::unique_ptr<Connector> connector;
    std::unique_ptr<Mailbox> mail;
    bool isIn = false;  // the peer knows this link
    bool isOut = false; // it could not be connected
  };

  // Progresses one link until the peer knows it.
  Status advance(Link &link, size_t rail) {
    if (link.isIn)
      return {};
    if (!link.mail) {
      Result<std::unique_ptr<Connection>> made = link.connector->poll();
      if (!made.ok() || !*made)
        return made.status();
      link.mail = std::make_unique<Mailbox>(made.take());
    }
    LinkHello hello;
    hello.id = id_;
    hello.rail = static_cast<uint8_t>(rail);
    Result<bool> left = link.mail->put(encode(hello));
    link.isIn = left.ok() && *left;
    return left.status();
  }

  void leaveOut(size_t rail, const Status &why) {
    rt::log(rt::LogLevel::Warn,
            shared_.devices[static_cast<size_t>(device_)].name + ": link " + std::to_string(rail) +
                " cannot be connected; the connection works without it: " + why.message());
    links_[rail].isOut = true;
    links_[rail].mail.reset();
    links_[rail].connector.reset();
  }

  // Starts the other links.
  Status takeOffer() {
    std::vector<uint8_t> in;
    Result<bool> came = links_.front().mail->get(in);
    if (!came.ok() || !*came)
      return came.status();
    std::optional<Offer> offer = decodeOffer(in.data(), in.size());
    if (!offer)
      return stranger();
    id_ = offer->id;
    isOffered_ = true;
    joinDeadlineUs_ = nowUs() + shared_.options.joinTimeoutUs;
    const std::vector<int> &below = shared_.below[static_cast<size_t>(device_)];
    size_t count = std::min(offer->handles.size() + 1, below.size());
    links_.resize(count);
    for (size_t i = 1; i < count; ++i) {
      if (!shared_.inner->isUp(below[i])) {
        leaveOut(i, {kCollLink, "its device is down"});
        continue;
      }
      Result<std::unique_ptr<Connector>> connector =
          shared_.inner->connect(below[i], offer->handles[i - 1]);
      if (connector.ok())
        links_[i].connector = connector.take();
      else
        leaveOut(i, connector.status());
    }
    return {};
  }

  Shared &shared_;
  const int device_;
  const int64_t deadlineUs_;
  int64_t joinDeadlineUs_ = 0;
  uint64_t id_ = 0;
  bool isOffered_ = false;
  std::vector<Link> links_; // by rail
};

} // namespace

Result<std::unique_ptr<Listener>> makeListener(Shared &shared, int device) {
  std::vector<std::unique_ptr<Listener>> inner;
  for (int below : shared.below[static_cast<size_t>(device)]) {
    Result<std::unique_ptr<Listener>> made = shared.inner->listen(below);
    if (!made.ok())
      return made.status();
    inner.push_back(made.take());
  }
  return std::unique_ptr<Listener>(
      std::make_unique<BondListener>(shared, device, std::move(inner)));
}

Result<std::unique_ptr<Connector>> makeConnector(Shared &shared, int device, const Handle &handle) {
  std::optional<Handle> first = unmark(handle);
  if (!first)
    return Status::invalid("the handle does not belong to a listener of several devices; "
                           "is COLL_NET_RAILS the same on both sides?");
  Result<std::unique_ptr<Connector>> inner = shared.inner->connect(device, *first);
  if (!inner.ok())
    return inner.status();
  return std::unique_ptr<Connector>(std::make_unique<BondConnector>(shared, device, inner.take()));
}

} // namespace coll::net::bond
