// The counterpart of no_cuda.cc; it defines no launchers, because the .cu files do.

#include "runtime/kernels/available.h"

namespace coll::kernels {

rt::Status kernelsAvailable() { return {}; }

} // namespace coll::kernels
