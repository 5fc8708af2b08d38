#include "runtime/exchange/moe/call_queue.h"

#include "test/support/fakes/cuda.h"
#include "test/support/no_more_threads.h"

#include <atomic>
#include <gtest/gtest.h>

namespace coll::rt {
namespace {

class CallQueueTest : public testing::Test {
protected:
  CallQueueTest() {
    fake_.setCurrent(0);
    EXPECT_EQ(cuda_.streamCreate(&stream_, dl::kCudaStreamNonBlocking), 0);
    EXPECT_EQ(cuda_.eventCreate(&end_, dl::kCudaEventNoTiming), 0);
    queue_ = CallQueue::create(dl::GpuContext::open(cuda_, 0).take(), [this](const Status &status) {
               failures_ += status.message() + ";";
             }).take();
  }
  ~CallQueueTest() override {
    queue_.reset();
    EXPECT_EQ(cuda_.streamDestroy(stream_), 0);
    EXPECT_EQ(cuda_.eventDestroy(end_), 0);
    EXPECT_EQ(fake_.misuse(), "");
    EXPECT_EQ(fake_.liveAllocations(), 0);
  }
  uint32_t post(CallQueue::Call call) { return queue_->post(stream_, std::move(call)).take(); }
  // Returns true if the stream has passed the work that is on it now.
  bool isOver() {
    EXPECT_EQ(cuda_.eventRecord(end_, stream_), 0);
    return cuda_.eventQuery(end_) == dl::kCudaSuccess;
  }

  dl::FakeCuda fake_;
  const dl::Cuda &cuda_ = fake_.table();
  dl::CudaStream stream_ = nullptr;
  dl::CudaEvent end_ = nullptr;
  std::string failures_;
  std::unique_ptr<CallQueue> queue_;
};

TEST_F(CallQueueTest, TheStreamWaitsForCallsInTheirOrder) {
  std::atomic<bool> mayGo{false};
  std::string order;
  post([&](dl::CudaEvent) {
    while (!mayGo)
      std::this_thread::yield();
    order += "a";
    return Status();
  });
  const uint32_t second = post([&](dl::CudaEvent reached) {
    EXPECT_EQ(cuda_.eventQuery(reached), dl::kCudaSuccess); // it is behind the first
    order += "b";
    return Status();
  });
  EXPECT_FALSE(isOver());
  EXPECT_EQ(order, "");
  mayGo = true;
  EXPECT_EQ(cuda_.streamSynchronize(stream_), 0);
  queue_->wait(second);
  EXPECT_EQ(order, "ab");
}

TEST_F(CallQueueTest, AfterAFailureNoneIsBegunAndTheStreamGoesOn) {
  post([](dl::CudaEvent) { return Status(kCollPeer, "first"); });
  bool isBegun = false;
  queue_->wait(post([&](dl::CudaEvent) {
    isBegun = true;
    return Status(kCollPeer, "second");
  }));
  EXPECT_FALSE(isBegun);
  EXPECT_EQ(failures_, "first;");
  EXPECT_EQ(cuda_.streamSynchronize(stream_), 0);
}

TEST_F(CallQueueTest, WithoutMemoryACallFails) {
  queue_->wait(post([](dl::CudaEvent) -> Status { throw std::bad_alloc(); }));
  EXPECT_EQ(failures_, "a call has failed: std::bad_alloc;");
  EXPECT_EQ(cuda_.streamSynchronize(stream_), 0);
}

TEST_F(CallQueueTest, FinishWaitsForAll) {
  int done = 0;
  for (int i = 0; i < 20; ++i)
    post([&](dl::CudaEvent) {
      ++done;
      return Status();
    });
  queue_->finish();
  EXPECT_EQ(done, 20);
  EXPECT_TRUE(isOver());
}

TEST_F(CallQueueTest, WhatTheDriverRefusesIsNotPosted) {
  for (const char *call : {"eventRecord", "streamWaitValue"}) {
    fake_.failNext(call, dl::kCudaOutOfMemory);
    EXPECT_EQ(queue_->post(stream_, [](dl::CudaEvent) { return Status(); }).status().code(),
              kCollDevice);
  }
  EXPECT_TRUE(isOver());
  EXPECT_EQ(post([](dl::CudaEvent) { return Status(); }), 1u);
}

TEST(CallQueueDriverTest, ADriverWithoutWaitsForWordsIsTooOld) {
  dl::FakeCuda fake;
  dl::Cuda old = fake.table();
  old.streamWaitValue = nullptr;
  auto made = CallQueue::create(dl::GpuContext::open(old, 0).take(), nullptr);
  EXPECT_EQ(made.status().code(), kCollUnsupported);
}

TEST(CallQueueDriverTest, AQueueWithoutItsThreadIsNotMade) {
  dl::FakeCuda fake;
  NoMoreThreads limit;
  auto made = CallQueue::create(dl::GpuContext::open(fake.table(), 0).take(), nullptr);
  COLL_EXPECT_NO_THREAD(made.status(), "calls in the order of a stream");
}

} // namespace
} // namespace coll::rt
