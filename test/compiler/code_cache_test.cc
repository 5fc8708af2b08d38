// Compiled code on disk: what is found again, and what must not be mistaken for it.

#include "compiler/code_cache.h"
#include "compiler/compiler_identity.h"
#include "passes/export/jit/object_code.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace mlir::coll;

namespace {

constexpr uint64_t kPlenty = 1 << 30;

CodeKey keyOf(llvm::StringRef name) { return makeCodeKey({name}); }

class CodeCacheTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("coll-cache-test", folder_));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder_); }

  CodeCache open(uint64_t maxBytes = kPlenty) {
    return llvm::cantFail(CodeCache::open(folder_, maxBytes));
  }

  // The text under `key`, "missing", or "damaged".
  std::string find(const CodeCache &cache, llvm::StringRef name) {
    auto found = cache.find(keyOf(name));
    if (!found) {
      llvm::consumeError(found.takeError());
      return "damaged";
    }
    return *found ? (*found)->getBuffer().str() : "missing";
  }

  void store(const CodeCache &cache, llvm::StringRef name, llvm::StringRef text) {
    ASSERT_FALSE(
        llvm::errorToBool(cache.store(keyOf(name), [&](llvm::raw_ostream &os) { os << text; })));
  }

  std::string pathOf(llvm::StringRef name) {
    llvm::SmallString<256> path(folder_);
    llvm::sys::path::append(path, "llvmcache-" + llvm::toHex(keyOf(name), /*LowerCase=*/true));
    return path.str().str();
  }

  int countFiles() {
    std::error_code code;
    int count = 0;
    for (llvm::sys::fs::directory_iterator it(folder_, code), end; it != end; it.increment(code))
      count += llvm::sys::path::filename(it->path()).starts_with("llvmcache-");
    return count;
  }

  llvm::SmallString<256> folder_;
};

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

TEST_F(CodeCacheTest, FindsWhatWasStored) {
  CodeCache cache = open();
  EXPECT_EQ(find(cache, "a"), "missing");
  store(cache, "a", std::string("code\0more", 9));
  store(cache, "b", "");
  EXPECT_EQ(find(cache, "a"), std::string("code\0more", 9));
  EXPECT_EQ(find(open(), "b"), "");
  store(cache, "a", "newer");
  EXPECT_EQ(find(cache, "a"), "newer");
}

TEST_F(CodeCacheTest, KeysTellPartsApart) {
  EXPECT_EQ(makeCodeKey({"ab", "c"}), makeCodeKey({"ab", "c"}));
  EXPECT_NE(makeCodeKey({"ab", "c"}), makeCodeKey({"a", "bc"}));
  EXPECT_NE(makeCodeKey({"ab"}), makeCodeKey({"ab", ""}));
}

TEST_F(CodeCacheTest, DamageIsFound) {
  CodeCache cache = open();
  store(cache, "a", "some code");
  const std::string whole = readFile(pathOf("a"));
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] ^= 1;
    writeFile(pathOf("a"), flipped);
    ASSERT_EQ(find(cache, "a"), "damaged") << "byte " << at << " changed";
    writeFile(pathOf("a"), whole.substr(0, at));
    ASSERT_EQ(find(cache, "a"), "damaged") << "only " << at << " bytes";
  }
  writeFile(pathOf("a"), whole + "x");
  EXPECT_EQ(find(cache, "a"), "damaged");
  store(cache, "a", "some code");
  EXPECT_EQ(find(cache, "a"), "some code");
}

TEST_F(CodeCacheTest, AnEntryUnderAnotherNameIsForeign) {
  CodeCache cache = open();
  store(cache, "a", "code of a");
  writeFile(pathOf("b"), readFile(pathOf("a")));
  EXPECT_EQ(find(cache, "b"), "damaged");
}

TEST_F(CodeCacheTest, WhatIsNoFileIsNotRead) {
  CodeCache cache = open();
  ASSERT_EQ(mkfifo(pathOf("pipe").c_str(), 0600), 0);
  EXPECT_EQ(find(cache, "pipe"), "damaged");
  ASSERT_EQ(mkdir(pathOf("folder").c_str(), 0700), 0);
  EXPECT_EQ(find(cache, "folder"), "damaged");
  writeFile(pathOf("target"), "x");
  ASSERT_EQ(symlink(pathOf("target").c_str(), pathOf("link").c_str()), 0);
  EXPECT_EQ(find(cache, "link"), "damaged");
}

