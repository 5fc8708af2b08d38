// refusals.h - the last connections that rank 0 refused, for the message of a job that cannot
// start. One thread at a time.

#ifndef COLL_RUNTIME_NET_BOOTSTRAP_REFUSALS_H
#define COLL_RUNTIME_NET_BOOTSTRAP_REFUSALS_H

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>

namespace coll::net {

class Refusals {
public:
  static constexpr size_t kMost = 4; // of different refusals; older ones are dropped

  void add(const std::string &host, const std::string &reason) {
    auto known = std::find_if(all_.begin(), all_.end(), [&](const Refusal &one) {
      return one.host == host && one.reason == reason;
    });
    Refusal latest = {host, reason, 0};
    if (known != all_.end()) {
      latest = *known;
      all_.erase(known);
    }
    ++latest.count;
    all_.push_back(std::move(latest));
    if (all_.size() > kMost)
      all_.pop_front();
  }

  // "; refused since: 192.0.2.1: the job secrets (COLL_SECRET) differ (3 times)", oldest first;
  // empty if nothing was refused.
  std::string text() const {
    std::string text;
    for (const Refusal &one : all_) {
      text += text.empty() ? "; refused since: " : "; ";
      text += one.host + ": " + one.reason;
      if (one.count > 1)
        text += " (" + std::to_string(one.count) + " times)";
    }
    return text;
  }

private:
  struct Refusal {
    std::string host, reason;
    int64_t count = 0;
  };
  std::deque<Refusal> all_;
};

} // namespace coll::net

#endif // COLL_RUNTIME_NET_BOOTSTRAP_REFUSALS_H
