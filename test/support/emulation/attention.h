// attention.h - runs the attention kernels on the host, for tests, with pointers of the host.

#ifndef COLL_TEST_SUPPORT_EMULATION_ATTENTION_H
#define COLL_TEST_SUPPORT_EMULATION_ATTENTION_H

#include "runtime/kernels/attention/attention.h"

namespace coll::kernels {

// Like launchAttention and launchAttentionBackward, but complete when they return.
rt::Status emulateAttention(const Attention &attention, const AttentionBuffers &buffers);
rt::Status emulateAttentionBackward(const Attention &attention, const AttentionBuffers &buffers);

} // namespace coll::kernels

#endif // COLL_TEST_SUPPORT_EMULATION_ATTENTION_H
