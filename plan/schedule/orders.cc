#include "plan/schedule/orders.h"

#include <algorithm>

namespace coll::plan {

namespace {

using Order = std::vector<ScheduleEntry>;

// Appends entries; each kind of work of each chunk takes the micro-batches in turn.
class OrderBuilder {
public:
  explicit OrderBuilder(const OrderShape &shape)
      : numMicroBatches_(shape.numMicroBatches), next_(3 * shape.numRanks * shape.chunksPerRank) {}

  // Appends the next micro-batch; does nothing if there is none left.
  void add(StageWork work, int chunk) {
    const int microBatch = next(work, chunk)++;
    if (microBatch < numMicroBatches_)
      order_.push_back({work, chunk, microBatch});
  }
  void add(StageWork work, int chunk, int count) {
    for (int i = 0; i < count; ++i)
      add(work, chunk);
  }
  void forward(int chunk) { add(StageWork::Forward, chunk); }
  void backward(int chunk) { add(StageWork::Backward, chunk); }
  void inputGradient(int chunk) { add(StageWork::InputGradient, chunk); }

  // Appends the weight gradients of the input gradient that has waited longest.
  void weightGradient() {
    while (numWeightGradients_ < order_.size()) {
      const ScheduleEntry entry = order_[numWeightGradients_++];
      if (entry.work == StageWork::InputGradient)
        return order_.push_back({StageWork::WeightGradient, entry.chunk, entry.microBatch});
    }
  }
  Order take() && { return std::move(order_); }

private:
  // A backward pass takes the next micro-batch whether it is split or not.
  int &next(StageWork work, int chunk) {
    const int kind = work == StageWork::Forward ? 0 : work == StageWork::WeightGradient ? 1 : 2;
    return next_[3 * chunk + kind];
  }

