//===- npy.cc - arrays in NumPy's file format -----------------------------------===//

#include "driver/npy.h"

#include "compiler/error.h"

#include "llvm/ADT/StringExtras.h"

#include <cstring>
#include <optional>

namespace coll::run {
namespace {

constexpr size_t kMaxDims = 64;
constexpr uint64_t kMaxDataBytes = uint64_t(1) << 62;
constexpr llvm::StringLiteral kMagic = "\x93NUMPY";

struct TypeInfo {
  NpyType type;
  llvm::StringLiteral name;
  llvm::StringLiteral descr; // without the byte order
  int64_t bytes;
};

// bfloat16 is not a type of NumPy's own: its extension stores two opaque bytes. One opaque
// byte is an eight-bit float or a four-bit integer; "f1" is what the extension makes of
// float8_e5m2.
constexpr TypeInfo kTypes[] = {
    {NpyType::Bool, "bool", "b1", 1},     {NpyType::I8, "int8", "i1", 1},
    {NpyType::I16, "int16", "i2", 2},     {NpyType::I32, "int32", "i4", 4},
    {NpyType::I64, "int64", "i8", 8},     {NpyType::U8, "uint8", "u1", 1},
    {NpyType::U16, "uint16", "u2", 2},    {NpyType::U32, "uint32", "u4", 4},
    {NpyType::U64, "uint64", "u8", 8},    {NpyType::F16, "float16", "f2", 2},
    {NpyType::BF16, "bfloat16", "V2", 2}, {NpyType::F32, "float32", "f4", 4},
    {NpyType::F64, "float64", "f8", 8},   {NpyType::F1, "float8_e5m2", "f1", 1},
    {NpyType::V1, "void8", "V1", 1},
};

const TypeInfo &infoOf(NpyType type) {
  for (const TypeInfo &info : kTypes)
    if (info.type == type)
      return info;
  llvm_unreachable("every type is in the table");
}

llvm::Expected<NpyType> parseDescr(llvm::StringRef descr) {
  if (descr == "bfloat16")
    return NpyType::BF16;
  llvm::StringRef name = descr;
  char order = name.empty() ? '\0' : name.front();
  if (order == '<' || order == '>' || order == '|' || order == '=')
    name = name.drop_front();
  for (const TypeInfo &info : kTypes) {
    if (info.descr != name)
      continue;
    if (order == '>' && info.bytes > 1)
      return makeError("big-endian elements ('" + descr + "'); save them little-endian");
    return info.type;
  }
  std::string printable;
  for (char c : descr.take_front(40))
    printable += llvm::isPrint(c) ? c : '?';
  return makeError("unsupported element type '" + printable + "'");
}

/// Reads the header's dictionary: {'key': value, …} with string, bool and
/// integer-tuple values.
class HeaderParser {
public:
  explicit HeaderParser(llvm::StringRef text) : rest_(text) {}

  llvm::Error parse(NpyHeader &header) {
    if (!eat('{'))
      return makeError("malformed header: no dictionary");
    while (!eat('}')) {
      if (llvm::Error error = parseEntry(header))
        return error;
      if (!eat(',') && !peek('}'))
        return makeError("malformed header: expected ',' or '}'");
    }
    if (!rest_.trim().empty())
      return makeError("malformed header: text after the dictionary");
    if (!hasDescr_ || !hasOrder_ || !hasShape_)
      return makeError("malformed header: it needs descr, fortran_order and shape");
    return llvm::Error::success();
  }

private:
  llvm::Error parseEntry(NpyHeader &header) {
    std::optional<llvm::StringRef> key = parseString();
    if (!key || !eat(':'))
      return makeError("malformed header: expected 'key':");
    if (*key == "descr" && !std::exchange(hasDescr_, true))
      return parseType(header);
    if (*key == "fortran_order" && !std::exchange(hasOrder_, true))
      return parseOrder(header);
    if (*key == "shape" && !std::exchange(hasShape_, true))
      return parseShape(header);
    return makeError("malformed header: unexpected or repeated key");
  }

  llvm::Error parseType(NpyHeader &header) {
    if (peek('[') || peek('('))
      return makeError("structured element types are not supported");
    std::optional<llvm::StringRef> descr = parseString();
    if (!descr)
      return makeError("malformed header: descr is not a string");
    llvm::Expected<NpyType> type = parseDescr(*descr);
    if (!type)
      return type.takeError();
    header.type = *type;
    return llvm::Error::success();
  }

  llvm::Error parseOrder(NpyHeader &header) {
    skipSpace();
    header.fortranOrder = rest_.starts_with("True");
    if (!rest_.consume_front("True") && !rest_.consume_front("False"))
      return makeError("malformed header: fortran_order is neither True nor False");
    return llvm::Error::success();
  }

  llvm::Error parseShape(NpyHeader &header) {
    if (!eat('('))
      return makeError("malformed header: shape is not a tuple");
    while (!eat(')')) {
      skipSpace();
      int64_t extent = 0;
      if (rest_.consumeInteger(10, extent) || extent < 0)
        return makeError("malformed header: an extent is not a natural number");
      rest_.consume_front("L"); // Python 2 wrote long integers so
      if (header.shape.size() == kMaxDims)
        return makeError("more than " + llvm::Twine(kMaxDims) + " dimensions");
      header.shape.push_back(extent);
      if (!eat(',') && !peek(')'))
        return makeError("malformed header: expected ',' or ')'");
    }
    return llvm::Error::success();
  }

