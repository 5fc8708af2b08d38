#include "test/support/fakes/nccl_ops.h"

#include "runtime/base/dtype.h"
#include "runtime/base/reduce.h"

#include <algorithm>
#include <cstring>

namespace coll::rt::dl::fake {

namespace {

size_t dtypeBytes(int dtype) {
  static constexpr size_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return kBytes[dtype];
}

CollDtype collDtype(int dtype) {
  static constexpr CollDtype kTypes[] = {kCollI8,  kCollU8,   kCollI32,      kCollI32,
                                         kCollI64, kCollI64,  kCollF16,      kCollF32,
                                         kCollF64, kCollBf16, kCollF8E4M3FN, kCollF8E5M2};
  return kTypes[dtype];
}

CollReduction collReduction(int reduction, int dtype) {
  bool isUnsigned = dtype == kNcclUint8 || dtype == kNcclUint32 || dtype == kNcclUint64;
  switch (reduction) {
  case kNcclProd:
    return kCollProd;
  case kNcclMax:
    return isUnsigned ? kCollUmax : kCollMax;
  case kNcclMin:
    return isUnsigned ? kCollUmin : kCollMin;
  case kNcclAvg:
    return kCollAvg;
  default:
    return kCollSum;
  }
}

using Members = std::map<int, Begun>;

void store(char *at, int dtype, double value) {
  if (dtype == kNcclFloat64)
    std::memcpy(at, &value, 8);
  float single = static_cast<float>(value);
  uint16_t half = dtype == kNcclFloat16 ? f32ToF16(single) : f32ToBf16(single);
  if (dtype == kNcclFloat32)
    std::memcpy(at, &single, 4);
  else if (dtype != kNcclFloat64)
    std::memcpy(at, &half, 2);
}

// Combines the members' sources, from element `first` on, into `out`.
void combine(const Members &members, size_t first, size_t count, char *out) {
  const Op &op = members.begin()->second.op;
  size_t size = dtypeBytes(op.dtype);
  std::vector<std::vector<char>> copies; // the destination may be a later source
  std::vector<const void *> sources;
  for (const auto &[rank, begun] : members) {
    copies.emplace_back(begun.op.src + first * size, begun.op.src + (first + count) * size);
    if (op.scale != 1)
      for (size_t i = 0; i < count; ++i) {
        char *at = copies.back().data() + i * size;
        store(at, op.dtype, scalarOf(at, op.dtype) * op.scale);
      }
  }
  for (const std::vector<char> &copy : copies)
    sources.push_back(copy.data());
  reduceBuffers(collDtype(op.dtype), collReduction(op.reduction, op.dtype), sources.data(),
                static_cast<int>(sources.size()), out, static_cast<int64_t>(count));
}

void reduceAll(const Members &members) {
  const Op &op = members.begin()->second.op;
  const size_t n = members.size(), bytes = op.count * dtypeBytes(op.dtype);
  const bool scatters = op.kind == OpKind::ReduceScatter;
  std::vector<char> result(scatters ? bytes * n : bytes);
  combine(members, 0, scatters ? op.count * n : op.count, result.data());
  for (const auto &[rank, begun] : members) {
    if (op.kind == OpKind::Reduce && rank != op.root)
      continue;
    size_t offset = scatters ? static_cast<size_t>(rank) * bytes : 0;
    std::memcpy(begun.op.dst, result.data() + offset, bytes);
  }
}

void moveAll(const Members &members) {
  const Op &op = members.begin()->second.op;
  const size_t n = members.size(), bytes = op.count * dtypeBytes(op.dtype);
  std::map<int, std::vector<char>> sources; // as buffers may be in place
  for (const auto &[rank, begun] : members)
    if (op.kind != OpKind::Broadcast || rank == op.root)
      sources[rank].assign(begun.op.src,
                           begun.op.src + bytes * (op.kind == OpKind::AllToAll ? n : 1));
  for (const auto &[rank, begun] : members) {
    if (op.kind == OpKind::Broadcast) {
      std::memcpy(begun.op.dst, sources[op.root].data(), bytes);
      continue;
    }
    for (auto &[from, data] : sources) {
      size_t offset = op.kind == OpKind::AllToAll ? static_cast<size_t>(rank) * bytes : 0;
      std::memcpy(begun.op.dst + static_cast<size_t>(from) * bytes, data.data() + offset, bytes);
    }
  }
}

// Members whose operations differ wait for each other forever.
bool agree(const Members &members) {
  const Op &first = members.begin()->second.op;
  return std::all_of(members.begin(), members.end(), [&](const auto &member) {
    const Op &op = member.second.op;
    return op.kind == first.kind && op.count == first.count && op.dtype == first.dtype &&
           op.reduction == first.reduction && op.root == first.root && op.scale == first.scale;
  });
}

void arrive(Clique &clique, int rank, const Begun &begun) {
  uint64_t number = clique.begun[static_cast<size_t>(rank)]++;
  Members &members = clique.collectives[number];
  members[rank] = begun;
  if (static_cast<int>(members.size()) < clique.size || !agree(members))
    return;
  bool moves = begun.op.kind == OpKind::Broadcast || begun.op.kind == OpKind::AllGather ||
               begun.op.kind == OpKind::AllToAll;
  if (begun.op.count > 0)
    moves ? moveAll(members) : reduceAll(members);
  for (auto &[member, other] : members)
    *other.done = true;
  clique.collectives.erase(number);
}

void match(Clique &clique, std::pair<int, int> lane) {
  std::deque<Begun> &sends = clique.sends[lane], &recvs = clique.recvs[lane];
  while (!sends.empty() && !recvs.empty()) {
    const Op &send = sends.front().op, &recv = recvs.front().op;
    size_t bytes = send.count * dtypeBytes(send.dtype);
    if (bytes != recv.count * dtypeBytes(recv.dtype))
      return; // for ever
    if (bytes > 0)
      std::memmove(recv.dst, send.src, bytes);
    *sends.front().done = *recvs.front().done = true;
    sends.pop_front();
    recvs.pop_front();
  }
}

} // namespace

double scalarOf(const void *scalar, int dtype) {
  double wide = 0;
  float single = 0;
  uint16_t half = 0;
  switch (dtype) {
  case kNcclFloat64:
    std::memcpy(&wide, scalar, 8);
    return wide;
  case kNcclFloat32:
    std::memcpy(&single, scalar, 4);
    return single;
  default:
    std::memcpy(&half, scalar, 2);
    return dtype == kNcclFloat16 ? f16ToF32(half) : bf16ToF32(half);
  }
}

Sizes sizesOf(const Op &op, int rank, int size) {
  const size_t bytes = op.count * dtypeBytes(op.dtype), all = bytes * static_cast<size_t>(size);
  switch (op.kind) {
  case OpKind::AllReduce:
    return {bytes, bytes};
  case OpKind::Reduce:
    return {bytes, rank == op.root ? bytes : 0};
  case OpKind::Broadcast:
    return {rank == op.root ? bytes : 0, bytes};
  case OpKind::ReduceScatter:
    return {all, bytes};
  case OpKind::AllGather:
    return {bytes, all};
  case OpKind::AllToAll:
    return {all, all};
  case OpKind::Send:
    return {bytes, 0};
  case OpKind::Recv:
    return {0, bytes};
  }
  return {};
}

void Clique::left(int rank) {
  for (auto &[number, members] : collectives)
    members.erase(rank);
  for (auto *lanes : {&sends, &recvs})
    for (auto &[lane, queue] : *lanes)
      if ((lanes == &sends ? lane.first : lane.second) == rank)
        queue.clear();
}

FakeCuda::Question begin(Faults &faults, const std::shared_ptr<Clique> &clique, int rank,
                         const std::shared_ptr<bool> &dead, const std::vector<Op> &ops) {
  if (*dead)
    return [] { return true; };
  std::vector<std::shared_ptr<bool>> dones;
  for (const Op &op : ops) {
    Begun begun = {op, std::make_shared<bool>(false)};
    dones.push_back(begun.done);
    if (faults.hangAfter == 0)
      continue;
    if (faults.hangAfter > 0)
      --faults.hangAfter;
    if (faults.breakAfter >= 0 && faults.breakAfter-- == 0) {
      clique->error = faults.breakWith;
      continue;
    }
    if (op.kind == OpKind::Send) {
      clique->sends[{rank, op.root}].push_back(begun);
      match(*clique, {rank, op.root});
    } else if (op.kind == OpKind::Recv) {
      clique->recvs[{op.root, rank}].push_back(begun);
      match(*clique, {op.root, rank});
    } else {
      arrive(*clique, rank, begun);
    }
  }
  return [dones, dead] {
    return *dead || std::all_of(dones.begin(), dones.end(), [](const auto &done) { return *done; });
  };
}

} // namespace coll::rt::dl::fake
