// tuning.cuh - sizes of the attention kernels' blocks, and how they were found.

#ifndef COLL_RUNTIME_KERNELS_ATTENTION_TUNING_CUH
#define COLL_RUNTIME_KERNELS_ATTENTION_TUNING_CUH

#include "runtime/kernels/attention/products.cuh"

namespace coll::kernels::attention {

// A block of kWarps warps has kBlocks times 16 rows a warp, and loops over the other side's rows
// kStep at a time. kResident: the blocks for which a multiprocessor has registers.
template <typename ProductsT, uint32_t dim, uint32_t warps, uint32_t blocks, uint32_t step,
          uint32_t resident>
struct Form {
  using Products = ProductsT;
  static constexpr uint32_t kDim = dim, kWarps = warps, kBlocks = blocks, kStep = step;
  static constexpr uint32_t kResident = resident;
  static constexpr uint32_t kThreads = simt::kWarpThreads * kWarps;
  static constexpr uint32_t kWarpRows = 16 * kBlocks, kRows = kWarps * kWarpRows;
};

// Rows of kDim = 32, 64 or 128 elements in shared memory. The fastest of about ten forms of each
// kernel on an H100 or H200 with 96 heads of 1024 queries, causal, dim 64; in us, and in
// parentheses the time of the slowest form: bf16 forward 60 (77), queries' gradient 84 (110), keys'
// gradient 102 (139); TF32 122 (178), 192 (272), 230 (307); f32 450 (573), 683 (921), 923 (1907).
// Two blocks of rows a warp halve the reads from shared memory, if there are enough registers.
template <typename Products, uint32_t kDim>
struct Forms;

template <typename Type, uint32_t kDim>
struct Forms<Narrow<Type>, kDim> {
  static constexpr bool kIsLong = kDim > 64;
  using Forward = Form<Narrow<Type>, kDim, 4, kIsLong ? 1 : 2, 64, 2>;
  using QueryGradient = Form<Narrow<Type>, kDim, 4, 1, 64, kIsLong ? 1 : 3>;
  using KeyGradient = Form<Narrow<Type>, kDim, 4, 1, kIsLong ? 64 : 32, kIsLong ? 1 : 3>;
};

template <uint32_t kDim>
struct Forms<Tf32, kDim> {
  static constexpr bool kIsLong = kDim > 64;
  static constexpr uint32_t kBlocks = kIsLong ? 1 : 2;
  using Forward = Form<Tf32, kDim, 4, kBlocks, kIsLong ? 32 : 64, kBlocks>;
  using QueryGradient = Form<Tf32, kDim, 4, kBlocks, 32, 1>;
  using KeyGradient = QueryGradient;
};

template <uint32_t kDim>
struct Forms<F32, kDim> {
  static constexpr bool kIsLong = kDim > 64;
  static constexpr uint32_t kBlocks = kIsLong ? 1 : 2;
  using Forward = Form<F32, kDim, 4, kBlocks, kIsLong ? 32 : 16, kBlocks>;
  using QueryGradient = Forward;
  using KeyGradient = Forward;
};

} // namespace coll::kernels::attention

#endif // COLL_RUNTIME_KERNELS_ATTENTION_TUNING_CUH
