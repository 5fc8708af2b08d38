// Each call of run() has one scheduler: its fibers take turns on the calling thread, each on its
// own stack.

#include "test/support/emulation/simt_host.h"

#include "test/support/emulation/simt_stack.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace coll::kernels::simt {
namespace {

constexpr uint8_t kJunk = 0xDB;
constexpr uint64_t kPausesPerNap = 64;
constexpr std::chrono::microseconds kNap(50);

// A place where threads meet. The generation alternates, so that the next meeting does not
// overwrite the values of this one: it cannot finish before all threads have read them.
struct Meeting {
  uint32_t members = 0; // that have not ended
  uint32_t arrived = 0;
  uint64_t generation = 0;

  void passIfFull() {
    if (members > 0 && arrived == members) {
      arrived = 0;
      ++generation;
    }
  }
};

struct Warp {
  Meeting meeting;
  std::array<std::array<uint64_t, kWarpThreads>, 2> values{};
  std::array<std::array<uint32_t, kWarpThreads * kMostWords>, 2> words{};
};

struct Copy {
  char *to;
  const char *from;
  uint32_t bytes;
  Barrier *barrier; // of a load
};

struct Block {
  explicit Block(size_t sharedBytes)
      : sharedMemory(
            static_cast<char *>(std::aligned_alloc(128, (sharedBytes + 128) / 128 * 128))) {
    std::memset(sharedMemory.get(), kJunk, sharedBytes);
  }
  struct Free {
    void operator()(char *memory) const { std::free(memory); }
  };
  std::unique_ptr<char, Free> sharedMemory;
  Meeting meeting;
  std::vector<Copy> loads;
  std::array<bool, 2> any{}; // of syncBlockAny, by generation
};

struct Scheduler;

struct Stream {
  size_t ended = 0;            // grids
  size_t running = 0;          // threads of the grid that runs
  std::vector<size_t> threads; // of each grid
};

struct Fiber {
  Scheduler *scheduler = nullptr;
  const Grid *grid = nullptr;
  Block *block = nullptr;
  Warp *warp = nullptr;
  uint32_t blockIndex = 0, threadIndex = 0;
  bool ended = false;
  uint32_t late = 0; // turns to let pass at the start
  // The grid begins when so many of its stream have ended.
  size_t place = 0;
  Stream *stream = nullptr;
  // The fiber sleeps while *waitFor == waitValue.
  const uint64_t *waitFor = nullptr;
  uint64_t waitValue = 0;
  std::vector<Copy> uncommitted;
  std::deque<std::vector<Copy>> groups;
  std::vector<Copy> uncommittedLoads; // of copyAsync
  std::deque<std::vector<Copy>> loadGroups;
  Stack *stack = nullptr;

  bool asleep() const {
    return ended || place > stream->ended || (waitFor && *waitFor == waitValue);
  }
};

thread_local Fiber *self = nullptr;

struct Scheduler {
  Scheduler(const std::vector<std::vector<Grid>> &streams, uint64_t seed);
  ~Scheduler();
  void loop();
  // Creates the threads of a grid, from fiber `first` on, with their blocks and warps.
  void populate(const Grid &grid, size_t first, size_t place, Stream &stream);
  // Returns the next fiber after `from` that is awake; if there is none, the process ends.
  Fiber *next(const Fiber *from);

