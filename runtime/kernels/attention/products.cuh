// products.cuh - products of a warp's rows with a tile, in each precision.
//
// A warp has its rows of a result as kBlocks blocks of 16 rows, each as blocks of 16 x 8 sums,
// whose elements are distributed over the lanes like c of multiplyX in simt.h: g = lane / 4, t =
// lane % 4.
//
//   Left             16 rows x kDepth columns of a left operand
//   LeftRows         a left operand with all columns, which is in shared memory at first; registers
//                    may hold kMost pieces of 16 bytes of a lane's row in all blocks
//   pack()           Left of the sums of an earlier product, in kDepth / 8 blocks side by side
//   multiplyRows()   sums = left * (rows of a tile)^T
//   addWeighted()    sums += left * (rows of a tile)
//   await<later>()   waits for these sums; `later`: number of products that were begun after them
//   arrive()         waits for a thread's copies to shared memory, and for the block
//   release()        waits until rows of a left operand in shared memory may be overwritten

#ifndef COLL_RUNTIME_KERNELS_ATTENTION_PRODUCTS_CUH
#define COLL_RUNTIME_KERNELS_ATTENTION_PRODUCTS_CUH

#include "runtime/kernels/attention/tile.cuh"

namespace coll::kernels::attention {

using Sums = float[4];

// A left operand with kBlocks times 16 rows of a tile from `row` on: kept in registers if `keeps`,
// or read from the tile each time.
template <typename Products, uint32_t kBlocks, typename Rows, bool keeps>
class WarpLeftRows {
  using Left = typename Products::Left;

public:
  // Call it after the tile has arrived.
  COLL_DEVICE void load(Rows tile, uint32_t row) {
    tile_ = tile;
    row_ = row;
    if constexpr (keeps) {
      COLL_UNROLL()
      for (uint32_t k = 0; k < kKept; ++k)
        read(kept_[k], k * Products::kDepth);
    }
  }
  COLL_DEVICE void get(Left (&to)[kBlocks], uint32_t column) const {
    if constexpr (keeps) {
      COLL_UNROLL()
      for (uint32_t i = 0; i < kBlocks; ++i)
        to[i] = kept_[column / Products::kDepth][i];
    } else {
      read(to, column);
    }
  }

private:
  static constexpr uint32_t kKept =
      keeps ? Rows::kPieces * Rows::kPieceElems / Products::kDepth : 1;

  COLL_DEVICE void read(Left (&to)[kBlocks], uint32_t column) const {
    COLL_UNROLL()
    for (uint32_t i = 0; i < kBlocks; ++i)
      Products::left(to[i], tile_, row_ + i * 16, column);
  }

  Rows tile_;
  uint32_t row_;
  Left kept_[kKept][kBlocks];
};

// Products that are complete as soon as they are issued. `Products` has:
//   left()         Left of rows of a tile
//   addRows()      sums += left * (rows of a tile)^T, kDepth of whose columns are used
//   addColumns()   sums += left * (rows of a tile), kDepth of them
template <typename Products>
struct InOrder {
  template <uint32_t kBlocks, uint32_t kColumns, typename LeftRows, typename Rows>
  static COLL_DEVICE void multiplyRows(Sums (&sums)[kBlocks][kColumns], const LeftRows &left,
                                       Rows tile) {
    COLL_UNROLL()
    for (uint32_t i = 0; i < kBlocks; ++i)
      COLL_UNROLL()
    for (uint32_t j = 0; j < kColumns; ++j)
      COLL_UNROLL()
    for (uint32_t e = 0; e < 4; ++e)
      sums[i][j][e] = 0;
    COLL_UNROLL()
    for (uint32_t k = 0; k < Rows::kPieces * Rows::kPieceElems; k += Products::kDepth) {
      typename Products::Left part[kBlocks];
      left.get(part, k);
      Products::addRows(sums, part, tile, k);
    }
  }
  template <uint32_t kBlocks, uint32_t kColumns, uint32_t kParts, typename Left, typename Rows>
  static COLL_DEVICE void addWeighted(Sums (&sums)[kBlocks][kColumns],
                                      const Left (&weights)[kParts][kBlocks], Rows tile) {
    COLL_UNROLL()
    for (uint32_t k = 0; k < kParts; ++k)
      Products::addColumns(sums, weights[k], tile, k * Products::kDepth);
  }
  template <int later, uint32_t kBlocks, uint32_t kColumns>
  static COLL_DEVICE void await(Sums (&)[kBlocks][kColumns]) {}
  static COLL_DEVICE void arrive() {
    simt::waitCopies<0>();
    simt::syncBlock();
  }
  // No other warp uses these rows.
  static COLL_DEVICE void release() { simt::syncWarp(); }
};

// Code that the matrix units have in common: operands are loaded as four 8-row matrices.
struct MatrixUnits {
  struct Left {
    uint32_t word[4];
  };

