#include "plan/reshard_certificate.h"

#include <algorithm>

namespace coll::plan {

ReshardCertificate certify(const Mesh &mesh, const Reshard &reshard, const MovePlan &plan) {
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
  certificate.reason = plan.reason;
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
