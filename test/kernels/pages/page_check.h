// page_check.h - one random copy on a machine, compared with the reference.

#ifndef COLL_TEST_KERNELS_PAGE_CHECK_H
#define COLL_TEST_KERNELS_PAGE_CHECK_H

#include "test/kernels/pages/machine.h"
#include "test/kernels/pages/page_cases.h"

namespace coll::kernels::test {

enum class Direction { Unpack, Pack };

struct CopyShape {
  size_t bounceMisalign = 0, bufferMisalign = 0;
  Where bounceWhere = Where::Device;
  int blocks = 1;
};

CopyShape randomShape(Random &random);

// Every byte of the target is as the reference leaves it, bytes around it are untouched,
// and the error word is set if and only if the reference sets it. Returns it.
uint64_t checkPages(Machine &machine, Direction direction, Random &random, const PageCase &pageCase,
                    const CopyShape &shape);

// A sequence of messages through the slots of a connection, with empty ones, over several
// times around; the head is kept between launches.
void checkMessages(Machine &machine, Direction direction, Random &random, int messages);
// Several connections, of which each round has messages of some, once around the slots.
void checkPeerGroup(Machine &machine, Random &random, int rounds);
// A count beyond the slot's descriptors: reported, nothing copied, the slot is consumed.
void checkCountTooLarge(Machine &machine, Direction direction);
// As many pages as a slot has.
void checkFullSlot(Machine &machine, Direction direction);

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_PAGE_CHECK_H
