//===- npz.cc - archives of arrays, as numpy.savez writes them ------------------===//

#include "driver/npz.h"

#include "compiler/error.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <unistd.h>
#include <zip.h>

namespace coll::run {
namespace {

// Deflate expands by at most 1032, so a larger claim is false.
constexpr uint64_t kMaxExpansion = 1040;
constexpr uint64_t kReadChunkBytes = 16u << 20;
constexpr int64_t kMaxEntries = 1 << 20;
constexpr int kMaxLinks = 40; // as Linux

using ZipEntry = std::unique_ptr<zip_file_t, int (*)(zip_file_t *)>;

std::string openError(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

llvm::Error checkRegularFile(llvm::StringRef path, uint64_t &bytes) {
  llvm::sys::fs::file_status status;
  if (std::error_code code = llvm::sys::fs::status(path, status))
    return makeError("cannot open '" + path + "': " + code.message());
  if (status.type() != llvm::sys::fs::file_type::regular_file)
    return makeError("cannot open '" + path + "': not a regular file");
  bytes = status.getSize();
  return llvm::Error::success();
}

/// Appends exactly `bytes` bytes of the entry, growing as they arrive.
llvm::Error readExactly(zip_file_t *entry, uint64_t bytes, std::vector<char> &data) {
  while (bytes > 0) {
    uint64_t chunk = std::min(bytes, kReadChunkBytes);
    size_t start = data.size();
    data.resize(start + chunk);
    zip_int64_t got = zip_fread(entry, data.data() + start, chunk);
    if (got < 0)
      return makeError(llvm::Twine("corrupt data: ") + zip_file_strerror(entry));
    data.resize(start + got);
    if (got == 0)
      return makeError("truncated: " + llvm::Twine(bytes) + " bytes are missing");
    bytes -= got;
  }
  return llvm::Error::success();
}

llvm::Error checkEntry(const zip_stat_t &stat, uint64_t fileBytes) {
  constexpr zip_uint64_t kNeeded =
      ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if ((stat.valid & kNeeded) != kNeeded)
    return makeError("corrupt directory entry");
  if (stat.encryption_method != ZIP_EM_NONE)
    return makeError("encrypted");
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)
    return makeError("compression method " + llvm::Twine(stat.comp_method) +
                     "; only stored and deflated arrays can be read");
  bool isStored = stat.comp_method == ZIP_CM_STORE;
  if (stat.comp_size > fileBytes || (isStored && stat.size != stat.comp_size) ||
      stat.size / kMaxExpansion > stat.comp_size)
    return makeError("corrupt directory entry: impossible size");
  return llvm::Error::success();
}

/// Reads up to the elements.
llvm::Expected<NpyHeader> readHeader(zip_file_t *entry, uint64_t entryBytes) {
  std::vector<char> bytes;
  if (llvm::Error error = readExactly(entry, std::min<uint64_t>(12, entryBytes), bytes))
    return error;
  // The length's place is checked by the parser, which then finds text missing.
  uint64_t length = 0;
  if (bytes.size() == 12) {
    auto byte = [&](size_t i) { return uint64_t(static_cast<unsigned char>(bytes[i])); };
    length = byte(6) == 1 ? 10 + (byte(8) | byte(9) << 8)
                          : 12 + (byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24);
  }
  length = std::min({length, entryBytes, kMaxNpyHeaderBytes + 12});
  if (length > bytes.size())
    if (llvm::Error error = readExactly(entry, length - bytes.size(), bytes))
      return error;
  return parseNpyHeader(llvm::StringRef(bytes.data(), bytes.size()));
}

/// The target of a link: writing a new file to the path itself would replace the link.
std::string followLinks(llvm::StringRef path) {
  std::filesystem::path target = path.str();
  std::error_code error;
  for (int i = 0; i < kMaxLinks && std::filesystem::is_symlink(target, error); ++i)
    target = target.parent_path() / std::filesystem::read_symlink(target, error);
  return target.string();
}

} // namespace

void NpzFile::Close::operator()(zip *archive) const { zip_discard(archive); }

llvm::Expected<NpzFile> NpzFile::open(llvm::StringRef path) {
  NpzFile file;
  file.path_ = path.str();
  if (llvm::Error error = checkRegularFile(path, file.fileBytes_))
    return error;
  int code = 0;
  file.archive_.reset(zip_open(file.path_.c_str(), ZIP_RDONLY, &code));
  if (!file.archive_)
    return makeError("cannot read '" + path + "' as an .npz archive: " + openError(code));
  int64_t count = zip_get_num_entries(file.archive_.get(), 0);
  if (count > kMaxEntries)
    return makeError("'" + path + "' has more than " + llvm::Twine(kMaxEntries) + " entries");
  for (int64_t i = 0; i < count; ++i) {
    const char *raw = zip_get_name(file.archive_.get(), i, ZIP_FL_ENC_RAW);
    llvm::StringRef name = raw ? raw : "";
    if (!name.consume_back(".npy"))
      continue;
    if (!file.entries_.try_emplace(name, i).second)
      return makeError("'" + path + "': array '" + name + "' occurs twice");
    file.names_.push_back(name.str());
  }
  return file;
}

int64_t NpzFile::countNumbered(llvm::StringRef prefix) const {
  int64_t count = 0;
  while (contains((prefix + llvm::Twine(count)).str()))
    ++count;
  return count;
}

std::string NpzFile::describeContents() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const std::string &name : names_) {
    zip_stat_t stat;
    zip_stat_init(&stat);
    zip_stat_index(archive_.get(), entries_.lookup(name), 0, &stat);
    os << name << ' ' << (stat.valid & ZIP_STAT_SIZE ? stat.size : 0) << ' '
       << (stat.valid & ZIP_STAT_CRC ? stat.crc : 0) << '\n';
  }
  return text;
}

