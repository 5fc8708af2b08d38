#include "runtime/net/gpu/page_policy.h"

#include <charconv>
#include <string>

namespace coll::net {

rt::Result<PagePolicy> parsePagePolicy(std::string_view text) {
  if (text == "nccl")
    return kPagesForNccl;
  if (text == "whole")
    return kPagesWhole;
  PagePolicy policy;
  uint32_t *const numbers[] = {&policy.divisor, &policy.minBytes, &policy.maxBytes};
  const char *at = text.data(), *end = at + text.size();
  bool good = true;
  for (int i = 0; i < 3 && good; ++i) {
    auto [stop, error] = std::from_chars(at, end, *numbers[i]);
    good = error == std::errc() && (i == 2 ? stop == end : stop != end && *stop == ':');
    at = stop + 1;
  }
  if (!good || policy.divisor < 1 || policy.minBytes < 1 || policy.minBytes > policy.maxBytes ||
      policy.maxBytes > (1u << 30))
    return rt::Status::invalid("page sizes are nccl, whole, or divisor:min:max with 1 <= min <= "
                               "max <= 1 GiB, not \"" +
                               std::string(text) + "\"");
  return policy;
}

} // namespace coll::net
