// launch.cuh - launches the root update with a user's optimizer.
//
// Write the optimizer in a header (optimizers.h says how), and in a .cu file:
//
//   #include "runtime/kernels/root_update/launch.cuh"
//   rt::Status launchMine(const PeerGroup &group, const RootUpdate &update, const Mine &optimizer,
//                         void *stream) {
//     return launchRootUpdateAs(group, update, optimizer, stream);
//   }
//
// All members must launch the same optimizer with the same constants: differences are detected,
// like different calls.

#ifndef COLL_RUNTIME_KERNELS_ROOT_UPDATE_LAUNCH_CUH
#define COLL_RUNTIME_KERNELS_ROOT_UPDATE_LAUNCH_CUH

#include "runtime/kernels/launch.h"
#include "runtime/kernels/root_update/device.cuh"

namespace coll::kernels {

namespace root_update {

extern __shared__ __align__(16) char rootUpdateShared[];

template <typename Optimizer, typename Gradient, typename Parameter, uint32_t kRanks>
__global__ void __launch_bounds__(kRanks == 1 ? kAloneThreads : kUpdateThreads,
                                  kRanks == 1 ? kAloneBlocks : 1)
    rootUpdateKernel(const __grid_constant__ Arguments args,
                     const __grid_constant__ Optimizer optimizer) {
  update<Optimizer, Gradient, Parameter, kRanks>(args, optimizer, rootUpdateShared);
}

} // namespace root_update

// See launchRootUpdate.
template <typename Optimizer>
rt::Status launchRootUpdateAs(const PeerGroup &group, const RootUpdate &update,
                              const Optimizer &optimizer, void *stream) {
  COLL_RETURN_IF_ERROR(checkRootUpdate(group, update, Optimizer::kSlots));
  return root_update::visitTypes(
      update, group.size, [&](auto gradient, auto parameter, auto ranks) -> rt::Status {
        const auto kernel =
            root_update::rootUpdateKernel<Optimizer, decltype(gradient), decltype(parameter),
                                          decltype(ranks)::value>;
        const auto address = reinterpret_cast<const void *>(kernel);
        constexpr size_t kShared = sizeof(root_update::Shared<Optimizer>);
        const rt::Result<PreparedKernel> prepared = prepareKernel(address, kShared);
        if (!prepared)
          return prepared.status();
        root_update::Arguments args =
            root_update::arrange(group, update, static_cast<uint32_t>(prepared->processors),
                                 root_update::markOf(optimizer));
        Optimizer constants = optimizer;
        void *arguments[] = {&args, &constants};
        return launchKernel("root update", address, static_cast<int>(args.update.blocks),
                            static_cast<int>(args.update.threads), kShared, arguments, stream);
      });
}

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_ROOT_UPDATE_LAUNCH_CUH
