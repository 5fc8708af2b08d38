// root_update.h - runs the root update's device code on host threads, for tests.

#ifndef COLL_TEST_SUPPORT_EMULATION_ROOT_UPDATE_H
#define COLL_TEST_SUPPORT_EMULATION_ROOT_UPDATE_H

#include "runtime/kernels/root_update/device.cuh"

namespace coll::kernels {

// What a launch on this member would run, with pointers of the host; for simt::run() on a separate
// thread, or with its peers' grids in simt::runBeside(). `update` and `optimizer` are copied. The
// blocks and threads are those of the update, or one block of 32.
template <typename Optimizer>
rt::Result<simt::Grid> emulatedRootUpdate(const PeerGroup &group, const RootUpdate &update,
                                          const Optimizer &optimizer) {
  COLL_RETURN_IF_ERROR(checkRootUpdate(group, update, Optimizer::kSlots));
  RootUpdate small = update;
  small.blocks = update.blocks ? update.blocks : 1;
  small.threads = update.threads ? update.threads : simt::kWarpThreads;
  const root_update::Arguments args =
      root_update::arrange(group, small, small.blocks, root_update::markOf(optimizer));
  return root_update::visitTypes(
      update, group.size, [&](auto gradient, auto parameter, auto ranks) -> simt::Grid {
        const auto body = [args, optimizer](char *shared) {
          root_update::update<Optimizer, decltype(gradient), decltype(parameter),
                              decltype(ranks)::value>(args, optimizer, shared);
        };
        return {{args.update.blocks, args.update.threads, sizeof(root_update::Shared<Optimizer>)},
                body};
      });
}

// The same for the optimizers of the runtime, whose code is compiled once for all programs.
rt::Result<simt::Grid> emulatedRootUpdate(const PeerGroup &group, const RootUpdate &update,
                                          const AnyOptimizer &optimizer);

} // namespace coll::kernels

#endif // COLL_TEST_SUPPORT_EMULATION_ROOT_UPDATE_H