  template <typename Rows>
  static COLL_DEVICE void left(Left &to, Rows tile, uint32_t row, uint32_t column) {
    const uint32_t lane = simt::lane();
    simt::loadMatrices(to.word, tile.at(row + lane % 16, lane / 16, column / Rows::kPieceElems));
  }
  // 16 rows of a tile, transposed: b0 and b1 of the first eight, then of the others.
  template <typename Rows>
  static COLL_DEVICE void right(uint32_t (&to)[4], Rows tile, uint32_t row, uint32_t column) {
    const uint32_t lane = simt::lane();
    simt::loadMatrices(
        to, tile.at(row + lane / 16 * 8 + lane % 8, lane / 8 % 2, column / Rows::kPieceElems));
  }
};

struct Bf16 {
  static COLL_DEVICE uint32_t pack(float low, float high) { return simt::packBf16(low, high); }
  static COLL_DEVICE float first(uint32_t word) { return asFloat(word << 16); }
  static COLL_DEVICE float second(uint32_t word) { return asFloat(word & 0xFFFF0000u); }
  static COLL_DEVICE void multiply(Sums &c, const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    simt::multiplyBf16(c, a, b0, b1);
  }

private:
  static COLL_DEVICE float asFloat(uint32_t bits) {
    union {
      uint32_t word;
      float value;
    } u = {bits};
    return u.value;
  }
};

struct F16 {
  static COLL_DEVICE uint32_t pack(float low, float high) { return simt::packF16(low, high); }
  static COLL_DEVICE float first(uint32_t word) { return simt::unpackF16(word & 0xFFFF); }
  static COLL_DEVICE float second(uint32_t word) { return simt::unpackF16(word >> 16); }
  static COLL_DEVICE void multiply(Sums &c, const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    simt::multiplyF16(c, a, b0, b1);
  }
};

// bf16 or f16.
template <typename Type>
struct Narrow : MatrixUnits, InOrder<Narrow<Type>> {
  using Element = uint16_t;
  static constexpr uint32_t kDepth = 16;
  template <uint32_t kBlocks, typename Rows, uint32_t kMost>
  using LeftRows = WarpLeftRows<Narrow, kBlocks, Rows, kBlocks * Rows::kPieces <= kMost>;

  static COLL_DEVICE void pack(Left &to, const Sums *sums) {
    to.word[0] = Type::pack(sums[0][0], sums[0][1]);
    to.word[1] = Type::pack(sums[0][2], sums[0][3]);
    to.word[2] = Type::pack(sums[1][0], sums[1][1]);
    to.word[3] = Type::pack(sums[1][2], sums[1][3]);
  }

  template <uint32_t kBlocks, uint32_t kColumns, typename Rows>
  static COLL_DEVICE void addRows(Sums (&sums)[kBlocks][kColumns], const Left (&left)[kBlocks],
                                  Rows tile, uint32_t column) {
    COLL_UNROLL()
    for (uint32_t j = 0; j < kColumns; j += 2) {
      uint32_t b[4];
      MatrixUnits::right(b, tile, j * 8, column);
      multiplyPair(sums, left, b, j);
    }
  }

  template <uint32_t kBlocks, uint32_t kColumns, typename Rows>
  static COLL_DEVICE void addColumns(Sums (&sums)[kBlocks][kColumns], const Left (&left)[kBlocks],
                                     Rows tile, uint32_t row) {
    const uint32_t lane = simt::lane();
    COLL_UNROLL()
    for (uint32_t j = 0; j < kColumns; j += 2) {
      uint32_t b[4];
      simt::loadTransposed(b, tile.at(row + lane % 16, lane / 16, j));
      multiplyPair(sums, left, b, j);
    }
  }