  std::optional<llvm::StringRef> parseString() {
    skipSpace();
    if (!peek('\'') && !peek('"'))
      return std::nullopt;
    char quote = rest_.front();
    size_t end = rest_.find(quote, 1);
    if (end == llvm::StringRef::npos)
      return std::nullopt;
    llvm::StringRef text = rest_.slice(1, end);
    rest_ = rest_.drop_front(end + 1);
    return text;
  }

  void skipSpace() { rest_ = rest_.ltrim(" \t\n\r"); }
  bool peek(char c) {
    skipSpace();
    return rest_.starts_with(llvm::StringRef(&c, 1));
  }
  bool eat(char c) {
    if (!peek(c))
      return false;
    rest_ = rest_.drop_front();
    return true;
  }

  llvm::StringRef rest_;
  bool hasDescr_ = false;
  bool hasOrder_ = false;
  bool hasShape_ = false;
};

llvm::Error computeDataBytes(NpyHeader &header) {
  uint64_t bytes = bytesOf(header.type);
  bool empty = llvm::is_contained(header.shape, 0);
  for (int64_t extent : header.shape) {
    if (!empty && uint64_t(extent) > kMaxDataBytes / bytes)
      return makeError(
          "shape [" +
          llvm::join(llvm::map_range(header.shape, [](int64_t e) { return std::to_string(e); }),
                     ", ") +
          "] is too large");
    bytes *= empty ? 1 : uint64_t(extent);
  }
  header.dataBytes = empty ? 0 : bytes;
  return llvm::Error::success();
}

} // namespace

llvm::StringRef nameOf(NpyType type) { return infoOf(type).name; }
int64_t bytesOf(NpyType type) { return infoOf(type).bytes; }

std::string describe(NpyType type, llvm::ArrayRef<int64_t> shape) {
  std::string text = (nameOf(type) + "[").str();
  for (size_t d = 0; d < shape.size(); ++d)
    text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + "]";
}

llvm::Expected<NpyHeader> parseNpyHeader(llvm::StringRef bytes) {
  if (!bytes.starts_with(kMagic))
    return makeError("not an array in NumPy's format");
  if (bytes.size() < 10)
    return makeError("truncated header");
  auto byte = [&](size_t i) { return uint64_t(static_cast<unsigned char>(bytes[i])); };
  uint64_t version = byte(6);
  if (version < 1 || version > 3)
    return makeError("unknown format version " + llvm::Twine(version));
  uint64_t start = version == 1 ? 10 : 12;
  if (bytes.size() < start)
    return makeError("truncated header");
  uint64_t length = byte(8) | byte(9) << 8;
  if (version > 1)
    length |= byte(10) << 16 | byte(11) << 24;
  if (length > kMaxNpyHeaderBytes)
    return makeError("header of " + llvm::Twine(length) + " bytes; the limit is " +
                     llvm::Twine(kMaxNpyHeaderBytes));
  if (bytes.size() < start + length)
    return makeError("truncated header");
  NpyHeader header;
  header.headerBytes = start + length;
  if (llvm::Error error = HeaderParser(bytes.substr(start, length)).parse(header))
    return error;
  if (llvm::Error error = computeDataBytes(header))
    return error;
  return header;
}

std::string makeNpyHeader(NpyType type, llvm::ArrayRef<int64_t> shape) {
  const TypeInfo &info = infoOf(type);
  std::string text = "{'descr': '";
  text += info.bytes == 1 ? '|' : '<';
  text += info.descr.str() + "', 'fortran_order': False, 'shape': (";
  for (size_t d = 0; d < shape.size(); ++d)
    text += (d ? ", " : "") + std::to_string(shape[d]);
  text += shape.size() == 1 ? ",), }" : "), }";
  bool isLong = text.size() > 0xff00;
  size_t start = isLong ? 12 : 10;
  text.append(63 - (start + text.size()) % 64, ' ');
  text += '\n';
  std::string header = kMagic.str();
  header += isLong ? '\2' : '\1';
  header += '\0';
  for (size_t i = 0; i < start - 8; ++i)
    header += static_cast<char>(text.size() >> (8 * i));
  return header + text;
}

void convertFromFortranOrder(NpyArray &array) {
  size_t rank = array.shape.size();
  size_t item = bytesOf(array.type);
  if (rank < 2 || array.data.empty())
    return;
  std::vector<size_t> strides(rank, item);
  for (size_t d = 1; d < rank; ++d)
    strides[d] = strides[d - 1] * array.shape[d - 1];
  std::vector<char> sorted(array.data.size());
  std::vector<int64_t> index(rank, 0);
  size_t source = 0;
  for (size_t target = 0; target < sorted.size(); target += item) {
    std::memcpy(&sorted[target], &array.data[source], item);
    for (size_t d = rank; d-- > 0;) {
      source += strides[d];
      if (++index[d] < array.shape[d])
        break;
      source -= strides[d] * array.shape[d];
      index[d] = 0;
    }
  }
  array.data = std::move(sorted);
}

} // namespace coll::run
