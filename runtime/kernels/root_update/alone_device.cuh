// alone_device.cuh - the root update of a group of one: the optimizer without communication.

#ifndef COLL_RUNTIME_KERNELS_ROOT_UPDATE_ALONE_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_ROOT_UPDATE_ALONE_DEVICE_CUH

#include "runtime/kernels/root_update/unit.cuh"

namespace coll::kernels::root_update {

// All threads of the grid take units in turn.
template <typename Optimizer, typename Gradient, typename Parameter>
class AloneUpdate : Root<Optimizer, Gradient, Parameter, 1> {
  using Base = Root<Optimizer, Gradient, Parameter, 1>;
  using Base::args_;
  using Base::call_;
  using Base::compute;
  using Base::gradients;
  using Base::isWhole;
  using Base::kUnit;
  using Base::parameters;
  using Base::prepare;
  using Base::shared_;
  using typename Base::Inputs;

public:
  COLL_DEVICE AloneUpdate(const Arguments &args, const Optimizer &optimizer, char *shared)
      : Base(args, optimizer, shared) {}

  COLL_DEVICE void run() const {
    const peer::Call call(args_.group, args_.call);
    if (!simt::syncBlockAny(!call.enter())) {
      const uint64_t elems = call_.table.elems[0];
      const Cursor first(call_.table, 0, 0);
      if (first.covers({0, elems}) && isWhole(first, 0))
        update<true>(first, elems);
      else
        update<false>(first, elems);
    }
    call.leave();
  }

private:
  template <bool kWhole>
  COLL_DEVICE void update(Cursor cursor, uint64_t elems) const {
    const uint64_t stride = uint64_t{simt::gridBlocks()} * simt::blockThreads() * kUnit;
    uint64_t at =
        (uint64_t{simt::blockIndex()} * simt::blockThreads() + simt::threadIndex()) * kUnit;
    Inputs in;
    uint32_t count = kUnit;
    const auto fetch = [&] {
      if (at >= elems)
        return;
      if constexpr (!kWhole)
        count = cursor.seek(at, kUnit);
      in.gradients[0] = load<kWhole, kUnit>(gradients() + cursor.gradient(at), count);
      this->template loadState<kWhole>(in, cursor, at, count);
    };
    fetch(); // while one thread prepares the step
    prepare();
    simt::syncBlock();
    const typename Optimizer::Step step = shared_.step;
    const float scale = shared_.scale;
    while (at < elems) {
      compute(in, step, scale);
      store<kWhole>(parameters(0) + cursor.parameter(at), this->fresh(in), count);
      this->template storeState<kWhole>(in, cursor, at, count);
      at += stride;
      fetch();
    }
  }
};

} // namespace coll::kernels::root_update

#endif // COLL_RUNTIME_KERNELS_ROOT_UPDATE_ALONE_DEVICE_CUH
