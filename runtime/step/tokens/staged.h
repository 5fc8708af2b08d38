// staged.h - dispatch and combine of a program on a GPU: the exchange itself is in host memory.
//
// What it reads is fetched from the GPU before, and what it writes is stored there after; the host
// waits for the GPU, so that such a step makes no graph. Tokens of every type arrive as they are.

#ifndef COLL_RUNTIME_STEP_TOKENS_STAGED_H
#define COLL_RUNTIME_STEP_TOKENS_STAGED_H

#include "runtime/step/device/device.h"
#include "runtime/step/tokens/exchange.h"

namespace coll::rt {

// As runDispatch and runCombine, with buffers in the memory of `device`. The backend has to take
// calls on host memory.
Status runStagedDispatch(Device &device, TokenDispatch dispatch, int32_t serial,
                         const TokenPlace &place);
Status runStagedCombine(Device &device, TokenCombine combine, const TokenPlace &place);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_TOKENS_STAGED_H
