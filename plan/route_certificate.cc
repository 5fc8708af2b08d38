#include "plan/route_certificate.h"

#include <algorithm>
#include <map>

namespace coll::plan {

namespace {

std::string bytesInto(const RouteInflow &into) {
  return std::to_string(into.bytes) + " bytes, at least " + std::to_string(into.leastBytes);
}

} // namespace

RouteCertificate certify(const RouteSpec &spec, const RoutePlan &plan) {
  std::map<std::pair<size_t, int>, int64_t> moved; // receiver, rank of the sender
  for (const Route &route : plan.routes)
    if (!route.isLocal && route.bytes > 0)
      moved[{static_cast<size_t>(route.receiver),
             spec.senders[static_cast<size_t>(route.sender)].rank}] += route.bytes;
  RouteCertificate certificate;
  certificate.strategy = plan.strategy;
  for (const Part &receiver : spec.receivers) {
    RouteInflow into;
    into.rank = receiver.rank;
    int64_t least = volume(receiver.region);
    for (const Part &sender : spec.senders)
      if (sender.rank == receiver.rank)
        least -= volume(intersect(receiver.region, sender.region));
    into.leastBytes = least * spec.elemBytes;
    certificate.inflows.push_back(into);
  }
  for (const auto &[pair, bytes] : moved) {
    RouteInflow &into = certificate.inflows[pair.first];
    into.links.push_back({pair.second, bytes});
    into.bytes += bytes;
  }
  return certificate;
}

bool RouteCertificate::isLeast() const {
  return std::all_of(inflows.begin(), inflows.end(),
                     [](const RouteInflow &into) { return into.bytes == into.leastBytes; });
}

RouteInflow RouteCertificate::busiest() const {
  const auto most = std::max_element(
      inflows.begin(), inflows.end(),
      [](const RouteInflow &a, const RouteInflow &b) { return a.bytes < b.bytes; });
  return most == inflows.end() ? RouteInflow() : *most;
}

std::string RouteCertificate::describe() const {
  std::string text = std::string("plan ") + nameOf(strategy) + "\n";
  for (const RouteInflow &into : inflows) {
    for (const RouteInflow::Link &link : into.links)
      text += "  rank " + std::to_string(link.from) + " -> rank " + std::to_string(into.rank) +
              ": " + std::to_string(link.bytes) + " bytes\n";
    text += "  into rank " + std::to_string(into.rank) + ": " + bytesInto(into) + "\n";
  }
  return text + (isLeast() ? "  meets the bound of every way\n"
                           : "  is above the bound: a plan with fewer bytes is possible\n");
}

} // namespace coll::plan
