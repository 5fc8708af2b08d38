#include "runtime/exchange/reshard_certificate.h"

#include "runtime/base/dtype.h"
#include "runtime/exchange/region.h"

#include <algorithm>
#include <map>

namespace coll::rt::exchange {

namespace {

std::string bytesInto(const ReshardInflow &into) {
  return std::to_string(into.bytes) + " bytes, at least " + std::to_string(into.leastBytes);
}

} // namespace

ReshardCertificate certify(const ReshardSpec &spec, const ReshardPlan &plan) {
  std::map<std::pair<size_t, int>, int64_t> moved; // receiver, rank of the sender
  for (const Transfer &transfer : plan.transfers)
    if (!transfer.isLocal && transfer.bytes > 0)
      moved[{static_cast<size_t>(transfer.receiver),
             plan.senders[static_cast<size_t>(transfer.sender)]}] += transfer.bytes;
  ReshardCertificate certificate;
  certificate.strategy = plan.strategy;
  for (const Shard &receiver : spec.receivers) {
    ReshardInflow into;
    into.rank = receiver.rank;
    int64_t least = volume(receiver.region);
    for (const Shard &sender : spec.senders)
      if (sender.rank == receiver.rank)
        least -= volume(intersect(receiver.region, sender.region));
    into.leastBytes = least * dtypeSize(spec.dtype);
    certificate.inflows.push_back(into);
  }
  for (const auto &[pair, bytes] : moved) {
    ReshardInflow &into = certificate.inflows[pair.first];
    into.links.push_back({pair.second, bytes});
    into.bytes += bytes;
  }
  return certificate;
}

bool ReshardCertificate::isLeast() const {
  return std::all_of(inflows.begin(), inflows.end(),
                     [](const ReshardInflow &into) { return into.bytes == into.leastBytes; });
}

ReshardInflow ReshardCertificate::busiest() const {
  const auto most = std::max_element(
      inflows.begin(), inflows.end(),
      [](const ReshardInflow &a, const ReshardInflow &b) { return a.bytes < b.bytes; });
  return most == inflows.end() ? ReshardInflow() : *most;
}

std::string ReshardCertificate::describe() const {
  std::string text = std::string("plan ") + nameOf(strategy) + "\n";
  for (const ReshardInflow &into : inflows) {
    for (const ReshardInflow::Link &link : into.links)
      text += "  rank " + std::to_string(link.from) + " -> rank " + std::to_string(into.rank) +
              ": " + std::to_string(link.bytes) + " bytes\n";
    text += "  into rank " + std::to_string(into.rank) + ": " + bytesInto(into) + "\n";
  }
  return text + (isLeast() ? "  meets the bound of every way\n"
                           : "  is above the bound: a plan with fewer bytes is possible\n");
}

} // namespace coll::rt::exchange