  int numMicroBatches_;
  std::vector<int> next_;
  size_t numWeightGradients_ = 0; // entries looked at for weightGradient()
  Order order_;
};

} // namespace

Order gpipeOrder(const OrderShape &shape) {
  OrderBuilder builder(shape);
  builder.add(StageWork::Forward, shape.rank, shape.numMicroBatches);
  builder.add(StageWork::Backward, shape.rank, shape.numMicroBatches);
  return std::move(builder).take();
}

Order oneForwardOneBackwardOrder(const OrderShape &shape) {
  OrderBuilder builder(shape);
  builder.add(StageWork::Forward, shape.rank, shape.numRanks - 1 - shape.rank);
  for (int i = 0; i < shape.numMicroBatches; ++i) {
    builder.forward(shape.rank);
    builder.backward(shape.rank);
  }
  return std::move(builder).take();
}

Order interleavedOrder(const OrderShape &shape) {
  const int numGroups = std::max(1, shape.numMicroBatches / shape.numRanks);
  const int chunks = shape.chunksPerRank;
  Order forwards, backwards;
  int largest = 0;
  for (int group = 0; group < numGroups; ++group) {
    const int begin = group * shape.numRanks;
    const int end = group + 1 == numGroups ? shape.numMicroBatches : begin + shape.numRanks;
    largest = std::max(largest, end - begin);
    for (int turn = 0; turn < chunks; ++turn)
      for (int microBatch = begin; microBatch < end; ++microBatch) {
        const int chunk = turn * shape.numRanks + shape.rank;
        const int mirrored = (chunks - 1 - turn) * shape.numRanks + shape.rank;
        forwards.push_back({StageWork::Forward, chunk, microBatch});
        backwards.push_back({StageWork::Backward, mirrored, microBatch});
      }
  }
  const size_t ahead = std::min<size_t>(
      2 * (shape.numRanks - 1 - shape.rank) + (chunks - 1) * largest, forwards.size());
  Order order(forwards.begin(), forwards.begin() + ahead);
  for (size_t i = 0; i < backwards.size(); ++i) {
    if (ahead + i < forwards.size())
      order.push_back(forwards[ahead + i]);
    order.push_back(backwards[i]);
  }
  return order;
}

namespace {

// `ahead` forward passes, then one of each; weight gradients lag `lag` micro-batches behind.
Order zeroBubbleOrder(const OrderShape &shape, int ahead, int lag) {
  OrderBuilder builder(shape);
  builder.add(StageWork::Forward, shape.rank, ahead);
  for (int i = 0; i < shape.numMicroBatches; ++i) {
    builder.forward(shape.rank);
    builder.inputGradient(shape.rank);
    if (i >= lag)
      builder.weightGradient();
  }
  for (int i = 0; i < lag; ++i)
    builder.weightGradient();
  return std::move(builder).take();
}

} // namespace

Order zeroBubbleH1Order(const OrderShape &shape) {
  return zeroBubbleOrder(shape, shape.numRanks - 1 - shape.rank, shape.rank);
}

Order zeroBubbleH2Order(const OrderShape &shape) {
  return zeroBubbleOrder(shape, 2 * (shape.numRanks - 1 - shape.rank), 2 * shape.rank);
}

// The pattern is that of at least 2n - 1 micro-batches; entries of micro-batches that do not exist
// are left out.
Order zeroBubbleVOrder(const OrderShape &shape) {
  const int down = shape.rank, up = 2 * shape.numRanks - 1 - shape.rank;
  const int total = std::max(shape.numMicroBatches, 2 * shape.numRanks - 1);
  OrderBuilder builder(shape);
  int downs = 0, ups = 0; // forward passes so far
  auto forward = [&](int chunk) {
    ++(chunk == down ? downs : ups);
    builder.forward(chunk);
  };
  auto whole = [&](int chunk) {
    builder.inputGradient(chunk);
    builder.add(StageWork::WeightGradient, chunk);
  };
  for (int i = 0; i < 2 * (shape.numRanks - shape.rank) - 1; ++i)
    forward(down);
  for (int i = 0; i < shape.rank; ++i) {
    forward(up);
    forward(down);
  }
  for (int i = 0; i < shape.numRanks - shape.rank; ++i) {
    forward(up);
    whole(up);
  }
  while (ups < downs || downs < total) {
    if (downs < total)
      forward(down);
    whole(down);
    forward(up);
    whole(up);
  }
  for (int i = 0; i < shape.rank; ++i) {
    builder.inputGradient(down);
    builder.inputGradient(up);
  }
  for (int i = 0; i < shape.numRanks - shape.rank; ++i)
    whole(down);
  builder.add(StageWork::WeightGradient, up, shape.rank);
  builder.add(StageWork::WeightGradient, down, shape.rank);
  return std::move(builder).take();
}

namespace {

// The end of dualpipev: the remaining entries, mostly backward passes, of which the later ones are
// split to fill the gaps.
void drainDualPipeV(const OrderShape &shape, OrderBuilder &builder) {
  const int down = shape.rank, up = 2 * shape.numRanks - 1 - shape.rank;
  const int after = shape.numRanks - 1 - shape.rank, before = shape.rank + 1;
  for (int i = 0; i < after; ++i) {
    builder.backward(up);
    builder.forward(up);
    builder.backward(down);
  }
  bool isSplit = false;
  auto backward = [&](int chunk) {
    builder.add(isSplit ? StageWork::InputGradient : StageWork::Backward, chunk);
  };
  for (int i = 0; i < before; ++i) {
    isSplit |= i == before / 2 && shape.rank % 2 == 1;
    backward(up);
    isSplit |= i == before / 2 && shape.rank % 2 == 0;
    backward(down);
  }
  for (int i = 0; i < after; ++i) {
    builder.weightGradient();
    builder.inputGradient(down);
  }
  for (int i = 0; i < before; ++i)
    builder.weightGradient();
}

} // namespace

Order dualPipeVOrder(const OrderShape &shape) {
  const int down = shape.rank, up = 2 * shape.numRanks - 1 - shape.rank;
  const int after = shape.numRanks - 1 - shape.rank, before = shape.rank + 1;
  OrderBuilder builder(shape);
  builder.add(StageWork::Forward, down, 2 * after);
  for (int i = 0; i < before; ++i) {
    builder.forward(down);
    builder.forward(up);
  }
  for (int i = 0; i < after; ++i) {
    builder.inputGradient(up);
    builder.weightGradient();
    builder.forward(up);
  }
  for (int i = 0; i < shape.numMicroBatches - 2 * shape.numRanks + before; ++i) {
    builder.forward(down);
    builder.backward(up);
    builder.forward(up);
    builder.backward(down);
  }
  drainDualPipeV(shape, builder);
  return std::move(builder).take();
}

} // namespace coll::plan
