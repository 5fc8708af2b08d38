#include "runtime/base/aligned_buffer.h"
#include "runtime/base/machine.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace coll::rt {
namespace {

namespace fs = std::filesystem;

// Creates a folder of files like those of /sys.
class MachineTest : public testing::Test {
protected:
  MachineTest() {
    std::string name = (fs::temp_directory_path() / "coll-machine-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~MachineTest() override { fs::remove_all(root_); }

  void write(const std::string &path, const std::string &text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << "\n";
  }
  void cache(int processor, int index, const char *level, const char *type, const char *size,
             const char *sharers) {
    const std::string folder =
        "cpu" + std::to_string(processor) + "/cache/index" + std::to_string(index) + "/";
    write(folder + "level", level);
    write(folder + "type", type);
    write(folder + "size", size);
    write(folder + "shared_cpu_list", sharers);
  }
  int64_t groupBytes(const std::string &groups) {
    return cgroupMemoryBytes(groups, root_.string());
  }

  fs::path root_;
};

//===-- processors --------------------------------------------------------------===//

TEST_F(MachineTest, ASetHoldsProcessorsOfAnyNumber) {
  const std::vector<int> numbers = {0, 63, 64, 1023, 1024, 5000};
  const ProcessorSet set(numbers);
  EXPECT_EQ(set.numbers(), numbers);
  EXPECT_GE(set.bytes() * 8, 5001u);
  EXPECT_TRUE(CPU_ISSET_S(5000, set.bytes(), set.data()));
  EXPECT_FALSE(CPU_ISSET_S(4999, set.bytes(), set.data()));
}

TEST_F(MachineTest, AllowedProcessorsAreThoseOfTheThread) {
  const std::vector<int> all = ProcessorSet::allowed().numbers();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(numAllowedProcessors(), static_cast<int>(all.size()));
  std::thread([&] {
    const ProcessorSet one({all.back()});
    ASSERT_EQ(sched_setaffinity(0, one.bytes(), one.data()), 0);
    EXPECT_EQ(ProcessorSet::allowed().numbers(), std::vector<int>{all.back()});
    EXPECT_EQ(numAllowedProcessors(), 1);
  }).join();
}

//===-- caches ------------------------------------------------------------------===//

TEST_F(MachineTest, LastLevelCachesCountOnce) {
  for (int cpu = 0; cpu < 4; ++cpu) {
    cache(cpu, 0, "1", "Data", "48K", std::to_string(cpu).c_str());
    cache(cpu, 1, "1", "Instruction", "32K", std::to_string(cpu).c_str());
    cache(cpu, 2, "2", "Unified", "1024K", std::to_string(cpu).c_str());
    cache(cpu, 3, "3", "Unified", "32768K", cpu < 2 ? "0-1" : "2-3");
  }
  EXPECT_EQ(cacheBytesOf({0, 1, 2, 3}, root_.string()), 64 << 20);
  EXPECT_EQ(cacheBytesOf({1}, root_.string()), 32 << 20);
  EXPECT_EQ(cacheBytesOf({0, 1, 7}, root_.string()), 32 << 20); // 7 says nothing
}

TEST_F(MachineTest, WhereThereIsNoThirdLevelTheSecondCounts) {
  cache(0, 0, "1", "Data", "64K", "0");
  cache(0, 1, "2", "Unified", "2M", "0");
  EXPECT_EQ(cacheBytesOf({0}, root_.string()), 2 << 20);
  EXPECT_EQ(cacheBytesOf({0}, (root_ / "nowhere").string()), 0);
}

//===-- memory ------------------------------------------------------------------===//

TEST_F(MachineTest, TheLeastLimitOfAGroupAndThoseAboveCounts) {
  write("a/memory.max", "3000000");
  write("a/b/memory.max", "max");
  write("memory.max", "5000000");
  EXPECT_EQ(groupBytes("0::/a/b\n"), 3'000'000);
  EXPECT_EQ(groupBytes("0::/\n"), 5'000'000);
  EXPECT_EQ(groupBytes("0::/../../elsewhere\n"), 5'000'000);
  EXPECT_EQ(groupBytes("5:cpu:/a\n"), INT64_MAX);
  EXPECT_EQ(groupBytes("nonsense"), INT64_MAX);
}

TEST_F(MachineTest, GroupsOfVersionOneHaveAFolderOfTheirOwn) {
  write("memory/job/memory.limit_in_bytes", "700000");
  write("memory/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(groupBytes("4:cpu,memory:/job\n1:cpu:/\n0::/\n"), 700'000);
  EXPECT_GT(groupBytes("4:memory:/\n"), int64_t{1} << 60);
}

TEST_F(MachineTest, MemoryIsLimitedByTheMachineAtLeast) {
  const MemoryLimit limit = memoryLimit();
  EXPECT_GT(limit.bytes, 0);
  EXPECT_LE(limit.bytes, physicalMemoryBytes());
  EXPECT_NE(limit.name, "");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(MachineTest, ABufferBeyondTheAddressSpaceIsRefusedByName) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto allocate = [] {
    const rlimit space = {256 << 20, 256 << 20};
    if (setrlimit(RLIMIT_AS, &space) != 0 || addressSpaceLeft() > (256 << 20))
      std::_Exit(3);
    fprintf(stderr, "%s", AlignedBuffer::create(300 << 20).status().message().c_str());
    std::_Exit(0);
  };
  EXPECT_EXIT(allocate(), testing::ExitedWithCode(0),
              "no memory for 314572800 bytes: the rest of the address space .ulimit -v, "
              "ulimit -d. is ");
}
#endif

} // namespace
} // namespace coll::rt
