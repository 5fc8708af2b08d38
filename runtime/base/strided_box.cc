#include "runtime/base/strided_box.h"

#include <cstring>

namespace coll::rt {

namespace {

// With a length that is known at compile time this becomes a load and a store.
template <size_t bytes>
void copyRows(RowCursor rows, const char *src, char *dst) {
  for (; !rows.done(); rows.next())
    std::memcpy(dst + rows.dst(), src + rows.src(), bytes);
}

} // namespace

void copyBox(const StridedBox &box, const char *src, char *dst) {
  const auto bytes = static_cast<size_t>(box.rowBytes);
  RowCursor rows(box);
  switch (bytes) {
  case 1:
    return copyRows<1>(rows, src, dst);
  case 2:
    return copyRows<2>(rows, src, dst);
  case 4:
    return copyRows<4>(rows, src, dst);
  case 8:
    return copyRows<8>(rows, src, dst);
  case 16:
    return copyRows<16>(rows, src, dst);
  default:
    for (; !rows.done(); rows.next())
      std::memcpy(dst + rows.dst(), src + rows.src(), bytes);
  }
}

} // namespace coll::rt