  const bool preempts;
  std::minstd_rand random;
  std::vector<Stream> streams;
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<Fiber> fibers;
  size_t running = 0; // fibers that have not ended
  uint64_t pauses = 0;
  std::vector<Stack *> stacks;
  Stack mainStack;
  Fiber main; // the thread that called run()
};

void switchTo(Fiber *to) {
  Fiber *from = self;
  self = to;
  switchStack(*from->stack, *to->stack);
}

void yield() {
  Fiber *to = self->scheduler->next(self);
  if (to != self)
    switchTo(to);
}

void sleepWhile(const uint64_t &word, uint64_t value) {
  self->waitFor = &word;
  self->waitValue = value;
  while (word == value)
    yield();
  self->waitFor = nullptr;
}

// Returns the generation in which the threads met.
uint64_t meet(Meeting &meeting) {
  const uint64_t generation = meeting.generation;
  ++meeting.arrived;
  meeting.passIfFull();
  if (meeting.generation == generation)
    sleepWhile(meeting.generation, generation);
  return generation;
}

void leave(Meeting &meeting) {
  --meeting.members;
  meeting.passIfFull();
}

// Not inlined: during a switch between fibers the stack may move to another host thread, with
// another `self`.
[[gnu::noinline]] void runFiber() {
  Fiber *fiber = self;
  for (; fiber->late > 0; --fiber->late)
    yield();
  fiber->grid->kernel(fiber->block->sharedMemory.get());
  if (!fiber->uncommitted.empty() || !fiber->groups.empty())
    bug("a thread ended before its bulk stores");
  leave(fiber->warp->meeting);
  leave(fiber->block->meeting);
  fiber->ended = true;
  if (--fiber->stream->running == 0) {
    ++fiber->stream->ended;
    const Stream &stream = *fiber->stream;
    fiber->stream->running =
        stream.ended < stream.threads.size() ? stream.threads[stream.ended] : 0;
  }
  Scheduler &scheduler = *fiber->scheduler;
  switchTo(--scheduler.running == 0 ? &scheduler.main : scheduler.next(fiber));
}

// The start of a stack. It gets no argument, so `self` is the fiber.
void fiberMain() {
  beginStack();
  for (;;)
    runFiber();
}

size_t threadsOf(const Grid &grid) { return size_t{grid.shape.blocks} * grid.shape.threads; }

size_t threadsOf(const std::vector<std::vector<Grid>> &streams) {
  size_t threads = 0;
  for (const std::vector<Grid> &grids : streams)
    for (const Grid &grid : grids)
      threads += threadsOf(grid);
  return threads;
}

Scheduler::Scheduler(const std::vector<std::vector<Grid>> &work, uint64_t seed)
    : preempts(seed != 0), random(static_cast<std::minstd_rand::result_type>(seed)),
      streams(work.size()), fibers(threadsOf(work)), stacks(takeStacks(fibers.size(), fiberMain)) {
  main.stack = &mainStack;
  size_t first = 0;
  for (size_t s = 0; s < work.size(); ++s) {
    for (size_t place = 0; place < work[s].size(); ++place) {
      populate(work[s][place], first, place, streams[s]);
      first += threadsOf(work[s][place]);
    }
    for (const Grid &grid : work[s])
      streams[s].threads.push_back(threadsOf(grid));
    streams[s].running = work[s].empty() ? 0 : threadsOf(work[s][0]);
  }
  running = fibers.size();
}

void Scheduler::populate(const Grid &grid, size_t first, size_t place, Stream &stream) {
  const uint32_t late = preempts ? random() % 64 : 0;
  for (uint32_t i = 0; i < threadsOf(grid); ++i) {
    Fiber &fiber = fibers[first + i];
    fiber.scheduler = this;
    fiber.grid = &grid;
    fiber.place = place;
    fiber.stream = &stream;
    fiber.late = late;
    fiber.blockIndex = i / grid.shape.threads;
    fiber.threadIndex = i % grid.shape.threads;
    if (fiber.threadIndex == 0)
      blocks.push_back(std::make_unique<Block>(grid.shape.sharedBytes));
    if (fiber.threadIndex % kWarpThreads == 0)
      warps.push_back(std::make_unique<Warp>());
    fiber.block = blocks.back().get();
    fiber.warp = warps.back().get();
    ++fiber.block->meeting.members;
    ++fiber.warp->meeting.members;
    fiber.stack = stacks[first + i];
  }
}

Scheduler::~Scheduler() { giveStacks(stacks); }

void Scheduler::loop() {
  describeThread(mainStack);
  self = &main;
  switchTo(&fibers[0]);
  self = nullptr;
}

Fiber *Scheduler::next(const Fiber *from) {
  const size_t count = fibers.size();
  size_t at = static_cast<size_t>(from - fibers.data());
  for (size_t i = 0; i < count; ++i) {
    at = at + 1 == count ? 0 : at + 1;
    if (!fibers[at].asleep())
      return &fibers[at];
  }
  bug("deadlock: every thread waits for another one (a sync or a shuffle that not all reach)");
}

// A Barrier's 8 bytes.
struct BarrierState {
  int32_t missing; // bytes
  uint8_t magic;
  uint8_t arrivals; // of a phase
  uint8_t pending;  // of this phase
  uint8_t phase;
};
static_assert(sizeof(BarrierState) == sizeof(Barrier));
constexpr uint8_t kMagic = 0xBA;

BarrierState get(const Barrier *barrier) {
  BarrierState state;
  std::memcpy(&state, barrier, sizeof state);
  if (state.magic != kMagic)
    bug("a barrier that was not initialised");
  return state;
}

void put(Barrier *barrier, BarrierState state) {
  if (state.pending == 0 && state.missing == 0) {
    state.pending = state.arrivals;
    state.phase ^= 1;
  }
  std::memcpy(barrier, &state, sizeof state);
}

void checkBulk(const void *a, const void *b, uint32_t bytes) {
  if ((reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) | bytes) % 16)
    bug("a bulk copy that is not aligned to 16 bytes");
}

} // namespace

