// tokens.h - the kernels of tokens/tokens.h on the host, for tests, with pointers of the host.

#ifndef COLL_TEST_SUPPORT_EMULATION_TOKENS_H
#define COLL_TEST_SUPPORT_EMULATION_TOKENS_H

#include "runtime/kernels/tokens/tokens.h"

namespace coll::kernels {

// Like the launchers with these names, but complete when they return.
void emulateWidenExperts(const WidenExperts &widen);
void emulateUnpackTokens(const UnpackTokens &unpack);
void emulateReadRoute(const TokenRoute &route);
void emulateCheckRoute(const TokenRoute &route);

} // namespace coll::kernels

#endif // COLL_TEST_SUPPORT_EMULATION_TOKENS_H
