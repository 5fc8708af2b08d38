#include "plan/move.h"

#include "plan/route_move.h"

namespace coll::plan {

const char *nameOf(MoveKind kind) {
  switch (kind) {
  case MoveKind::Slice:
    return "slice";
  case MoveKind::MakePartial:
    return "make_partial";
  case MoveKind::AllGather:
    return "all_gather";
  case MoveKind::AllToAll:
    return "all_to_all";
  case MoveKind::Permute:
    return "permute";
  case MoveKind::ReduceScatter:
    return "reduce_scatter";
  case MoveKind::AllReduce:
    return "all_reduce";
  case MoveKind::Route:
    return "route";
  }
  return "?";
}

MoveBytes bytesOf(MoveKind kind, int64_t groupSize, int64_t numRanks, int64_t localBytes,
                  int64_t kept) {
  const int64_t groups = numRanks / groupSize, others = groupSize - 1;
  int log = 0;
  while ((int64_t{1} << log) < groupSize)
    ++log;
  // `parts` times what one rank has is sent in a group.
  auto sent = [&](int64_t parts, int rounds) {
    const int64_t bytes = saturatingProduct(parts, localBytes);
    return MoveBytes{saturatingProduct(groups, bytes), bytes / groupSize + (bytes % groupSize != 0),
                     rounds};
  };
  switch (kind) {
  case MoveKind::Slice:
  case MoveKind::MakePartial:
  case MoveKind::Route:
    return {};
  case MoveKind::AllGather:
    return sent(saturatingProduct(groupSize, others), log);
  case MoveKind::AllToAll:
    return sent(others, 1);
  case MoveKind::ReduceScatter:
    return sent(others, log);
  case MoveKind::AllReduce:
    return sent(2 * others, 2 * log);
  case MoveKind::Permute: {
    MoveBytes bytes = sent(groupSize - kept, 1);
    bytes.most = kept == groupSize ? 0 : localBytes;
    return bytes;
  }
  }
  return {};
}

std::string describe(const Mesh &mesh, const Move &move) {
  std::string text = nameOf(move.kind);
  if (move.join >= 0)
    text += " dim " + std::to_string(move.join);
  if (move.split >= 0)
    text += (move.join >= 0 ? " to dim " : " dim ") + std::to_string(move.split);
  std::string axes;
  for (int axis : move.axes)
    axes += (axes.empty() ? "" : ",") + mesh.axes[static_cast<size_t>(axis)].name;
  text += " over [" + axes + "]";
  if (move.kind == MoveKind::Route)
    text += " in " + std::to_string(bytesOfRoute(move, mesh, 1).rounds) + " rounds";
  return text + ": " + std::to_string(move.wireBytes) + " bytes";
}

} // namespace coll::plan
