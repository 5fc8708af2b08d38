// vocabulary.h - the names in coll's traces: levels (categories of slices) and keys of annotations.
// coll-trace reads them; the READMEs below runtime/profiler/ say what each level means.

#ifndef COLL_RUNTIME_PROFILER_PERFETTO_VOCABULARY_H
#define COLL_RUNTIME_PROFILER_PERFETTO_VOCABULARY_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace coll::profiler::perfetto {

// From the program down to the network. The category of a slice is its level's name.
enum class Level : uint8_t {
  Step,         // one step of the program on one rank
  Compute,      // a compute kernel
  Wait,         // the host waits for an operation
  GroupApi,     // the outermost group call of the application
  CollApi,      // a collective call of the application
  P2pApi,       // a send or receive call of the application
  KernelLaunch, // the host launches a kernel; under graph capture, records it
  Group,        // operations that are launched together
  Coll,         // a collective, from its enqueueing until its completion
  P2p,          // a send or a receive, likewise
  ProxyOp,      // one channel's transfer between this rank and a peer
  ProxyStep,    // one chunk of a ProxyOp
  ProxyCtrl,    // the state of the progress thread
  Net,          // one message, or part of one, in the network
  KernelCh,     // a channel of a kernel on the GPU
  KernelPhase,  // a phase of a kernel channel
  CeColl,       // a collective by the copy engine
  CeSync,
  CeBatch,
  Note, // facts about the trace itself: drops, clocks, corrections
};
inline constexpr int kLevels = static_cast<int>(Level::Note) + 1;

// A key's number in the trace is its position in this enum, so new keys are added at the end.
enum class Key : uint8_t {
  Rank, // of the communicator
  Comm, // identity of the communicator, the same on all ranks
  CommName,
  Ranks, // size of the communicator
  Nodes,
  Seq,  // number of the collective in its communicator, from 0
  Func, // AllReduce, Send, …
  Datatype,
  Count, // elements
  Bytes,
  Root,
  Peer,
  Algorithm,
  Protocol,
  Channels,
  Channel,
  Op,       // index in the compiled program's table of operations
  Reason,   // why the compiler inserted the operation
  Location, // its line of Python
  UserTag,
  Step, // number of a proxy step, or of the program's step
  Steps,
  ChunkBytes,
  Direction,  // send, recv
  EnqueuedNs, // when the collective had been enqueued
  Completion, // how the end is known: kernel, proxy, enqueued (it is not known), reported
  GpuWaitNs,  // time of a proxy step, or of all of them, in each state
  PeerWaitNs,
  TransferNs,
  FlushNs,
  GpuStartNs, // raw stamps of the GPU's globaltimer
  GpuEndNs,
  ClockErrorNs, // the possible error of the stamps
  Flag,         // what is wrong with the event
  Pid,
  Host,
  GraphCaptured,
  GroupDepth,
  Dropped,
  Transport,
  Device,
  Connection,
  Message,
  Variant,
  Phase,
  State,
  Version,
  ClockOffsetNs,
  Parent, // the event that contains this one, if it is on another track
  ChakraNode,
  Id,
  ProxyDelayNs, // time until the progress thread noticed that the network had begun
};
inline constexpr int kKeys = static_cast<int>(Key::ProxyDelayNs) + 1;

std::string_view levelName(Level level);
std::string_view keyName(Key key);
std::optional<Level> levelOf(std::string_view name);
std::optional<Key> keyOf(std::string_view name);

} // namespace coll::profiler::perfetto

#endif // COLL_RUNTIME_PROFILER_PERFETTO_VOCABULARY_H
