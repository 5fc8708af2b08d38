#include "runtime/kernels/compress/compress.h"

#include <string>

namespace coll::kernels {

using rt::Status;

namespace {

Status bad(const std::string &what) { return {kCollPeer, "a compressed message " + what}; }

bool areColumnsWhole(const rt::ColumnHead *heads, uint32_t bytes) {
  uint32_t sum = rt::kColumnHeadsBytes, most = 0;
  for (uint32_t column = 0; column < rt::kCompressColumns; ++column) {
    sum += rt::columnBytes(heads[column].bits);
    most = heads[column].bits > most ? heads[column].bits : most;
  }
  return most <= rt::kCompressMaxBits && sum == bytes;
}

} // namespace

Status checkCompressed(const void *message, uint64_t bytes, uint64_t rawBytes) {
  const uint32_t table = rt::compressedTableBytes(rawBytes);
  if (bytes < table)
    return bad("of " + std::to_string(bytes) + " bytes, without room for its table");
  const auto *header = static_cast<const rt::CompressedHeader *>(message);
  if (header->magic != rt::kCompressedMagic || header->version != rt::kCompressedVersion)
    return bad("that does not begin with the header of one");
  if (header->rawBytes != rawBytes || header->bytes != bytes)
    return bad("whose header says " + std::to_string(header->bytes) + " bytes for a buffer of " +
               std::to_string(header->rawBytes) + "; it has " + std::to_string(bytes) + " for " +
               std::to_string(rawBytes));
  const auto *pages = reinterpret_cast<const rt::CompressedPage *>(header + 1);
  for (uint32_t number = 0; number < rt::compressPages(rawBytes); ++number) {
    const rt::CompressedPage &page = pages[number];
    if (!rt::isPagePlausible(page, number, rawBytes, bytes))
      return bad("whose page " + std::to_string(number) +
                 " is outside the message, or has a wrong length or form");
    const auto *heads =
        reinterpret_cast<const rt::ColumnHead *>(static_cast<const char *>(message) + page.at);
    if (page.form == rt::PageForm::Columns && !areColumnsWhole(heads, page.bytes))
      return bad("whose page " + std::to_string(number) + " has columns of a wrong length");
  }
  return Status::okay();
}

} // namespace coll::kernels