TEST_F(CodeCacheTest, LeastRecentlyUsedGoesFirst) {
  CodeCache cache = open(/*maxBytes=*/3500);
  const std::string code(1000, 'x');
  for (const char *name : {"a", "b", "c"}) {
    store(cache, name, code);
    // Last used in the order of their names, and long ago.
    timespec times[2] = {{1000 + name[0], 0}, {1000, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, pathOf(name).c_str(), times, 0), 0);
  }
  EXPECT_EQ(find(cache, "a"), code);
  store(cache, "d", code);
  EXPECT_EQ(find(cache, "b"), "missing");
  EXPECT_EQ(find(cache, "a"), code);
  EXPECT_EQ(find(cache, "c"), code);
  EXPECT_EQ(find(cache, "d"), code);
}

TEST_F(CodeCacheTest, AFullDiskKeepsNothing) {
  CodeCache cache = open();
  store(cache, "a", "old");
  int before = countFiles();
  rlimit old;
  getrlimit(RLIMIT_FSIZE, &old);
  rlimit small = {64, old.rlim_max};
  auto handler = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  bool hasFailed = llvm::errorToBool(
      cache.store(keyOf("a"), [](llvm::raw_ostream &os) { os << std::string(100000, 'x'); }));
  setrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, handler);
  EXPECT_TRUE(hasFailed);
  EXPECT_EQ(find(cache, "a"), "old");
  EXPECT_EQ(countFiles(), before);
}

TEST_F(CodeCacheTest, FoldersOfOthersAreRefused) {
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  EXPECT_TRUE(llvm::errorToBool(CodeCache::open(folder_, kPlenty).takeError()));
  writeFile(pathOf("file"), "x");
  EXPECT_TRUE(llvm::errorToBool(CodeCache::open(pathOf("file"), kPlenty).takeError()));
  EXPECT_TRUE(llvm::errorToBool(CodeCache::open(pathOf("file") + "/in", kPlenty).takeError()));
}

TEST_F(CodeCacheTest, OneLockForEachKey) {
  using std::chrono::milliseconds;
  CodeCache cache = open(), other = open();
  {
    CodeCache::Lock lock = cache.lock(keyOf("a"), milliseconds(0));
    EXPECT_TRUE(lock.isHeld());
    EXPECT_FALSE(other.lock(keyOf("a"), milliseconds(20)).isHeld());
    EXPECT_TRUE(other.lock(keyOf("b"), milliseconds(0)).isHeld());
  }
  EXPECT_TRUE(other.lock(keyOf("a"), milliseconds(0)).isHeld());
}

ObjectCode makeCode() {
  ObjectCode code;
  code.kernels.push_back(llvm::MemoryBuffer::getMemBufferCopy("kernels"));
  code.kernels.push_back(llvm::MemoryBuffer::getMemBufferCopy(""));
  code.constants.push_back({"constant.0", ObjectCode::copyConstant(llvm::StringRef("\0\1\2", 3))});
  code.classes.push_back({llvm::MemoryBuffer::getMemBufferCopy("driver"), "{}", true, ".target",
                          "[]", std::string("\0\1", 2)});
  return code;
}

TEST(ObjectCodeTest, ReadsWhatItWrote) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  makeCode().write(os);
  std::optional<ObjectCode> code = ObjectCode::read(bytes);
  ASSERT_TRUE(code);
  ASSERT_EQ(code->kernels.size(), 2u);
  EXPECT_EQ(code->kernels[0]->getBuffer(), "kernels");
  ASSERT_EQ(code->constants.size(), 1u);
  EXPECT_EQ(code->constants[0].name, "constant.0");
  EXPECT_EQ(code->constants[0].bytes->getBuffer(), llvm::StringRef("\0\1\2", 3));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(code->constants[0].bytes->getBufferStart()) %
                kConstantAlignment,
            0u);
  EXPECT_EQ(code->kernels[1]->getBuffer(), "");
  ASSERT_EQ(code->classes.size(), 1u);
  EXPECT_EQ(code->classes[0].driver->getBuffer(), "driver");
  EXPECT_EQ(code->classes[0].descriptor, "{}");
  EXPECT_TRUE(code->classes[0].hasInit);
  EXPECT_EQ(code->classes[0].gpuImage, ".target");
  EXPECT_EQ(code->classes[0].gpuKernels, "[]");
  EXPECT_EQ(code->classes[0].constants, std::string("\0\1", 2));
}

TEST(ObjectCodeTest, RefusesWhatItDidNotWrite) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  makeCode().write(os);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(ObjectCode::read(bytes.substr(0, size))) << size << " bytes";
  EXPECT_FALSE(ObjectCode::read(bytes + "x"));
  EXPECT_FALSE(ObjectCode::read(std::string(64, '\xff')));
}

TEST(CompilerIdentityTest, IsKnownAndStays) {
  EXPECT_NE(describeCompiler(), "");
  EXPECT_EQ(describeCompiler(), describeCompiler());
}

} // namespace
