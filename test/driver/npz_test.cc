//===- npz_test.cc - archives of arrays, honest and hostile ---------------------===//

#include "driver/npz.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <cstring>
#include <zip.h>

using namespace coll::run;

namespace {

struct Entry {
  std::string name;
  std::string bytes;
  int method = ZIP_CM_STORE;
};

/// A `.npy` file with the given dictionary text, padded as NumPy pads it.
std::string npy(const std::string &dictionary, const std::string &data, char version = 1) {
  std::string text = dictionary + "\n";
  std::string bytes = std::string("\x93NUMPY") + version + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    bytes += static_cast<char>(text.size() >> (8 * i));
  return bytes + text + data;
}

std::string f32Dictionary(const std::string &shape) {
  return "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
}

std::string bytesOfFloats(const std::vector<float> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()), values.size() * 4);
}

class NpzTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("npz_test", folder_));
    path_ = (folder_ + "/file.npz").str();
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder_); }

  void writeZip(const std::vector<Entry> &entries) {
    zip_t *archive = zip_open(path_.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    ASSERT_TRUE(archive);
    for (const Entry &entry : entries) {
      zip_source_t *source = zip_source_buffer(archive, entry.bytes.data(), entry.bytes.size(), 0);
      zip_int64_t index = zip_file_add(archive, entry.name.c_str(), source, 0);
      ASSERT_GE(index, 0);
      ASSERT_EQ(zip_set_file_compression(archive, index, entry.method, 0), 0);
    }
    ASSERT_EQ(zip_close(archive), 0);
  }

  std::string readBytes() {
    return llvm::cantFail(llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(path_)))
        ->getBuffer()
        .str();
  }
  void writeBytes(llvm::StringRef bytes) {
    std::error_code code;
    llvm::raw_fd_ostream(path_, code) << bytes;
  }

  NpyArray read(llvm::StringRef name) {
    llvm::Expected<NpzFile> file = NpzFile::open(path_);
    EXPECT_TRUE(bool(file));
    llvm::Expected<NpyArray> array = file->read(name);
    if (!array) {
      ADD_FAILURE() << llvm::toString(array.takeError());
      return {};
    }
    return *array;
  }
  std::string readError(llvm::StringRef name) {
    llvm::Expected<NpzFile> file = NpzFile::open(path_);
    if (!file)
      return llvm::toString(file.takeError());
    llvm::Expected<NpyArray> array = file->read(name);
    return array ? "no error" : llvm::toString(array.takeError());
  }
  void expectError(const std::string &npyBytes, llvm::StringRef text) {
    writeZip({{"a.npy", npyBytes}});
    std::string error = readError("a");
    EXPECT_NE(error.find(text.str()), std::string::npos) << error;
    EXPECT_NE(error.find("'a'"), std::string::npos) << error;
    EXPECT_NE(error.find(path_), std::string::npos) << error;
  }

  llvm::SmallString<128> folder_;
  std::string path_;
};

TEST_F(NpzTest, RoundTripsEveryType) {
  std::vector<std::pair<std::string, NpyArray>> arrays;
  for (NpyType type : {NpyType::Bool, NpyType::I8, NpyType::I16, NpyType::I32, NpyType::I64,
                       NpyType::U8, NpyType::U16, NpyType::U32, NpyType::U64, NpyType::F16,
                       NpyType::BF16, NpyType::F32, NpyType::F64}) {
    NpyArray array{type, {2, 3}, {}};
    for (int64_t i = 0; i < 6 * bytesOf(type); ++i)
      array.data.push_back(static_cast<char>(i & 1));
    arrays.emplace_back(nameOf(type).str(), array);
  }
  ASSERT_FALSE(bool(writeNpz(path_, arrays)));
  for (const auto &[name, array] : arrays) {
    NpyArray back = read(name);
    EXPECT_EQ(back.type, array.type);
    EXPECT_EQ(back.shape, array.shape);
    EXPECT_EQ(back.data, array.data);
  }
}

TEST_F(NpzTest, RoundTripsScalarsAndEmptyArrays) {
  NpyArray scalar{NpyType::I32, {}, {1, 0, 0, 0}};
  NpyArray empty{NpyType::F64, {3, 0, 2}, {}};
  ASSERT_FALSE(bool(writeNpz(path_, {{"scalar", scalar}, {"empty", empty}})));
  EXPECT_EQ(read("scalar").shape, std::vector<int64_t>());
  EXPECT_EQ(read("scalar").data, scalar.data);
  EXPECT_EQ(read("empty").shape, empty.shape);
}

