// optimizers.h - optimizers as functors, for GPU kernels and for the host.
//
// An optimizer is a trivially copyable struct with
//
//   static constexpr int kSlots;      // f32 values kept per parameter; 0 to kMaxOptimizerSlots
//   struct Step { … };                // the values common to all elements; trivially copyable
//   Step prepare(const UpdateStep &now) const;
//   float apply(const Step &step, float parameter, float gradient, float *slots) const;
//
// prepare() runs once per step and block, apply() once per parameter: it changes the slots (which
// the user fills before the first step, usually with 0) and returns the new parameter. `gradient`
// is the sum over ranks, already scaled. Both functions are COLL_HOST_DEVICE and free of side
// effects. A user's optimizer has the same form (see launch.cuh).
//
// The optimizers below write every sum of products as one fused operation, so that a compiler has
// nothing to contract: a GPU and a host get the same bits.

#ifndef COLL_RUNTIME_KERNELS_ROOT_UPDATE_OPTIMIZERS_H
#define COLL_RUNTIME_KERNELS_ROOT_UPDATE_OPTIMIZERS_H

#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define COLL_HOST_DEVICE __host__ __device__
#else
#define COLL_HOST_DEVICE
#endif

namespace coll::kernels {

inline constexpr int kMaxOptimizerSlots = 4;

// Values that change from step to step. They are in GPU memory, so that a captured graph can be
// replayed: the host, or a kernel in the graph, writes them before the step.
struct UpdateStep {
  float learningRate;
  float gradientScale; // a factor of the gradients' sum; 1 / (loss scale), a clipping factor, …
  uint64_t step;       // 1 for the first step
};

// a * b + c, rounded once.
COLL_HOST_DEVICE inline float fused(float a, float b, float c) { return std::fma(a, b, c); }

// base^exponent, with multiplications only: the same on every machine.
COLL_HOST_DEVICE inline double power(double base, uint64_t exponent) {
  double result = 1;
  for (; exponent != 0; exponent >>= 1, base *= base)
    if (exponent & 1)
      result *= base;
  return result;
}

// p -= lr * (g + weightDecay * p)
struct Sgd {
  float weightDecay = 0;

  static constexpr int kSlots = 0;
  struct Step {
    float learningRate;
  };
  COLL_HOST_DEVICE Step prepare(const UpdateStep &now) const { return {now.learningRate}; }
  COLL_HOST_DEVICE float apply(const Step &step, float parameter, float gradient, float *) const {
    return fused(-step.learningRate, fused(weightDecay, parameter, gradient), parameter);
  }
};

// g' = g + weightDecay * p; b = momentum * b + g'; p -= lr * b, or with Nesterov's
// look-ahead p -= lr * (g' + momentum * b). Slot: b.
struct Momentum {
  float momentum = 0.9f;
  float weightDecay = 0;
  bool nesterov = false;

  static constexpr int kSlots = 1;
  using Step = Sgd::Step;
  COLL_HOST_DEVICE Step prepare(const UpdateStep &now) const { return {now.learningRate}; }
  COLL_HOST_DEVICE float apply(const Step &step, float parameter, float gradient,
                               float *slots) const {
    const float decayed = fused(weightDecay, parameter, gradient);
    slots[0] = fused(momentum, slots[0], decayed);
    const float direction = nesterov ? fused(momentum, slots[0], decayed) : slots[0];
    return fused(-step.learningRate, direction, parameter);
  }
};

// Kingma and Ba, 2015, with bias correction. g' = g + weightDecay * p;
// m = beta1 * m + (1 - beta1) * g'; v = beta2 * v + (1 - beta2) * g'^2;
// p -= lr / (1 - beta1^t) * m / (sqrt(v / (1 - beta2^t)) + epsilon). Slots: m, v.
// Betas are double: 1 - beta2 of an f32 0.999 would be wrong in the fifth digit.
struct Adam {
  double beta1 = 0.9;
  double beta2 = 0.999;
  float epsilon = 1e-8f;
  float weightDecay = 0;

