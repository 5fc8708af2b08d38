#include "runtime/kernels/error_word.h"
#include "runtime/kernels/pages/pack.h"
#include "runtime/kernels/pages/unpack.h"

namespace coll::kernels {
namespace {

bool inside(const PageCopy &copy, const rt::PageDescriptor &page) {
  return page.bounceOff <= copy.bounceBytes && page.len <= copy.bounceBytes - page.bounceOff &&
         page.bufferOff <= copy.bufferBytes && page.len <= copy.bufferBytes - page.bufferOff;
}

template <bool unpack>
uint64_t copyPages(const PageCopy &copy) {
  auto *bounce = static_cast<uint8_t *>(copy.bounce), *buffer = static_cast<uint8_t *>(copy.buffer);
  uint64_t error = 0;
  for (uint64_t i = 0; i < copy.count; ++i) {
    const rt::PageDescriptor &page = copy.pages[i];
    if (page.len == 0)
      continue;
    if (!inside(copy, page)) {
      error = errorWord(KernelError::PageRange, static_cast<uint32_t>(i));
      continue;
    }
    for (uint32_t k = 0; k < page.len; ++k)
      if (unpack)
        buffer[page.bufferOff + k] = bounce[page.bounceOff + k];
      else
        bounce[page.bounceOff + k] = buffer[page.bufferOff + k];
  }
  return error;
}

} // namespace

uint64_t unpackReference(const PageCopy &copy) { return copyPages<true>(copy); }
uint64_t packReference(const PageCopy &copy) { return copyPages<false>(copy); }

} // namespace coll::kernels
