#include "runtime/kernels/reshard/copy.h"

#include "runtime/kernels/reshard/tuning.h"

#include <string>

namespace coll::kernels {

using rt::Result;
using rt::Status;
using rt::StridedBox;

namespace {

constexpr int kMaxBlocks = 65535;
constexpr size_t kMaxEntries = 1 << 24;
// The kernel counts rows, and words of a row plus a unit, in 32 bits.
constexpr int64_t kMaxRows = int64_t{1} << 31;
constexpr int64_t kMaxRowBytes = int64_t{1} << 30;

Status checkPiece(const ReshardPiece &piece) {
  const StridedBox &box = piece.box;
  if (!piece.src || !piece.dst)
    return Status::invalid("a null buffer");
  if (box.numLoops < 0 || box.numLoops > rt::kMaxBoxLoops)
    return Status::invalid(std::to_string(box.numLoops) + " loops");
  if (box.rowBytes < 0)
    return Status::invalid("rows of " + std::to_string(box.rowBytes) + " bytes");
  for (int i = 0; i < box.numLoops; ++i)
    if (box.count[static_cast<size_t>(i)] < 0)
      return Status::invalid("loop " + std::to_string(i) + " runs " +
                             std::to_string(box.count[static_cast<size_t>(i)]) + " times");
  return {};
}

uint32_t widthOf(const char *src, const char *dst, const StridedBox &box) {
  uint64_t bits = reinterpret_cast<uintptr_t>(src) | reinterpret_cast<uintptr_t>(dst) |
                  static_cast<uint64_t>(box.rowBytes) | 16;
  for (int i = 0; i < box.numLoops; ++i) {
    const auto d = static_cast<size_t>(i);
    bits |= static_cast<uint64_t>(box.srcStride[d]) | static_cast<uint64_t>(box.dstStride[d]);
  }
  return static_cast<uint32_t>(bits & (~bits + 1));
}

class Compiler {
public:
  Status add(const char *src, char *dst, const StridedBox &box) {
    if (entries_.size() > kMaxEntries)
      return Status::invalid("more than 16 Mi boxes in one launch");
    // A box whose numbers are too large for an entry is cut in two.
    if (box.rowBytes > kMaxRowBytes)
      return cutRow(src, dst, box);
    int64_t rows = 1;
    for (int i = box.numLoops; i-- > 0;) {
      const auto d = static_cast<size_t>(i);
      if (box.count[d] > kMaxRows / rows)
        return cutLoop(src, dst, box, d);
      rows *= box.count[d];
    }
    append(src, dst, box, rows);
    return {};
  }
  std::vector<ReshardEntry> &entries() { return entries_; }
  uint64_t units() const { return units_; }

private:
  Status cutRow(const char *src, char *dst, StridedBox box) {
    const int64_t rest = box.rowBytes - kMaxRowBytes;
    box.rowBytes = kMaxRowBytes;
    COLL_RETURN_IF_ERROR(add(src, dst, box));
    box.rowBytes = rest;
    return add(src + kMaxRowBytes, dst + kMaxRowBytes, box);
  }
  Status cutLoop(const char *src, char *dst, StridedBox box, size_t d) {
    const int64_t whole = box.count[d], half = whole / 2;
    box.count[d] = half;
    COLL_RETURN_IF_ERROR(add(src, dst, box));
    box.count[d] = whole - half;
    return add(src + half * box.srcStride[d], dst + half * box.dstStride[d], box);
  }
  void append(const char *src, char *dst, const StridedBox &box, int64_t rows) {
    ReshardEntry entry;
    entry.src = src;
    entry.dst = dst;
    entry.width = widthOf(src, dst, box);
    entry.perRow = static_cast<uint32_t>(box.rowBytes / entry.width);
    entry.items = static_cast<uint64_t>(rows) * entry.perRow;
    entry.numLoops = static_cast<uint32_t>(box.numLoops);
    for (size_t d = 0; d < entry.numLoops; ++d) {
      entry.count[d] = static_cast<uint32_t>(box.count[d]);
      entry.srcStride[d] = box.srcStride[d];
      entry.dstStride[d] = box.dstStride[d];
    }
    entry.firstUnit = units_;
    const uint32_t unit = entry.width == 16 ? kReshardUnit : kReshardNarrowUnit;
    units_ += (entry.items + unit - 1) / unit;
    entries_.push_back(entry);
  }

  std::vector<ReshardEntry> entries_;
  uint64_t units_ = 0;
};

void copyEntry(const ReshardEntry &entry) {
  for (uint64_t item = 0; item < entry.items; ++item) {
    const uint64_t column = item % entry.perRow;
    uint64_t row = item / entry.perRow;
    int64_t from = static_cast<int64_t>(column * entry.width), to = from;
    for (uint32_t loop = entry.numLoops; loop-- > 0;) {
      const auto at = static_cast<int64_t>(row % entry.count[loop]);
      row /= entry.count[loop];
      from += at * entry.srcStride[loop];
      to += at * entry.dstStride[loop];
    }
    for (uint32_t i = 0; i < entry.width; ++i)
      entry.dst[to + i] = entry.src[from + i];
  }
}

} // namespace

Result<ReshardTable> compileReshard(const std::vector<ReshardPiece> &pieces) {
  Compiler remote, local;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const ReshardPiece &piece = pieces[i];
    const std::string where = "piece " + std::to_string(i);
    COLL_RETURN_IF_ERROR(checkPiece(piece).annotate(where));
    if (piece.box.bytes() == 0)
      continue;
    Compiler &compiler = piece.isLocal ? local : remote;
    COLL_RETURN_IF_ERROR(compiler
                             .add(static_cast<const char *>(piece.src) + piece.box.srcOffset,
                                  static_cast<char *>(piece.dst) + piece.box.dstOffset, piece.box)
                             .annotate(where));
  }
  ReshardTable table;
  table.counts = {static_cast<uint32_t>(remote.entries().size()),
                  static_cast<uint32_t>(local.entries().size()), remote.units(), local.units()};
  table.entries = std::move(remote.entries());
  table.entries.insert(table.entries.end(), local.entries().begin(), local.entries().end());
  return table;
}

Status checkReshardCopy(const ReshardCopy &copy) {
  if (!copy.entries && copy.counts.remoteEntries + copy.counts.localEntries != 0)
    return Status::invalid("no table");
  if (copy.blocks < 0 || copy.blocks > kMaxBlocks)
    return Status::invalid(std::to_string(copy.blocks) + " blocks: 0 to 65535 are possible");
  if (copy.parts == 0 || copy.part >= copy.parts)
    return Status::invalid("part " + std::to_string(copy.part) + " of " +
                           std::to_string(copy.parts));
  return {};
}

void reshardReference(const ReshardTable &table) {
  for (const ReshardEntry &entry : table.entries)
    copyEntry(entry);
}

} // namespace coll::kernels
