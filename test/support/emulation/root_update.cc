#include "test/support/emulation/root_update.h"

namespace coll::kernels {

rt::Result<simt::Grid> emulatedRootUpdate(const PeerGroup &group, const RootUpdate &update,
                                          const AnyOptimizer &optimizer) {
  return std::visit([&](const auto &one) { return emulatedRootUpdate(group, update, one); },
                    optimizer);
}

} // namespace coll::kernels
