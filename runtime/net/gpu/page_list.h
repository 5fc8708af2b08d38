// page_list.h - converts blocks of the bounce pool to page descriptors.

#ifndef COLL_RUNTIME_NET_GPU_PAGE_LIST_H
#define COLL_RUNTIME_NET_GPU_PAGE_LIST_H

#include "runtime/base/unpack_layout.h"
#include "runtime/net/gpu/page_policy.h"

#include <cstdint>
#include <vector>

namespace coll::net {

// Contiguous pieces of a message, as descriptors of any length.
using Runs = std::vector<rt::PageDescriptor>;

// Adds the descriptors of bytes [at, at + bytes) of the stream that fills `blocks` one after the
// other; the bytes belong at bufferOff. Joins runs that are adjacent in both places and were pinned
// together.
void addRuns(Runs &runs, const uint32_t *blocks, uint64_t at, uint64_t bytes, uint64_t bufferOff);

// Cuts the runs into pages[0, kUnpackSlotPages) according to the policy, or into larger pages if a
// slot has too few. There are at most kUnpackSlotPages runs. Returns the number of pages.
uint32_t cutRuns(const Runs &runs, const PagePolicy &policy, rt::PageDescriptor *pages);

} // namespace coll::net

#endif // COLL_RUNTIME_NET_GPU_PAGE_LIST_H
