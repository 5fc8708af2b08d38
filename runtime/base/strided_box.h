// strided_box.h - a rectangle of one buffer that is copied to a rectangle of another.
//
// The innermost unit is a row of bytes that is contiguous on both sides; up to kMaxBoxLoops loops
// repeat it, the outermost first. Offsets and strides are bytes from the starts of two buffers that
// the box does not know.

#ifndef COLL_RUNTIME_BASE_STRIDED_BOX_H
#define COLL_RUNTIME_BASE_STRIDED_BOX_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace coll::rt {

inline constexpr int kMaxBoxLoops = 8;

struct StridedBox {
  int64_t srcOffset = 0, dstOffset = 0;
  int64_t rowBytes = 0;
  int numLoops = 0;
  std::array<int64_t, kMaxBoxLoops> count = {}; // each above 0
  std::array<int64_t, kMaxBoxLoops> srcStride = {}, dstStride = {};

  int64_t rows() const {
    int64_t product = 1;
    for (int i = 0; i < numLoops; ++i)
      product *= count[static_cast<size_t>(i)];
    return product;
  }
  int64_t bytes() const { return rows() * rowBytes; }
};

// Visits the rows of a box, one after the other, without heap memory.
class RowCursor {
public:
  explicit RowCursor(const StridedBox &box)
      : box_(&box), src_(box.srcOffset), dst_(box.dstOffset), left_(box.rows()) {}

  bool done() const { return left_ == 0; }
  int64_t src() const { return src_; }
  int64_t dst() const { return dst_; }
  void next() {
    --left_;
    for (int i = box_->numLoops - 1; i >= 0; --i) {
      const auto d = static_cast<size_t>(i);
      src_ += box_->srcStride[d];
      dst_ += box_->dstStride[d];
      if (++at_[d] < box_->count[d])
        return;
      src_ -= box_->srcStride[d] * box_->count[d];
      dst_ -= box_->dstStride[d] * box_->count[d];
      at_[d] = 0;
    }
  }

private:
  const StridedBox *box_;
  int64_t src_, dst_, left_;
  std::array<int64_t, kMaxBoxLoops> at_ = {};
};

// Copies a box between buffers of this process that do not overlap.
void copyBox(const StridedBox &box, const char *src, char *dst);

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_STRIDED_BOX_H