  // The product of two pieces of 16 bytes, element by element, summed.
  static COLL_DEVICE float dot(const simt::Vec16 &x, const simt::Vec16 &y) {
    float sum = 0;
    COLL_UNROLL()
    for (int i = 0; i < 4; ++i)
      sum += Type::first(x.word[i]) * Type::first(y.word[i]) +
             Type::second(x.word[i]) * Type::second(y.word[i]);
    return sum;
  }
  static COLL_DEVICE void storePair(SharedAddress piece, uint32_t pair, float low, float high) {
    simt::storeShared(piece + pair * 4, Type::pack(low, high));
  }

private:
  template <uint32_t kBlocks, uint32_t kColumns>
  static COLL_DEVICE void multiplyPair(Sums (&sums)[kBlocks][kColumns], const Left (&left)[kBlocks],
                                       const uint32_t (&b)[4], uint32_t j) {
    COLL_UNROLL()
    for (uint32_t i = 0; i < kBlocks; ++i) {
      Type::multiply(sums[i][j], left[i].word, b[0], b[1]);
      Type::multiply(sums[i][j + 1], left[i].word, b[2], b[3]);
    }
  }
};

struct Wide {
  using Element = float;
  static constexpr uint32_t kDepth = 8;

  static COLL_DEVICE float dot(const simt::Vec16 &x, const simt::Vec16 &y) {
    union Floats {
      simt::Vec16 words;
      float value[4];
    } a = {x}, b = {y};
    return a.value[0] * b.value[0] + a.value[1] * b.value[1] + a.value[2] * b.value[2] +
           a.value[3] * b.value[3];
  }
  static COLL_DEVICE void storePair(SharedAddress piece, uint32_t pair, float first, float second) {
    simt::storeShared2(piece + pair * 8, first, second);
  }
};

// f32 whose operands are rounded to TF32.
struct Tf32 : Wide, MatrixUnits, InOrder<Tf32> {
  template <uint32_t kBlocks, typename Rows, uint32_t>
  using LeftRows = WarpLeftRows<Tf32, kBlocks, Rows, false>;

  template <typename Rows>
  static COLL_DEVICE void left(Left &to, Rows tile, uint32_t row, uint32_t column) {
    MatrixUnits::left(to, tile, row, column);
    round(to.word);
  }
  // The columns of the left operand may be in any order if the rows of the right one are in the
  // same order: column t is 2t of the sums, column t + 4 is 2t + 1.
  static COLL_DEVICE void pack(Left &to, const Sums *sums) {
    to.word[0] = simt::roundTf32(sums[0][0]);
    to.word[1] = simt::roundTf32(sums[0][2]);
    to.word[2] = simt::roundTf32(sums[0][1]);
    to.word[3] = simt::roundTf32(sums[0][3]);
  }

  template <uint32_t kBlocks, uint32_t kColumns, typename Rows>
  static COLL_DEVICE void addRows(Sums (&sums)[kBlocks][kColumns], const Left (&left)[kBlocks],
                                  Rows tile, uint32_t column) {
    COLL_UNROLL()
    for (uint32_t j = 0; j < kColumns; j += 2) {
      uint32_t b[4];
      MatrixUnits::right(b, tile, j * 8, column);
      round(b);
      COLL_UNROLL()
      for (uint32_t i = 0; i < kBlocks; ++i) {
        simt::multiplyTf32(sums[i][j], left[i].word, b[0], b[1]);
        simt::multiplyTf32(sums[i][j + 1], left[i].word, b[2], b[3]);
      }
    }
  }

