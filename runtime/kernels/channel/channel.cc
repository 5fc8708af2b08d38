#include "runtime/kernels/channel/channel.h"

#include <string>

namespace coll::kernels {

using rt::Status;

Status checkChannel(const rt::ChannelLaunch &launch) {
  if (!launch.shared || !launch.state)
    return Status::invalid("a channel without memory");
  uint32_t queues = launch.numQueues, blocks = launch.blocksPerQueue;
  if (queues == 0 || queues > rt::kChannelMaxQueues || blocks == 0 ||
      blocks > rt::kChannelMaxBlocks || queues * blocks > rt::kChannelMaxBlocks)
    return Status::invalid("a channel of " + std::to_string(queues) + " queues with " +
                           std::to_string(blocks) + " blocks each; " +
                           std::to_string(rt::kChannelMaxBlocks) + " blocks at most");
  if (launch.number == 0 || launch.idleTimeoutNs == 0)
    return Status::invalid("a channel launch without number or timeout");
  return Status::okay();
}

} // namespace coll::kernels
