// staged.h - dispatch and combine of a program on a GPU: the exchange itself uses host memory.
//
// Inputs are fetched from the GPU before the exchange, and outputs are stored there after it. The
// host waits for the GPU, so such a step cannot be captured as a graph. Tokens of every type arrive
// unchanged.

#ifndef COLL_RUNTIME_STEP_TOKENS_STAGED_H
#define COLL_RUNTIME_STEP_TOKENS_STAGED_H

#include "runtime/step/device/device.h"
#include "runtime/step/tokens/exchange.h"

namespace coll::rt {

// Like runDispatch and runCombine, with buffers in the memory of `device`. The backend must take
// calls on host memory.
Status runStagedDispatch(Device &device, TokenDispatch dispatch, int32_t serial,
                         const TokenPlace &place);
Status runStagedCombine(Device &device, TokenCombine combine, const TokenPlace &place);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_TOKENS_STAGED_H