  template <uint32_t kBlocks, uint32_t kColumns, typename Rows>
  static COLL_DEVICE void addColumns(Sums (&sums)[kBlocks][kColumns], const Left (&left)[kBlocks],
                                     Rows tile, uint32_t row) {
    const uint32_t g = simt::lane() / 4, t = simt::lane() % 4;
    COLL_UNROLL()
    for (uint32_t j = 0; j < kColumns; ++j) {
      const uint32_t piece = g / 4, within = g % 4 * 4;
      const uint32_t b0 =
          simt::roundTf32(simt::loadShared(tile.at(row + 2 * t, piece, 2 * j) + within));
      const uint32_t b1 =
          simt::roundTf32(simt::loadShared(tile.at(row + 2 * t + 1, piece, 2 * j) + within));
      COLL_UNROLL()
      for (uint32_t i = 0; i < kBlocks; ++i)
        simt::multiplyTf32(sums[i][j], left[i].word, b0, b1);
    }
  }

private:
  static COLL_DEVICE void round(uint32_t (&words)[4]) {
    COLL_UNROLL()
    for (int i = 0; i < 4; ++i) {
      union {
        uint32_t word;
        float value;
      } u = {words[i]};
      words[i] = simt::roundTf32(u.value);
    }
  }
};

// True f32, without the matrix units: a lane has all of the left operand's columns in its two rows.
struct F32 : Wide, InOrder<F32> {
  template <uint32_t kBlocks, typename Rows, uint32_t>
  using LeftRows = WarpLeftRows<F32, kBlocks, Rows, false>;

  struct Left {
    float value[2][kDepth];
  };

  template <typename Rows>
  static COLL_DEVICE void left(Left &to, Rows tile, uint32_t row, uint32_t column) {
    const uint32_t g = simt::lane() / 4;
    COLL_UNROLL()
    for (uint32_t i = 0; i < 2; ++i)
      loadRow(to.value[i], tile, row + g + 8 * i, column);
  }
  static COLL_DEVICE void pack(Left &to, const Sums *sums) {
    const uint32_t first = simt::lane() / 4 * 4;
    COLL_UNROLL()
    for (uint32_t i = 0; i < 2; ++i)
      COLL_UNROLL()
    for (uint32_t k = 0; k < kDepth; ++k)
      to.value[i][k] = simt::shuffle(sums[0][2 * i + k % 2], first + k / 2);
  }

  template <uint32_t kBlocks, uint32_t kColumns, typename Rows>
  static COLL_DEVICE void addRows(Sums (&sums)[kBlocks][kColumns], const Left (&left)[kBlocks],
                                  Rows tile, uint32_t column) {
    const uint32_t t = simt::lane() % 4;
    COLL_UNROLL()
    for (uint32_t j = 0; j < kColumns; ++j)
      COLL_UNROLL()
    for (uint32_t c = 0; c < 2; ++c) {
      float b[kDepth];
      loadRow(b, tile, j * 8 + 2 * t + c, column);
      COLL_UNROLL()
      for (uint32_t i = 0; i < kBlocks; ++i)
        COLL_UNROLL()
      for (uint32_t k = 0; k < kDepth; ++k) {
        sums[i][j][c] += left[i].value[0][k] * b[k];
        sums[i][j][2 + c] += left[i].value[1][k] * b[k];
      }
    }
  }

  template <uint32_t kBlocks, uint32_t kColumns, typename Rows>
  static COLL_DEVICE void addColumns(Sums (&sums)[kBlocks][kColumns], const Left (&left)[kBlocks],
                                     Rows tile, uint32_t row) {
    const uint32_t t = simt::lane() % 4;
    COLL_UNROLL()
    for (uint32_t j = 0; j < kColumns; ++j)
      COLL_UNROLL()
    for (uint32_t k = 0; k < kDepth; ++k) {
      float b[2];
      simt::loadShared2(b, tile.at(row + k, t / 2, 2 * j) + t % 2 * 8);
      COLL_UNROLL()
      for (uint32_t i = 0; i < kBlocks; ++i)
        COLL_UNROLL()
      for (uint32_t c = 0; c < 2; ++c) {
        sums[i][j][c] += left[i].value[0][k] * b[c];
        sums[i][j][2 + c] += left[i].value[1][k] * b[c];
      }
    }
  }

private:
  template <typename Rows>
  static COLL_DEVICE void loadRow(float (&to)[kDepth], Rows tile, uint32_t row, uint32_t column) {
    simt::loadShared4(to, tile.at(row, 0, column / Rows::kPieceElems));
    simt::loadShared4(to + 4, tile.at(row, 1, column / Rows::kPieceElems));
  }
};

} // namespace coll::kernels::attention

#endif // COLL_RUNTIME_KERNELS_ATTENTION_PRODUCTS_CUH
