#include "runtime/kernels/compress/compress.h"

#include <algorithm>
#include <cstring>

namespace coll::kernels {
namespace {

// Writes `count` bits from bit `at` on, the lowest first.
void putBits(uint8_t *to, uint64_t at, uint32_t value, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i)
    to[(at + i) / 8] = static_cast<uint8_t>(to[(at + i) / 8] | (value >> i & 1) << (at + i) % 8);
}
uint32_t getBits(const uint8_t *from, uint64_t at, uint32_t count) {
  uint32_t value = 0;
  for (uint32_t i = 0; i < count; ++i)
    value |= static_cast<uint32_t>(from[(at + i) / 8] >> (at + i) % 8 & 1) << i;
  return value;
}

// Writes the form Columns of a complete page to zeroed memory; returns its length, even if that is
// no gain.
uint32_t encodePage(uint8_t *to, const uint8_t *page) {
  uint32_t at = rt::kColumnHeadsBytes;
  for (uint32_t column = 0; column < rt::kCompressColumns; ++column) {
    uint32_t codes[rt::kCompressRows];
    for (uint32_t row = 0; row < rt::kCompressRows; ++row)
      codes[row] = rt::codeOfByte(page[row * rt::kCompressColumns + column]);
    const auto [least, most] = std::minmax_element(codes, codes + rt::kCompressRows);
    const uint32_t base = *least;
    uint32_t bits = 0;
    while ((*most - base) >> bits != 0)
      ++bits;
    to[2 * column] = static_cast<uint8_t>(base);
    to[2 * column + 1] = static_cast<uint8_t>(bits);
    for (uint32_t row = 0; row < rt::kCompressRows; ++row)
      putBits(to + at, uint64_t{row} * bits, codes[row] - base, bits);
    at += rt::columnBytes(bits);
  }
  return at;
}

void decodePage(uint8_t *page, const uint8_t *from) {
  uint32_t at = rt::kColumnHeadsBytes;
  for (uint32_t column = 0; column < rt::kCompressColumns; ++column) {
    const uint32_t base = from[2 * column], bits = from[2 * column + 1];
    for (uint32_t row = 0; row < rt::kCompressRows; ++row) {
      const uint32_t code = base + getBits(from + at, uint64_t{row} * bits, bits);
      page[row * rt::kCompressColumns + column] = static_cast<uint8_t>(rt::byteOfCode(code & 0xff));
    }
    at += rt::columnBytes(bits);
  }
}

} // namespace

uint64_t compressReference(void *message, const void *from, uint64_t rawBytes) {
  auto *to = static_cast<uint8_t *>(message);
  auto *pages = reinterpret_cast<rt::CompressedPage *>(to + sizeof(rt::CompressedHeader));
  uint32_t at = rt::compressedTableBytes(rawBytes);
  std::memset(to, 0, rt::compressedBound(rawBytes));
  for (uint32_t number = 0; number < rt::compressPages(rawBytes); ++number) {
    const uint8_t *page =
        static_cast<const uint8_t *>(from) + uint64_t{number} * rt::kCompressPageBytes;
    const uint32_t rawPage = rt::compressPageBytes(rawBytes, number);
    uint8_t encoded[rt::kColumnHeadsBytes + rt::kCompressPageBytes] = {};
    uint32_t bytes = rawPage < rt::kCompressPageBytes ? rawPage : encodePage(encoded, page);
    const bool smaller = bytes < rawPage;
    bytes = smaller ? bytes : rawPage;
    std::memcpy(to + at, smaller ? encoded : page, bytes);
    pages[number] = {at, static_cast<uint16_t>(bytes),
                     smaller ? rt::PageForm::Columns : rt::PageForm::Raw};
    at += static_cast<uint32_t>(rt::roundTo16(bytes));
  }
  const rt::CompressedHeader header{rt::kCompressedMagic, rt::kCompressedVersion,
                                    static_cast<uint32_t>(rawBytes), at};
  std::memcpy(to, &header, sizeof(header));
  return at;
}

rt::Status expandReference(void *to, uint64_t rawBytes, const void *message, uint64_t bytes) {
  COLL_RETURN_IF_ERROR(checkCompressed(message, bytes, rawBytes));
  const auto *from = static_cast<const uint8_t *>(message);
  const auto *pages =
      reinterpret_cast<const rt::CompressedPage *>(from + sizeof(rt::CompressedHeader));
  for (uint32_t number = 0; number < rt::compressPages(rawBytes); ++number) {
    uint8_t *page = static_cast<uint8_t *>(to) + uint64_t{number} * rt::kCompressPageBytes;
    if (pages[number].form == rt::PageForm::Raw)
      std::memcpy(page, from + pages[number].at, pages[number].bytes);
    else
      decodePage(page, from + pages[number].at);
  }
  return rt::Status::okay();
}

} // namespace coll::kernels
