#include "tools/coll-perf/reshard/pattern.h"

#include "runtime/base/dtype.h"

#include <algorithm>
#include <cstring>

namespace coll::perf {

namespace {

// Returns the upper bits of a product, which depend on all bits of the number.
template <typename Word>
Word wordOf(uint64_t number) {
  const uint64_t product = number * 0x9e3779b97f4a7c15u;
  return static_cast<Word>((product ^ (product >> 29)) >> (64 - 8 * sizeof(Word)));
}

template <typename Word>
void fillRun(uint64_t number, int64_t count, char *data) {
  auto *words = reinterpret_cast<Word *>(data);
  for (int64_t i = 0; i < count; ++i)
    words[i] = wordOf<Word>(number + static_cast<uint64_t>(i));
}

template <typename Word>
int64_t wrongInRun(uint64_t number, int64_t count, const char *data) {
  const auto *words = reinterpret_cast<const Word *>(data);
  int64_t wrong = 0;
  for (int64_t i = 0; i < count; ++i)
    wrong += words[i] != wordOf<Word>(number + static_cast<uint64_t>(i));
  return wrong;
}

} // namespace

ShardPattern::ShardPattern(const rt::exchange::ReshardSpec &spec, const rt::exchange::Shard &shard,
                           uint64_t seed)
    : spec_(spec), shard_(shard), seed_(seed * 0xbf58476d1ce4e5b9u),
      size_(rt::dtypeSize(spec.dtype)) {
  // Row-major: a stride is the product of the extents behind it. The first extent is the region's.
  const size_t dims = spec.shape.size();
  extents_ = shard.region.extent;
  for (size_t d = 1; d < dims; ++d)
    extents_[d] = shard.strides[d - 1] / shard.strides[d];
  for (int64_t extent : extents_)
    elems_ *= extent;
}

template <typename Visit>
void ShardPattern::forEachRun(int64_t begin, int64_t end, Visit visit) const {
  const size_t dims = extents_.size();
  const int64_t row = extents_.back();
  for (int64_t at = begin; at < end;) {
    const int64_t column = at % row;
    const int64_t length = std::min(end - at, row - column);
    int64_t rest = at / row, number = 0, scale = spec_.shape[dims - 1];
    bool exists = true;
    for (size_t d = dims - 1; d-- > 0;) {
      const int64_t index = rest % extents_[d];
      rest /= extents_[d];
      exists &= index < shard_.region.extent[d];
      number += (shard_.region.begin[d] + index) * scale;
      scale *= spec_.shape[d];
    }
    const int64_t valid = std::min(length, shard_.region.extent[dims - 1] - column);
    if (exists && valid > 0)
      visit(at - begin,
            seed_ + static_cast<uint64_t>(number + shard_.region.begin[dims - 1] + column), valid);
    at += length;
  }
}

void ShardPattern::fill(int64_t begin, int64_t end, char *data) const {
  std::memset(data, 0, static_cast<size_t>((end - begin) * size_));
  forEachRun(begin, end, [&](int64_t offset, uint64_t number, int64_t count) {
    char *at = data + offset * size_;
    switch (size_) {
    case 8:
      return fillRun<uint64_t>(number, count, at);
    case 4:
      return fillRun<uint32_t>(number, count, at);
    case 2:
      return fillRun<uint16_t>(number, count, at);
    default:
      return fillRun<uint8_t>(number, count, at);
    }
  });
}

int64_t ShardPattern::wrong(int64_t begin, int64_t end, const char *data) const {
  int64_t wrong = 0;
  forEachRun(begin, end, [&](int64_t offset, uint64_t number, int64_t count) {
    const char *at = data + offset * size_;
    wrong += size_ == 8   ? wrongInRun<uint64_t>(number, count, at)
             : size_ == 4 ? wrongInRun<uint32_t>(number, count, at)
             : size_ == 2 ? wrongInRun<uint16_t>(number, count, at)
                          : wrongInRun<uint8_t>(number, count, at);
  });
  return wrong;
}

} // namespace coll::perf