TEST_F(NpzTest, HeaderEndsAtMultipleOf64) {
  for (int64_t extent : {1, 10, 1000, 100000})
    EXPECT_EQ(makeNpyHeader(NpyType::F32, {extent, 7}).size() % 64, 0u);
}

TEST_F(NpzTest, EqualContentsGiveEqualFiles) {
  NpyArray array{NpyType::I8, {4}, {1, 2, 3, 4}};
  ASSERT_FALSE(bool(writeNpz(path_, {{"a", array}})));
  std::string first = readBytes();
  ASSERT_FALSE(bool(writeNpz(path_, {{"a", array}})));
  EXPECT_EQ(readBytes(), first);
}

TEST_F(NpzTest, ReadsDeflatedArrays) {
  std::vector<float> values(1000, 1.5f);
  writeZip({{"a.npy", npy(f32Dictionary("(1000,)"), bytesOfFloats(values)), ZIP_CM_DEFLATE}});
  EXPECT_EQ(read("a").data.size(), 4000u);
}

TEST_F(NpzTest, ReadsVersions2And3) {
  for (char version : {2, 3}) {
    writeZip({{"a.npy", npy(f32Dictionary("(2,)"), bytesOfFloats({1, 2}), version)}});
    EXPECT_EQ(read("a").shape, std::vector<int64_t>{2});
  }
}

TEST_F(NpzTest, ConvertsFortranOrder) {
  // [[1, 2, 3], [4, 5, 6]] stored by columns.
  writeZip({{"a.npy", npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}",
                          bytesOfFloats({1, 4, 2, 5, 3, 6}))}});
  std::string expected = bytesOfFloats({1, 2, 3, 4, 5, 6});
  std::vector<char> data = read("a").data;
  EXPECT_EQ(std::string(data.begin(), data.end()), expected);
}

TEST_F(NpzTest, CountsNumberedArrays) {
  std::string bytes = npy(f32Dictionary("()"), bytesOfFloats({1}));
  writeZip({{"x_0.npy", bytes}, {"x_1.npy", bytes}, {"x_3.npy", bytes}, {"note.txt", "hello"}});
  llvm::Expected<NpzFile> file = NpzFile::open(path_);
  ASSERT_TRUE(bool(file));
  EXPECT_EQ(file->countNumbered("x_"), 2);
  EXPECT_EQ(file->countNumbered("y_"), 0);
  EXPECT_EQ(file->names(), (std::vector<std::string>{"x_0", "x_1", "x_3"}));
}

TEST_F(NpzTest, MissingFileAndMissingArray) {
  EXPECT_NE(readError("a").find("cannot open"), std::string::npos);
  writeZip({{"b.npy", npy(f32Dictionary("()"), bytesOfFloats({1}))}});
  EXPECT_NE(readError("a").find("has no array 'a'"), std::string::npos);
}

TEST_F(NpzTest, RefusesWhatIsNoFile) {
  path_ = folder_.str().str();
  EXPECT_NE(readError("a").find("not a regular file"), std::string::npos);
  path_ = "/dev/zero";
  EXPECT_NE(readError("a").find("not a regular file"), std::string::npos);
}

TEST_F(NpzTest, RefusesWhatIsNoZip) {
  for (llvm::StringRef bytes : {"", "PK", "hello", "\x93NUMPY\1"}) {
    writeBytes(bytes);
    EXPECT_NE(readError("a").find("cannot read"), std::string::npos);
  }
}

TEST_F(NpzTest, RefusesDuplicateNames) {
  // libzip refuses to write two equal names, so one is renamed in the bytes.
  std::string bytes = npy(f32Dictionary("()"), bytesOfFloats({1}));
  writeZip({{"aa.npy", bytes}, {"ab.npy", bytes}});
  std::string file = readBytes();
  for (size_t at = 0; (at = file.find("ab.npy", at)) != std::string::npos;)
    file.replace(at, 6, "aa.npy");
  writeBytes(file);
  EXPECT_NE(readError("aa").find("occurs twice"), std::string::npos);
}

TEST_F(NpzTest, RefusesBigEndian) {
  expectError(npy("{'descr': '>f4', 'fortran_order': False, 'shape': ()}", "abcd"), "big-endian");
}