void run(const LaunchShape &shape, const std::function<void(char *shared)> &kernel) {
  runBeside({{{shape, kernel}}}, 0);
}

void runBeside(const std::vector<std::vector<Grid>> &streams, uint64_t seed) {
  for (const std::vector<Grid> &grids : streams)
    for (const Grid &grid : grids)
      if (grid.shape.threads == 0 || grid.shape.threads % kWarpThreads || grid.shape.blocks == 0)
        bug("threads of a block have to be a multiple of 32, and blocks at least 1");
  if (threadsOf(streams) > 0)
    Scheduler(streams, seed).loop();
}

uint32_t threadIndex() { return self->threadIndex; }
uint32_t blockIndex() { return self->blockIndex; }
uint32_t blockThreads() { return self->grid->shape.threads; }
uint32_t gridBlocks() { return self->grid->shape.blocks; }

void syncWarp() { meet(self->warp->meeting); }
void syncBlock() { meet(self->block->meeting); }

bool syncBlockAny(bool says) {
  Block &block = *self->block;
  bool &any = block.any[block.meeting.generation % 2];
  // The first thread to arrive resets the value; all threads have left the last meeting but one.
  any = says || (any && block.meeting.arrived > 0);
  return block.any[meet(block.meeting) % 2];
}

void preempt() {
  // Host threads call these accesses, too.
  if (self && self->scheduler->preempts && self->scheduler->random() % 16 == 0)
    yield();
}

uint64_t shuffle(uint64_t value, uint32_t from) {
  Warp &warp = *self->warp;
  warp.values[warp.meeting.generation % 2][lane()] = value;
  return warp.values[meet(warp.meeting) % 2][from % kWarpThreads];
}

const uint32_t *gather(const uint32_t *words, uint32_t count) {
  Warp &warp = *self->warp;
  std::copy_n(words, count, warp.words[warp.meeting.generation % 2].begin() + lane() * kMostWords);
  return warp.words[meet(warp.meeting) % 2].data();
}

uint32_t ballot(bool vote) {
  Warp &warp = *self->warp;
  warp.values[warp.meeting.generation % 2][lane()] = vote;
  const auto &votes = warp.values[meet(warp.meeting) % 2];
  uint32_t bits = 0;
  for (uint32_t i = 0; i < kWarpThreads; ++i)
    bits |= static_cast<uint32_t>(votes[i] != 0) << i;
  return bits;
}

uint32_t sum(uint32_t value) {
  Warp &warp = *self->warp;
  warp.values[warp.meeting.generation % 2][lane()] = value;
  const auto &values = warp.values[meet(warp.meeting) % 2];
  return static_cast<uint32_t>(std::accumulate(values.begin(), values.end(), uint64_t{0}));
}

