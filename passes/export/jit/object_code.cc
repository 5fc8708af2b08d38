#include "passes/export/jit/object_code.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/EndianStream.h"

using namespace mlir::coll;

static void writeNumber(llvm::raw_ostream &os, uint64_t number) {
  llvm::support::endian::write(os, number, llvm::endianness::little);
}

static void writeText(llvm::raw_ostream &os, llvm::StringRef text) {
  writeNumber(os, text.size());
  os << text;
}

namespace {
/// Missing data reads as zero or empty, and is remembered.
class Reader {
public:
  explicit Reader(llvm::StringRef rest) : rest_(rest) {}

  uint64_t number() {
    llvm::StringRef bytes = take(sizeof(uint64_t));
    return isBad_ ? 0 : llvm::support::endian::read64le(bytes.data());
  }
  llvm::StringRef text() { return take(number()); }
  std::unique_ptr<llvm::MemoryBuffer> object() {
    return llvm::MemoryBuffer::getMemBufferCopy(text(), "object");
  }
  bool isBad() const { return isBad_; }
  bool isAtEnd() const { return rest_.empty(); }

private:
  llvm::StringRef take(uint64_t size) {
    isBad_ |= size > rest_.size();
    if (isBad_)
      return "";
    llvm::StringRef bytes = rest_.take_front(size);
    rest_ = rest_.drop_front(size);
    return bytes;
  }

  llvm::StringRef rest_;
  bool isBad_ = false;
};
} // namespace

std::unique_ptr<llvm::MemoryBuffer> ObjectCode::copyConstant(llvm::StringRef bytes) {
  auto copy = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(bytes.size(), "constant",
                                                                llvm::Align(kConstantAlignment));
  llvm::copy(bytes, copy->getBufferStart());
  return copy;
}

void ObjectCode::write(llvm::raw_ostream &os) const {
  writeNumber(os, kernels.size());
  for (const auto &object : kernels)
    writeText(os, object->getBuffer());
  writeNumber(os, constants.size());
  for (const Constant &constant : constants) {
    writeText(os, constant.name);
    writeText(os, constant.bytes->getBuffer());
  }
  writeNumber(os, classes.size());
  for (const Class &cls : classes) {
    writeText(os, cls.driver->getBuffer());
    writeText(os, cls.descriptor);
    writeNumber(os, cls.hasInit);
    writeText(os, cls.gpuImage);
    writeText(os, cls.gpuKernels);
    writeText(os, cls.constants);
  }
}

std::optional<ObjectCode> ObjectCode::read(llvm::StringRef bytes) {
  Reader reader(bytes);
  ObjectCode code;
  // The count is not trusted: if it promises too much, data is soon missing.
  for (uint64_t count = reader.number(); count > 0 && !reader.isBad(); --count)
    code.kernels.push_back(reader.object());
  for (uint64_t count = reader.number(); count > 0 && !reader.isBad(); --count) {
    std::string name = reader.text().str();
    code.constants.push_back({std::move(name), copyConstant(reader.text())});
  }
  for (uint64_t count = reader.number(); count > 0 && !reader.isBad(); --count) {
    Class &cls = code.classes.emplace_back();
    cls.driver = reader.object();
    cls.descriptor = reader.text().str();
    cls.hasInit = reader.number() != 0;
    cls.gpuImage = reader.text().str();
    cls.gpuKernels = reader.text().str();
    cls.constants = reader.text().str();
  }
  if (reader.isBad() || !reader.isAtEnd())
    return std::nullopt;
  return code;
}
