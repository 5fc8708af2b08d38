// narrow_blocks.h - blocks of narrow floats to f32 and back, with the CPU's vector units.
//
// The results are those of the conversions in narrow.h, except that a NaN may become another NaN.
// The instruction set is chosen once: AVX-512, AVX2 with F16C, or plain C++.

#ifndef COLL_RUNTIME_BASE_NARROW_BLOCKS_H
#define COLL_RUNTIME_BASE_NARROW_BLOCKS_H

#include "runtime/base/codes.h"

#include <cstdint>

namespace coll::rt {

struct NarrowBlocks {
  void (*widen)(const void *from, float *to, int64_t count);
  void (*narrow)(const float *from, void *to, int64_t count);
};

enum class VectorUnit : uint8_t { None, Avx2, Avx512 };
// The best that this CPU and its operating system have.
VectorUnit vectorUnit();

// For a dtype with isNarrowFloat(), and a unit that the CPU has. Buffers need no alignment.
const NarrowBlocks &narrowBlocks(CollDtype dtype, VectorUnit unit = vectorUnit());

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_NARROW_BLOCKS_H