void pause() {
  // The host thread that this one waits for may need the core, and would get it late if threads
  // only yielded.
  if (lane() == 0) {
    if (++self->scheduler->pauses % kPausesPerNap == 0)
      std::this_thread::sleep_for(kNap);
    else
      std::this_thread::yield();
  }
  yield();
}

uint64_t clockNs() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                               std::chrono::nanoseconds(1));
}

void barrierInit(Barrier *barrier, uint32_t arrivals) {
  if (arrivals == 0 || arrivals > UINT8_MAX)
    bug("a barrier of no arrivals, or of more than 255");
  const uint8_t count = static_cast<uint8_t>(arrivals);
  const BarrierState fresh{0, kMagic, count, count, 0};
  std::memcpy(barrier, &fresh, sizeof fresh);
}

void barrierInvalidate(Barrier *barrier) {
  get(barrier);
  std::memset(barrier, kJunk, sizeof *barrier);
}

void barrierExpect(Barrier *barrier, uint32_t bytes) {
  BarrierState state = get(barrier);
  if (state.pending == 0)
    bug("a barrier at which more arrive than it was made for");
  --state.pending;
  state.missing += static_cast<int32_t>(bytes);
  put(barrier, state);
}

void barrierArrive(Barrier *barrier) { barrierExpect(barrier, 0); }

void barrierWait(Barrier *barrier, uint32_t parity) {
  std::vector<Copy> &loads = self->block->loads;
  for (size_t i = 0; i < loads.size();) {
    if (loads[i].barrier != barrier) {
      ++i;
      continue;
    }
    std::memcpy(loads[i].to, loads[i].from, loads[i].bytes);
    BarrierState state = get(barrier);
    state.missing -= static_cast<int32_t>(loads[i].bytes);
    put(barrier, state);
    loads.erase(loads.begin() + static_cast<ptrdiff_t>(i));
  }
  while (get(barrier).phase == parity)
    sleepWhile(*barrier, *barrier);
}

void bulkLoad(void *shared, const void *global, uint32_t bytes, Barrier *barrier) {
  checkBulk(shared, global, bytes);
  std::memset(shared, kJunk, bytes);
  self->block->loads.push_back(
      {static_cast<char *>(shared), static_cast<const char *>(global), bytes, barrier});
}

void bulkStore(void *global, const void *shared, uint32_t bytes) {
  checkBulk(global, shared, bytes);
  self->uncommitted.push_back(
      {static_cast<char *>(global), static_cast<const char *>(shared), bytes, nullptr});
}

void bulkCommit() {
  self->groups.push_back(std::move(self->uncommitted));
  self->uncommitted.clear();
}

void bulkWaitUntil(size_t pending) {
  for (; self->groups.size() > pending; self->groups.pop_front())
    for (const Copy &copy : self->groups.front())
      std::memcpy(copy.to, copy.from, copy.bytes);
}

void copyAsync(void *shared, const void *global, uint32_t bytes, bool isThere) {
  if ((reinterpret_cast<uintptr_t>(shared) | reinterpret_cast<uintptr_t>(global)) % bytes)
    bug("an asynchronous copy that is not aligned to its size");
  std::memset(shared, kJunk, bytes);
  self->uncommittedLoads.push_back({static_cast<char *>(shared),
                                    isThere ? static_cast<const char *>(global) : nullptr, bytes,
                                    nullptr});
}

void commitCopies() {
  self->loadGroups.push_back(std::move(self->uncommittedLoads));
  self->uncommittedLoads.clear();
}

void waitCopiesUntil(size_t pending) {
  for (; self->loadGroups.size() > pending; self->loadGroups.pop_front())
    for (const Copy &copy : self->loadGroups.front())
      if (copy.from)
        std::memcpy(copy.to, copy.from, copy.bytes);
      else
        std::memset(copy.to, 0, copy.bytes);
}

} // namespace coll::kernels::simt