TEST_F(NpzTest, RefusesOtherTypes) {
  for (const char *descr : {"'<c8'", "'|O'", "'<U3'", "'|V3'", "''", "'<M8[ns]'", "[('a', '<f4')]"})
    expectError(
        npy(std::string("{'descr': ") + descr + ", 'fortran_order': False, 'shape': ()}", "abcd"),
        "support");
}

TEST_F(NpzTest, RefusesMalformedHeaders) {
  for (const char *text :
       {"", "{", "{'descr'", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': 1, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1.5,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': ()} rest",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'more': 1}"})
    expectError(npy(text, "abcd"), "malformed header");
}

TEST_F(NpzTest, RefusesOverflowingShapes) {
  expectError(npy(f32Dictionary("(4294967296, 4294967296)"), "abcd"), "too large");
  expectError(npy(f32Dictionary("(9223372036854775807,)"), "abcd"), "too large");
  expectError(npy(f32Dictionary("(1000000000, 1000)"), "abcd"), "needs 4000000000000 bytes");
  std::string shape = "(";
  for (int i = 0; i < 100; ++i)
    shape += "1, ";
  expectError(npy(f32Dictionary(shape + ")"), "abcd"), "dimensions");
}

TEST_F(NpzTest, RefusesMissingAndExtraData) {
  expectError(npy(f32Dictionary("(3,)"), bytesOfFloats({1, 2})), "needs 12 bytes");
  expectError(npy(f32Dictionary("(1,)"), bytesOfFloats({1, 2})), "needs 4 bytes");
  expectError("\x93NUMPY", "truncated header");
  expectError(std::string("\x93NUMPY\1\0\xff\xff", 10), "truncated header");
  expectError(std::string("\x93NUMPY\2\0\xff\xff\xff\x7f", 12), "limit");
  expectError(npy(f32Dictionary("()"), "abcd", 9), "version 9");
  expectError("something else entirely", "not an array");
}

TEST_F(NpzTest, EveryTruncationIsAnError) {
  std::vector<float> values(64, 3.0f);
  writeZip({{"a.npy", npy(f32Dictionary("(64,)"), bytesOfFloats(values)), ZIP_CM_DEFLATE}});
  std::string whole = readBytes();
  for (size_t length = 0; length < whole.size(); ++length) {
    writeBytes(llvm::StringRef(whole).take_front(length));
    EXPECT_NE(readError("a"), "no error") << length;
  }
}

TEST_F(NpzTest, EveryFlippedByteIsHarmless) {
  std::vector<float> values(16, 3.0f);
  std::string bytes = npy(f32Dictionary("(16,)"), bytesOfFloats(values));
  for (int method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    writeZip({{"a.npy", bytes, method}});
    std::string whole = readBytes();
    for (size_t i = 0; i < whole.size(); ++i)
      for (unsigned char mask : {0x01, 0x80, 0xff}) {
        std::string changed = whole;
        changed[i] ^= mask;
        writeBytes(changed);
        readError("a");
      }
  }
}

TEST_F(NpzTest, ChecksumsAreCompared) {
  writeZip({{"a.npy", npy(f32Dictionary("(2,)"), bytesOfFloats({1, 2}))}});
  std::string whole = readBytes();
  size_t data = whole.find(bytesOfFloats({1, 2}));
  ASSERT_NE(data, std::string::npos);
  whole[data] ^= 1;
  writeBytes(whole);
  EXPECT_NE(readError("a").find("corrupt"), std::string::npos);
}

TEST_F(NpzTest, WritesToNoFolderAndNoDevice) {
  NpyArray array{NpyType::I8, {1}, {1}};
  for (const char *path : {"/nonexistent/x.npz", "/dev/full", "/"}) {
    std::string error = llvm::toString(writeNpz(path, {{"a", array}}));
    EXPECT_NE(error.find("cannot write"), std::string::npos) << error;
  }
}

TEST_F(NpzTest, WritingLeavesNoOtherFiles) {
  NpyArray array{NpyType::I8, {1}, {1}};
  ASSERT_FALSE(bool(writeNpz(path_, {{"a", array}})));
  std::error_code code;
  int count = 0;
  for (llvm::sys::fs::directory_iterator it(folder_, code), end; it != end && !code;
       it.increment(code))
    ++count;
  EXPECT_EQ(count, 1);
}

} // namespace
