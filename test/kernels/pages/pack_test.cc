// Properties of pack, on every machine. unpack_test.cc tests what both have in common.

#include "runtime/kernels/error_word.h"
#include "test/kernels/pages/page_check.h"

namespace coll::kernels::test {

TEST_P(PackTest, RandomPagesEqualTheReference) {
  for (int i = 0; i < machine().cases(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    Random random(static_cast<uint64_t>(2000 + i));
    const auto lengths = static_cast<Lengths>(i % 5);
    const PageCase pageCase = randomPages(random, 1 + static_cast<uint32_t>(below(random, 300)),
                                          machine().slow() ? 96 << 10 : 1 << 20, lengths,
                                          below(random, 2) == 0, below(random, 4) == 0);
    checkPages(machine(), Direction::Pack, random, pageCase, randomShape(random));
    if (HasFailure())
      return;
  }
}

TEST_P(PackTest, BadPagesAreReportedAndLeftOut) {
  for (int i = 0; i < machine().cases(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    Random random(static_cast<uint64_t>(3000 + i));
    PageCase pageCase = randomPages(random, static_cast<uint32_t>(below(random, 100)), 64 << 10,
                                    Lengths::Mixed, true, false);
    addBadPages(random, pageCase, 1 + static_cast<uint32_t>(below(random, 6)));
    const uint64_t error =
        checkPages(machine(), Direction::Pack, random, pageCase, randomShape(random));
    EXPECT_EQ(static_cast<KernelError>(static_cast<uint32_t>(error)), KernelError::PageRange);
    if (HasFailure())
      return;
  }
}

TEST_P(PackTest, MessagesWalkTheSlotsAndPublish) {
  Random random(12);
  checkMessages(machine(), Direction::Pack, random, 2 * static_cast<int>(rt::kUnpackSlots) + 1);
}

TEST_P(PackTest, CountBeyondTheSlotIsReported) { checkCountTooLarge(machine(), Direction::Pack); }

TEST_P(PackTest, FullSlot) { checkFullSlot(machine(), Direction::Pack); }

} // namespace coll::kernels::test
