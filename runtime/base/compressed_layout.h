// compressed_layout.h - a message whose pages are compressed, without loss.
//
// For GPU buffers that cross a network slower than the GPU's bus: the sender's channel kernel makes
// such a message, and the receiver's kernel expands it.
//
//   CompressedHeader | CompressedPage[pages] | the pages' data, in any order
//
// Page k is bytes [4096 k, 4096 (k + 1)) of the buffer; the last page may be shorter. Pages are
// independent, so any warp makes or reads any page. All parts begin at multiples of 16 bytes from
// the message's start. Numbers are little-endian.
//
// **The form Columns** is for whole pages: byte i belongs to column i % 32, so each column holds
// one of the bytes of elements of 1, 2, 4, 8, 16 or 32 bytes, and the element type need not be
// known. The sign and exponent bytes of floats, and the upper bytes of integers, hardly differ
// within a column. A column's 128 bytes become codes (see codeOfByte); each code minus the smallest
// one (`base`) is stored in `bits` bits, the first code in the lowest bits:
//
//   ColumnHead[32] | 16 * bits bytes of column 0 | … | 16 * bits bytes of column 31
//
// A page that would not become smaller has the form Raw: its bytes are stored as they are.

#ifndef COLL_RUNTIME_BASE_COMPRESSED_LAYOUT_H
#define COLL_RUNTIME_BASE_COMPRESSED_LAYOUT_H

#include "runtime/base/unpack_layout.h"

#include <cstddef>
#include <cstdint>

namespace coll::rt {

inline constexpr uint32_t kCompressedMagic = 0x5a434c43; // "CLCZ"
inline constexpr uint32_t kCompressedVersion = 1;
inline constexpr uint32_t kCompressPageBytes = kUnpackPageBytes;
inline constexpr uint64_t kCompressMaxBytes = kUnpackMaxSliceBytes;
inline constexpr uint32_t kCompressColumns = 32;
inline constexpr uint32_t kCompressRows = kCompressPageBytes / kCompressColumns;
inline constexpr uint32_t kCompressMaxBits = 8;

struct CompressedHeader {
  uint32_t magic, version;
  uint32_t rawBytes; // of the buffer
  uint32_t bytes;    // of the message
};

enum class PageForm : uint16_t { Raw = 0, Columns = 1 };

struct CompressedPage {
  uint32_t at; // of its data in the message; a multiple of 16
  uint16_t bytes;
  PageForm form;
};

struct ColumnHead {
  uint8_t base, bits;
};

inline constexpr uint32_t kColumnHeadsBytes = kCompressColumns * sizeof(ColumnHead);

static_assert(sizeof(CompressedHeader) == 16 && sizeof(CompressedPage) == 8 &&
              offsetof(CompressedPage, bytes) == 4 && offsetof(CompressedPage, form) == 6);
static_assert(sizeof(ColumnHead) == 2 && kCompressRows % 32 == 0);

constexpr uint32_t columnBytes(uint32_t bits) { return bits * (kCompressRows / 8); }

constexpr uint64_t roundTo16(uint64_t bytes) { return (bytes + 15) / 16 * 16; }

// Pages of a buffer of `rawBytes` bytes, at most kCompressMaxBytes.
constexpr uint32_t compressPages(uint64_t rawBytes) {
  return static_cast<uint32_t>((rawBytes + kCompressPageBytes - 1) / kCompressPageBytes);
}
// The bytes of header and table, after which the first page's data may begin.
constexpr uint32_t compressedTableBytes(uint64_t rawBytes) {
  return static_cast<uint32_t>(
      roundTo16(sizeof(CompressedHeader) + compressPages(rawBytes) * sizeof(CompressedPage)));
}
// The most bytes that the message of a buffer of `rawBytes` bytes can have.
constexpr uint64_t compressedBound(uint64_t rawBytes) {
  return compressedTableBytes(rawBytes) + roundTo16(rawBytes);
}
// The bytes of page `number`, below compressPages().
constexpr uint32_t compressPageBytes(uint64_t rawBytes, uint32_t number) {
  const uint64_t left = rawBytes - uint64_t{number} * kCompressPageBytes;
  return left < kCompressPageBytes ? static_cast<uint32_t>(left) : kCompressPageBytes;
}

// Whether the table's entry of page `number` is possible: inside the message, and of the right
// length. The content of a page of form Columns is not checked.
constexpr bool isPagePlausible(const CompressedPage &page, uint32_t number, uint64_t rawBytes,
                               uint64_t messageBytes) {
  if (page.at % 16 != 0 || page.at < compressedTableBytes(rawBytes) ||
      page.at + roundTo16(page.bytes) > messageBytes)
    return false;
  const uint32_t rawPage = compressPageBytes(rawBytes, number);
  if (page.form == PageForm::Raw)
    return page.bytes == rawPage;
  return page.form == PageForm::Columns && rawPage == kCompressPageBytes &&
         page.bytes >= kColumnHeadsBytes && page.bytes < kCompressPageBytes;
}

// Moves a float's sign to the lowest bit, so that numbers of both signs are neighbours, and values
// around 0 and -1 (integers) or 2.0 (floats) do not wrap around.
constexpr uint32_t codeOfByte(uint32_t byte) { return ((byte << 1 | byte >> 7) + 0x40) & 0xff; }
constexpr uint32_t byteOfCode(uint32_t code) {
  const uint32_t turned = (code - 0x40) & 0xff;
  return (turned >> 1 | turned << 7) & 0xff;
}

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_COMPRESSED_LAYOUT_H
