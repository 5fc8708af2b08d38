// Properties of unpack, on every machine.

#include "runtime/kernels/error_word.h"
#include "test/kernels/pages/page_check.h"

namespace coll::kernels::test {

TEST_P(UnpackTest, RandomPagesEqualTheReference) {
  for (int i = 0; i < machine().cases(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    Random random(static_cast<uint64_t>(i));
    const auto lengths = static_cast<Lengths>(i % 5);
    const uint64_t bytes = machine().slow() ? 96 << 10 : below(random, 8) == 0 ? 16 << 20 : 1 << 20;
    const PageCase pageCase =
        randomPages(random, 1 + static_cast<uint32_t>(below(random, 300)), bytes, lengths,
                    below(random, 2) == 0, below(random, 4) == 0);
    checkPages(machine(), Direction::Unpack, random, pageCase, randomShape(random));
    if (HasFailure())
      return;
  }
}

// Every residue of source, target and length once, at the edges of both regions.
TEST_P(UnpackTest, EveryAlignmentOfOnePage) {
  Random random(7);
  for (size_t bounce = 0; bounce < 16; ++bounce)
    for (size_t buffer = 0; buffer < 16; ++buffer)
      for (const uint32_t len : {1u, 15u, 16u, 17u, 33u, 4096u + 13}) {
        if (len > 4096 && machine().slow() && (bounce + buffer) % 5 != 0)
          continue;
        SCOPED_TRACE(std::to_string(bounce) + " " + std::to_string(buffer) + " " +
                     std::to_string(len));
        checkPages(machine(), Direction::Unpack, random, {{{0, len, 0}}, len, len},
                   {bounce, buffer, Where::Device, 1});
        if (HasFailure())
          return;
      }
}

TEST_P(UnpackTest, NoPagesAndEmptyPages) {
  Random random(3);
  EXPECT_EQ(checkPages(machine(), Direction::Unpack, random, {{}, 100, 100}, {}), 0u);
  EXPECT_EQ(
      checkPages(machine(), Direction::Unpack, random, {{{0, 0, 0}, {100, 0, 100}}, 100, 100}, {}),
      0u);
  EXPECT_EQ(checkPages(machine(), Direction::Unpack, random, {{{0, 0, 0}}, 0, 0}, {}), 0u);
}

// A descriptor without bytes has no effect, wherever it points.
TEST_P(UnpackTest, EmptyPagesMayPointAnywhere) {
  Random random(3);
  EXPECT_EQ(checkPages(machine(), Direction::Unpack, random, {{{~0u, 0, ~uint64_t{0}}}, 8, 8}, {}),
            0u);
}

TEST_P(UnpackTest, BadPagesAreReportedAndLeftOut) {
  for (int i = 0; i < machine().cases(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    Random random(static_cast<uint64_t>(1000 + i));
    PageCase pageCase = randomPages(random, static_cast<uint32_t>(below(random, 100)), 64 << 10,
                                    Lengths::Mixed, true, false);
    addBadPages(random, pageCase, 1 + static_cast<uint32_t>(below(random, 6)));
    const uint64_t error =
        checkPages(machine(), Direction::Unpack, random, pageCase, randomShape(random));
    EXPECT_EQ(static_cast<KernelError>(static_cast<uint32_t>(error)), KernelError::PageRange);
    EXPECT_LT(error >> 32, pageCase.pages.size());
    if (HasFailure())
      return;
  }
}

TEST_P(UnpackTest, BadPagesWithoutAnErrorWord) {
  Memory buffer(machine(), 64, 0, Where::Device, true),
      bounce(machine(), 64, 0, Where::Device, false);
  Memory pages(machine(), sizeof(rt::PageDescriptor), 0, Where::Device, false);
  const rt::PageDescriptor bad{0, 65, 0};
  machine().copyIn(pages.data(), &bad, sizeof bad);
  PageCopy copy;
  copy.pages = reinterpret_cast<const rt::PageDescriptor *>(pages.data());
  copy.count = 1;
  copy.bounce = bounce.data();
  copy.buffer = buffer.data();
  copy.bounceBytes = copy.bufferBytes = 64;
  copy.blocks = 1;
  EXPECT_TRUE(machine().unpack(copy).ok());
  EXPECT_TRUE(buffer.guardsIntact());
}

TEST_P(UnpackTest, MessagesWalkTheSlotsAndKeepTheHead) {
  Random random(11);
  checkMessages(machine(), Direction::Unpack, random, 3 * static_cast<int>(rt::kUnpackSlots) + 1);
}

TEST_P(UnpackTest, CountBeyondTheSlotIsReported) {
  checkCountTooLarge(machine(), Direction::Unpack);
}

TEST_P(UnpackTest, FullSlot) { checkFullSlot(machine(), Direction::Unpack); }

TEST_P(UnpackTest, AGroupTakesTheMessagesOfThePeersInItsMask) {
  Random random(17);
  checkPeerGroup(machine(), random, 40);
}

// One large page among many small ones, up to 4 MiB. If the first 32 pages are small, the kernel
// does not expect a large one.
TEST_P(UnpackTest, OneLargePageAmongSmallOnes) {
  Random random(13);
  const uint32_t large = machine().slow() ? 200 << 10 : 4 << 20;
  for (const ptrdiff_t at : {20, 38}) {
    PageCase pageCase = randomPages(random, 70, 60 << 10, Lengths::Tiny, true, false);
    pageCase.pages.insert(pageCase.pages.begin() + at, {static_cast<uint32_t>(pageCase.bounceBytes),
                                                        large, pageCase.bufferBytes});
    pageCase.bounceBytes += large;
    pageCase.bufferBytes += large;
    for (const int blocks : {1, 4})
      checkPages(machine(), Direction::Unpack, random, pageCase, {1, 2, Where::Device, blocks});
  }
}

// checkCopy() runs before any call of CUDA, so this needs no GPU.
TEST(UnpackLaunch, RefusesWhatNoLaunchCanTake) {
  using Change = void (*)(PageCopy &);
  const Change changes[] = {
      [](PageCopy &copy) { copy.pages = nullptr; },
      [](PageCopy &copy) {
        copy.pages = reinterpret_cast<const rt::PageDescriptor *>(uintptr_t{0x1008});
      },
      [](PageCopy &copy) { copy.count = uint64_t{1} << 32; },
      [](PageCopy &copy) { copy.bounce = nullptr; },
      [](PageCopy &copy) { copy.bounceBytes = (uint64_t{1} << 32) + 1; },
      [](PageCopy &copy) { copy.buffer = nullptr; },
      [](PageCopy &copy) { copy.errorWord = reinterpret_cast<uint64_t *>(uintptr_t{0x1004}); },
      [](PageCopy &copy) { copy.blocks = -1; },
      [](PageCopy &copy) { copy.blocks = 65536; },
  };
  for (const Change change : changes) {
    uint64_t word = 0;
    PageCopy copy;
    copy.pages = reinterpret_cast<const rt::PageDescriptor *>(uintptr_t{0x1000});
    copy.count = 1;
    copy.bounce = copy.buffer = &word;
    copy.bounceBytes = copy.bufferBytes = sizeof word;
    change(copy);
    const rt::Status status = launchUnpack(copy, nullptr);
#ifdef COLL_HAS_CUDA
    EXPECT_EQ(status.code(), kCollInvalidCall) << status.toString();
#else
    EXPECT_EQ(status.code(), kCollUnsupported) << status.toString();
#endif
    EXPECT_EQ(kernels::checkCopy(copy).code(), kCollInvalidCall);
  }
  MessageCopy<rt::UnpackHandle> message;
  EXPECT_FALSE(launchUnpackNext(message, nullptr).ok());
  UnpackGroupCopy group;
  group.mask = 4;
  group.version = 8;
  EXPECT_EQ(checkGroup(group).code(), kCollUnsupported);
  EXPECT_EQ(checkGroup(group).message(), "a device handle of version 0x8, this kernel reads 0x7");
  group.version = rt::kUnpackVersion;
  EXPECT_NE(checkGroup(group).message().find("peer 2"), std::string::npos);
  EXPECT_FALSE(launchUnpackGroup(group, nullptr).ok());
  group.mask = 1u << UnpackGroupCopy::kPeers;
  EXPECT_EQ(checkGroup(group).code(), kCollInvalidCall);
}

} // namespace coll::kernels::test
