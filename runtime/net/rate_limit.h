// rate_limit.h - limits log lines that unknown processes can cause.

#ifndef COLL_RUNTIME_NET_RATE_LIMIT_H
#define COLL_RUNTIME_NET_RATE_LIMIT_H

#include "runtime/base/log.h"
#include "runtime/net/socket.h"

#include <mutex>
#include <string>

namespace coll::net {

// At most one line a second; the next one says how many were suppressed. Any thread may call it.
class RateLimitedLog {
public:
  void warn(const std::string &message) {
    std::lock_guard<std::mutex> lock(mutex_);
    int64_t now = nowUs();
    if (lastUs_ && now - lastUs_ < 1'000'000) {
      ++omitted_;
      return;
    }
    std::string suffix = omitted_ ? " (and " + std::to_string(omitted_) + " more before)" : "";
    rt::log(rt::LogLevel::Warn, message + suffix);
    lastUs_ = now;
    omitted_ = 0;
  }

private:
  std::mutex mutex_;
  int64_t lastUs_ = 0;
  int64_t omitted_ = 0;
};

} // namespace coll::net

#endif // COLL_RUNTIME_NET_RATE_LIMIT_H
