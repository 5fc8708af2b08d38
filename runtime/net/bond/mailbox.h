// mailbox.h - one message at a time over a link that is being set up.

#ifndef COLL_RUNTIME_NET_BOND_MAILBOX_H
#define COLL_RUNTIME_NET_BOND_MAILBOX_H

#include "runtime/net/bond/frame.h"

#include <memory>
#include <vector>

namespace coll::net::bond {

// A tag that neither frames nor parts use.
inline constexpr uint64_t kSetupTag = 1;

// Owns the link and the messages. One thread at a time may call it.
class Mailbox {
public:
  explicit Mailbox(std::unique_ptr<Connection> link) : link_(std::move(link)) {}

  // Call each function repeatedly until it returns true: the message was sent, or is in `in`.
  Result<bool> put(const std::vector<uint8_t> &message) {
    if (!sent_) {
      out_ = message;
      Segment all{out_.data(), out_.size(), nullptr};
      Result<Request *> posted = link_->isend(&all, 1, kSetupTag);
      if (!posted.ok())
        return posted.status();
      sent_ = *posted;
    }
    return ended(sent_, outBytes_);
  }
  Result<bool> get(std::vector<uint8_t> &in) {
    if (!wanted_) {
      in_.resize(Offer::kMaxBytes);
      Segment all{in_.data(), in_.size(), nullptr};
      Result<Request *> posted = link_->irecv(&all, 1, kSetupTag);
      if (!posted.ok())
        return posted.status();
      wanted_ = *posted;
    }
    uint64_t bytes = 0;
    Result<bool> came = ended(wanted_, bytes);
    if (came.ok() && *came)
      in.assign(in_.begin(), in_.begin() + static_cast<ptrdiff_t>(bytes));
    return came;
  }
  std::unique_ptr<Connection> take() { return std::move(link_); }

private:
  Result<bool> ended(Request *&request, uint64_t &bytes) {
    if (!request)
      return false;
    Result<Completion> completion = link_->test(request);
    if (!completion.ok() || completion->done)
      request = nullptr;
    if (!completion.ok())
      return completion.status();
    bytes = completion->bytes;
    return completion->done;
  }

  std::vector<uint8_t> out_, in_;
  uint64_t outBytes_ = 0;
  Request *sent_ = nullptr, *wanted_ = nullptr;
  std::unique_ptr<Connection> link_; // destroyed first: it may use the buffers
};

} // namespace coll::net::bond

#endif // COLL_RUNTIME_NET_BOND_MAILBOX_H
