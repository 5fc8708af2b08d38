// page_check.h - makes one random copy on a machine, and compares it with the reference.

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

// Every byte of the target must be as the reference leaves it, bytes around it must be unchanged,
// and the error word must be set if and only if the reference sets it. Returns the error word.
uint64_t checkPages(Machine &machine, Direction direction, Random &random, const PageCase &pageCase,
                    const CopyShape &shape);

// Sends a sequence of messages, some of them empty, several times around the slots of a connection;
// the head is kept between launches.
void checkMessages(Machine &machine, Direction direction, Random &random, int messages);
// Several connections; each round has messages for some of them, once around the slots.
void checkPeerGroup(Machine &machine, Random &random, int rounds);
// A count beyond the slot's descriptors must be reported, nothing copied, and the slot consumed.
void checkCountTooLarge(Machine &machine, Direction direction);
// A message with as many pages as a slot has.
void checkFullSlot(Machine &machine, Direction direction);

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_PAGE_CHECK_H
