//===- untrusted_text.cc - unchecked input ------------------------------------===//

#include "compiler/untrusted_text.h"

#include "mlir/Support/LLVM.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"

using namespace mlir;

static constexpr int kMaxDepth = 1000;
static constexpr uint64_t kMaxBytes = uint64_t{2} << 30;
static constexpr uint64_t kMaxDeviceBytes = 1 << 20;

namespace {
/// Finds the place where brackets nest too deep, without parsing: strings and
/// comments are skipped, and each kind of bracket is counted by itself, so that a
/// stray one does not hide the others.
class NestingScanner {
public:
  explicit NestingScanner(StringRef text) : text_(text) {}

  /// Offset of the first bracket beyond the limit, or npos.
  size_t scan() {
    for (size_t i = 0; i < text_.size(); ++i) {
      i = skip(i);
      if (i >= text_.size())
        break;
      count(i);
      if (depth_[0] + depth_[1] + depth_[2] + depth_[3] > kMaxDepth)
        return i;
    }
    return StringRef::npos;
  }

private:
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  /// The offset of the last character of the string or comment that starts at `i`, else `i`.
  size_t skip(size_t i) const {
    if (text_[i] == '/' && at(i + 1) == '/')
      return std::min(text_.find('\n', i), text_.size());
    if (text_[i] != '"')
      return i;
    // A string ends with its line at the latest: an unterminated one is an error
    // of its own, and must not hide what follows.
    for (++i; i < text_.size() && text_[i] != '"' && text_[i] != '\n'; ++i)
      if (text_[i] == '\\')
        ++i;
    return i;
  }

  void count(size_t i) {
    static constexpr StringLiteral kOpen = "([{<", kClose = ")]}>";
    char c = text_[i];
    // Not brackets: `->`, `>=` and `<=`.
    if ((c == '>' && i > 0 && text_[i - 1] == '-') || ((c == '>' || c == '<') && at(i + 1) == '='))
      return;
    if (size_t kind = kOpen.find(c); kind != StringRef::npos)
      ++depth_[kind];
    else if (size_t kind = kClose.find(c); kind != StringRef::npos && depth_[kind] > 0)
      --depth_[kind];
  }

  StringRef text_;
  int depth_[4] = {0, 0, 0, 0};
};
} // namespace

static llvm::Error makeError(StringRef path, const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), path + ": " + text);
}

static llvm::Error checkBytecode(StringRef path, StringRef bytes) {
  if (bytes.contains("vhlo") || bytes.contains("stablehlo"))
    return makeError(path, "is StableHLO bytecode; export the step as generic text instead: "
                           "jax.jit(step).lower(...).compiler_ir(\"stablehlo\").operation"
                           ".get_asm(print_generic_op_form=True, enable_debug_info=True)");
  return llvm::Error::success();
}

std::optional<size_t> coll::findDeepNesting(StringRef text) {
  size_t offset = NestingScanner(text).scan();
  if (offset == StringRef::npos)
    return std::nullopt;
  return text.take_front(offset).count('\n') + 1;
}

static llvm::Error checkText(StringRef path, StringRef text) {
  // The parser would say so with the bytes, which a terminal may obey.
  if (text.contains('\0'))
    return makeError(path, "is not text: it contains zero bytes");
  std::optional<size_t> line = coll::findDeepNesting(text);
  if (!line)
    return llvm::Error::success();
  return makeError(path, llvm::Twine("line ") + llvm::Twine(*line) +
                             ": brackets nest deeper than " + llvm::Twine(kMaxDepth));
}

llvm::Error coll::checkUntrusted(StringRef name, StringRef bytes) {
  return bytes.starts_with("ML\xefR") ? checkBytecode(name, bytes) : checkText(name, bytes);
}

/// Reads at most `limit` bytes and one: a path that is not a file (/dev/zero, a pipe) may never
/// end.
static llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>
readStream(llvm::sys::fs::file_t file, StringRef name, uint64_t limit) {
  llvm::SmallVector<char, 0> bytes;
  for (size_t got = 1; got > 0 && bytes.size() <= limit;) {
    const size_t size = bytes.size();
    bytes.resize_for_overwrite(size + std::min<uint64_t>(limit + 1 - size, 1 << 16));
    auto read =
        llvm::sys::fs::readNativeFile(file, llvm::MutableArrayRef<char>(bytes).drop_front(size));
    if (!read)
      return llvm::errorToErrorCode(read.takeError());
    got = *read;
    bytes.truncate(size + got);
  }
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), name);
}

static llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> readFile(StringRef path,
                                                                   uint64_t &limit) {
  namespace fs = llvm::sys::fs;
  const bool isStdin = path == "-";
  fs::file_status status;
  if (std::error_code error =
          isStdin ? fs::status(fs::getStdinHandle(), status) : fs::status(path, status))
    return error;
  if (status.type() == fs::file_type::character_file)
    limit = kMaxDeviceBytes;
  if (isStdin)
    return readStream(fs::getStdinHandle(), "<stdin>", limit);
  if (status.type() == fs::file_type::regular_file)
    return llvm::MemoryBuffer::getFile(path);
  auto file = fs::openNativeFileForRead(path);
  if (!file)
    return llvm::errorToErrorCode(file.takeError());
  auto buffer = readStream(*file, path, limit);
  fs::closeFile(*file);
  return buffer;
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> coll::readUntrusted(StringRef path) {
  uint64_t limit = kMaxBytes;
  auto file = readFile(path, limit);
  if (!file)
    return makeError(path, "cannot be read: " + file.getError().message());
  StringRef bytes = (*file)->getBuffer();
  if (bytes.size() > limit)
    return makeError(path, limit == kMaxBytes ? "is larger than 2 GiB"
                                              : "is a device, which gives more than 1 MiB");
  if (llvm::Error error = checkUntrusted(path, bytes))
    return error;
  return std::move(*file);
}

/// Whether an operation of a dialect stands in its own syntax, as in `%0 = stablehlo.add %x, %y`:
/// the generic form has its name as a string. Pretty text has some operations in generic form, too.
static bool hasPrettyOperation(StringRef text, StringRef dialect) {
  for (size_t at = text.find(dialect); at != StringRef::npos; at = text.find(dialect, at + 1))
    if (at == 0 || llvm::isSpace(text[at - 1]))
      return true;
  return false;
}

StringRef coll::hintAtPrettyForm(StringRef text) {
  if (!hasPrettyOperation(text, "stablehlo.") && !hasPrettyOperation(text, "sdy."))
    return "";
  return "it looks like StableHLO in its pretty form: print it with "
         "get_asm(print_generic_op_form=True, enable_debug_info=True)";
}