llvm::Expected<NpyArray> NpzFile::read(llvm::StringRef name) const {
  auto found = entries_.find(name);
  if (found == entries_.end())
    return makeError("'" + path_ + "' has no array '" + name + "'");
  llvm::Expected<NpyArray> array = readEntry(found->second);
  if (!array)
    return makeError("'" + path_ + "', array '" + name + "': " + llvm::toString(array.takeError()));
  return array;
}

llvm::Expected<NpyArray> NpzFile::readEntry(uint64_t index) const {
  zip_stat_t stat;
  if (zip_stat_index(archive_.get(), index, 0, &stat) != 0)
    return makeError(zip_strerror(archive_.get()));
  if (llvm::Error error = checkEntry(stat, fileBytes_))
    return error;
  ZipEntry entry(zip_fopen_index(archive_.get(), index, 0), zip_fclose);
  if (!entry)
    return makeError(zip_strerror(archive_.get()));
  llvm::Expected<NpyHeader> header = readHeader(entry.get(), stat.size);
  if (!header)
    return header.takeError();
  if (header->headerBytes > stat.size || header->dataBytes != stat.size - header->headerBytes)
    return makeError("its shape needs " + llvm::Twine(header->dataBytes) +
                     " bytes of data; the file has " +
                     llvm::Twine(stat.size - std::min(stat.size, header->headerBytes)));
  NpyArray array;
  array.type = header->type;
  array.shape = header->shape;
  if (llvm::Error error = readExactly(entry.get(), header->dataBytes, array.data))
    return error;
  // Reading past the end makes libzip compare the checksum.
  char extra;
  if (zip_fread(entry.get(), &extra, 1) != 0)
    return makeError(llvm::Twine("corrupt data: ") + zip_file_strerror(entry.get()));
  if (header->fortranOrder)
    convertFromFortranOrder(array);
  return array;
}

llvm::Error checkWritable(llvm::StringRef given) {
  std::string path = followLinks(given);
  llvm::sys::fs::file_status status;
  std::error_code code = llvm::sys::fs::status(path, status);
  if (!code && status.type() != llvm::sys::fs::file_type::regular_file)
    return makeError("cannot write '" + path + "': not a regular file");
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  std::string where = folder.empty() ? "." : folder.str();
  if (!llvm::sys::fs::is_directory(where))
    return makeError("cannot write '" + path + "': no folder '" + where + "'");
  if (access(where.c_str(), W_OK) != 0)
    return makeError("cannot write '" + path + "': " + std::strerror(errno));
  return llvm::Error::success();
}

llvm::Error writeNpz(llvm::StringRef given,
                     llvm::ArrayRef<std::pair<std::string, NpyArray>> arrays) {
  std::string path = followLinks(given);
  if (llvm::Error error = checkWritable(path))
    return error;
  // libzip writes a file of its own beside the target and renames it at the end.
  int code = 0;
  zip_t *archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (!archive)
    return makeError("cannot write '" + path + "': " + openError(code));
  llvm::scope_exit discard([&] { zip_discard(archive); });
  auto fail = [&] { return makeError("cannot write '" + path + "': " + zip_strerror(archive)); };
  std::vector<std::string> contents(arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    const NpyArray &array = arrays[i].second;
    contents[i] = makeNpyHeader(array.type, array.shape);
    contents[i].append(array.data.data(), array.data.size());
    zip_source_t *source = zip_source_buffer(archive, contents[i].data(), contents[i].size(), 0);
    if (!source)
      return fail();
    zip_int64_t entry =
        zip_file_add(archive, (arrays[i].first + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (entry < 0) {
      zip_source_free(source);
      return fail();
    }
    // One date for all files: equal contents give equal archives.
    constexpr zip_uint16_t kDate1980 = 1 << 5 | 1;
    if (zip_set_file_compression(archive, entry, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(archive, entry, 0, kDate1980, 0) != 0)
      return fail();
  }
  if (zip_close(archive) != 0)
    return fail();
  discard.release();
  return llvm::Error::success();
}

} // namespace coll::run
