#include "plan/reshard_certificate.h"

#include <algorithm>
#include <cmath>

namespace coll::plan {

namespace {

// What a plan with the least bytes would take, and why it was not chosen.
std::string reasonOf(const MovePlan &plan, const CostModel &cost) {
  std::string reason = plan.wireBytes - plan.paddingBytes == plan.leastBytes
                           ? "blocks travel with their padding"
                           : "collectives move whole blocks, and some elements more than once";
  if (plan.routing == Routing::Slower && cost.isByBytes() && std::isinf(cost.messageBytes()))
    return reason + "; nothing is routed";
  if (plan.routing == Routing::Slower)
    return reason + "; a route, which has more calls, takes longer " +
           (cost.isByBytes() ? "where a call counts as much as " +
                                   std::to_string(std::lround(cost.messageBytes() / 1e3)) + " KB"
                             : "by the topology");
  if (plan.routing == Routing::Kept)
    return reason + "; reductions stay collectives, which share calls with others";
  return reason;
}

} // namespace

ReshardCertificate certify(const Mesh &mesh, const Reshard &reshard, const MovePlan &plan,
                           const CostModel &cost) {
  ReshardCertificate certificate;
  certificate.mesh = mesh;
  certificate.reshard = reshard;
  certificate.steps = plan.moves;
  certificate.wireBytes = plan.wireBytes;
  certificate.paddingBytes = plan.paddingBytes;
  certificate.leastBytes = plan.leastBytes;
  for (const Move &move : plan.moves) {
    if (move.wireBytes == 0)
      continue;
    auto link = std::find_if(certificate.links.begin(), certificate.links.end(),
                             [&](const auto &other) { return other.axes == move.axes; });
    if (link == certificate.links.end())
      link = certificate.links.insert(link, {move.axes, 0});
    link->bytes += move.wireBytes;
  }
  if (plan.wireBytes > plan.leastBytes)
    certificate.reason = reasonOf(plan, cost);
  return certificate;
}

std::string ReshardCertificate::describe() const {
  std::string text =
      plan::describe(mesh, reshard.from) + " -> " + plan::describe(mesh, reshard.to) + "\n";
  for (const Move &step : steps)
    text += "  " + plan::describe(mesh, step) + "\n";
  for (const Link &link : links) {
    std::string axes;
    for (int axis : link.axes)
      axes += (axes.empty() ? "" : ",") + mesh.axes[static_cast<size_t>(axis)].name;
    text += "  over [" + axes + "]: " + std::to_string(link.bytes) + " bytes\n";
  }
  text += "  " + std::to_string(wireBytes) + " bytes";
  if (paddingBytes > 0)
    text += " (" + std::to_string(paddingBytes) + " of padding)";
  text += ", at least " + std::to_string(leastBytes);
  return text + (reason.empty() ? "\n" : ": " + reason + "\n");
}

} // namespace coll::plan
