// The compiler's thread pool if there are few threads, or none.

#include "passes/thread_pool.h"

#include "compiler/compiler.h"
#include "test/support/no_more_threads.h"

#include <atomic>

using mlir::coll::ThreadPool;

namespace {

TEST(ThreadPool, RunsEachTaskOnce) {
  ThreadPool pool(4);
  std::atomic<int> runs[100] = {};
  for (std::atomic<int> &count : runs)
    pool.async([&count] { ++count; });
  pool.wait();
  for (std::atomic<int> &count : runs)
    EXPECT_EQ(count, 1);
}

TEST(ThreadPool, AGroupIsAwaitedAlone) {
  ThreadPool pool(1);
  llvm::ThreadPoolTaskGroup first(pool), second(pool);
  std::atomic<bool> mayEnd = false, hasBegun = false;
  first.async([&] {
    hasBegun = true;
    while (!mayEnd)
      std::this_thread::yield();
  });
  while (!hasBegun)
    std::this_thread::yield();
  std::atomic<int> runs = 0;
  second.async([&] { ++runs; });
  second.wait();
  EXPECT_EQ(runs, 1);
  mayEnd = true;
}

// A task that waits for its own tasks must run them if no other thread does.
TEST(ThreadPool, NestedTasksEnd) {
  ThreadPool pool(2);
  std::atomic<int> runs = 0;
  llvm::ThreadPoolTaskGroup outer(pool);
  for (int i = 0; i < 8; ++i)
    outer.async([&] {
      llvm::ThreadPoolTaskGroup inner(pool);
      for (int k = 0; k < 8; ++k)
        inner.async([&] { ++runs; });
    });
  outer.wait();
  EXPECT_EQ(runs, 64);
}

TEST(ThreadPool, WithoutThreadsTasksRunWhereTheyAreAwaited) {
  const coll::NoMoreThreads refused;
  ThreadPool pool(4);
  std::vector<std::thread::id> ran;
  for (int i = 0; i < 3; ++i)
    pool.async([&] { ran.push_back(std::this_thread::get_id()); });
  EXPECT_TRUE(ran.empty());
  pool.wait();
  EXPECT_EQ(ran, std::vector<std::thread::id>(3, std::this_thread::get_id()));
}

TEST(Compile, NeedsNoThreadsOfItsOwn) {
  const coll::NoMoreThreads refused;
  coll::run::Request request;
  request.text = "func.func @step(%w: tensor<8xf32> {coll.role = \"state\"}, %x: tensor<8xf32> "
                 "{coll.role = \"batch\"}) -> tensor<8xf32> {\n"
                 "  %0 = arith.addf %w, %x : tensor<8xf32>\n"
                 "  return %0 : tensor<8xf32>\n}";
  request.target.ranks = 4;
  auto made = coll::run::compile(request);
  ASSERT_TRUE(bool(made)) << llvm::toString(made.takeError());
}

} // namespace