  static constexpr int kSlots = 2;
  struct Step {
    float beta1, beta2, rest1, rest2; // rest: 1 - beta
    float size;                       // lr / (1 - beta1^t)
    float rootScale;                  // 1 / sqrt(1 - beta2^t)
    float keep;                       // AdamW: 1 - lr * weightDecay
  };
  COLL_HOST_DEVICE Step prepare(const UpdateStep &now) const {
    const double root = std::sqrt(1 - power(beta2, now.step));
    return {static_cast<float>(beta1),
            static_cast<float>(beta2),
            static_cast<float>(1 - beta1),
            static_cast<float>(1 - beta2),
            static_cast<float>(now.learningRate / (1 - power(beta1, now.step))),
            static_cast<float>(1 / root),
            fused(-now.learningRate, weightDecay, 1)};
  }
  COLL_HOST_DEVICE float apply(const Step &step, float parameter, float gradient,
                               float *slots) const {
    return move(step, parameter, fused(weightDecay, parameter, gradient), slots);
  }

protected:
  COLL_HOST_DEVICE float move(const Step &step, float parameter, float gradient,
                              float *slots) const {
    slots[0] = fused(step.beta1, slots[0], step.rest1 * gradient);
    slots[1] = fused(step.beta2, slots[1], step.rest2 * (gradient * gradient));
    const float root = fused(std::sqrt(slots[1]), step.rootScale, epsilon);
    return fused(-step.size, slots[0] / root, parameter);
  }
};

// Loshchilov and Hutter, 2019: as Adam, with p *= 1 - lr * weightDecay first instead of a
// decay inside the gradient.
struct AdamW : Adam {
  COLL_HOST_DEVICE float apply(const Step &step, float parameter, float gradient,
                               float *slots) const {
    return move(step, parameter * step.keep, gradient, slots);
  }
};

// Chen et al., 2023. p = p * (1 - lr * weightDecay) - lr * sign(beta1 * m + (1 - beta1) * g);
// m = beta2 * m + (1 - beta2) * g. The sign of 0 is 0, that of a NaN a NaN. Slot: m.
struct Lion {
  double beta1 = 0.9;
  double beta2 = 0.99;
  float weightDecay = 0;

  static constexpr int kSlots = 1;
  struct Step {
    float beta1, beta2, rest1, rest2;
    float learningRate, keep;
  };
  COLL_HOST_DEVICE Step prepare(const UpdateStep &now) const {
    return {static_cast<float>(beta1),
            static_cast<float>(beta2),
            static_cast<float>(1 - beta1),
            static_cast<float>(1 - beta2),
            now.learningRate,
            fused(-now.learningRate, weightDecay, 1)};
  }
  COLL_HOST_DEVICE float apply(const Step &step, float parameter, float gradient,
                               float *slots) const {
    const float direction = fused(step.beta1, slots[0], step.rest1 * gradient);
    const float known = static_cast<float>((direction > 0) - (direction < 0));
    const float sign = direction != direction ? direction : known;
    slots[0] = fused(step.beta2, slots[0], step.rest2 * gradient);
    return fused(-step.learningRate, sign, parameter * step.keep);
  }
};

// Hinton's RMSProp, neither centred nor with momentum. g' = g + weightDecay * p;
// v = decay * v + (1 - decay) * g'^2; p -= lr * g' / (sqrt(v) + epsilon). Slot: v.
struct RmsProp {
  double decay = 0.99;
  float epsilon = 1e-8f;
  float weightDecay = 0;

  static constexpr int kSlots = 1;
  struct Step {
    float decay, rest, learningRate;
  };
  COLL_HOST_DEVICE Step prepare(const UpdateStep &now) const {
    return {static_cast<float>(decay), static_cast<float>(1 - decay), now.learningRate};
  }
  COLL_HOST_DEVICE float apply(const Step &step, float parameter, float gradient,
                               float *slots) const {
    const float decayed = fused(weightDecay, parameter, gradient);
    slots[0] = fused(step.decay, slots[0], step.rest * (decayed * decayed));
    const float root = std::sqrt(slots[0]) + epsilon;
    return fused(-step.learningRate, decayed / root, parameter);
  }
};

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_ROOT_UPDATE_OPTIMIZERS_H
