#include "runtime/net/gpu/unpack_slots.h"

#include <algorithm>

namespace coll::net {

namespace {

// The kernel reads plain memory, so these are plain words for the host too; the atomic accesses are
// for the compiler and other threads of this process.
void storeRelease(uint64_t &word, uint64_t value) {
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);
}

KernelView viewOf(uint64_t meta, BouncePool &pool) {
  return {meta, pool.device(), pool.stats().limitBytes};
}

} // namespace

bool BlockList::take(BouncePool::Account &account, uint64_t bytes, bool spread) {
  auto wanted =
      static_cast<uint32_t>((bytes + BouncePool::kBlockBytes - 1) / BouncePool::kBlockBytes);
  if (wanted > 0 && !account.take(wanted, numbers.data(), spread))
    return false;
  count = wanted;
  return true;
}

void BlockList::give(BouncePool::Account &account) {
  if (count > 0)
    account.give(count, numbers.data());
  count = 0;
}

Result<std::unique_ptr<UnpackSlots>> UnpackSlots::create(std::shared_ptr<Gpu> gpu,
                                                         BouncePool::Account &account) {
  Result<HandleLife> life = HandleLife::discover(DeviceType::Unpack, rt::kUnpackVersion);
  if (!life.ok())
    return life.status();
  COLL_RETURN_IF_ERROR(life->allocate(Direction::Receive));
  Result<MappedMemory> memory = gpu->takeSlotMemory();
  if (!memory.ok())
    return memory.status();
  rt::UnpackHandle content{reinterpret_cast<rt::UnpackMeta *>(memory->device()),
                           reinterpret_cast<void *>(gpu->bounce().device()), rt::kUnpackHeadStart};
  Result<uint64_t> cell = gpu->makeCell(&content, sizeof(content));
  if (!cell.ok())
    return cell.status();
  std::unique_ptr<UnpackSlots> slots(new UnpackSlots(std::move(gpu), account, life.take()));
  slots->memory_ = memory.take();
  slots->meta_ = reinterpret_cast<rt::UnpackMeta *>(slots->memory_.host());
  slots->cell_ = *cell;
  COLL_RETURN_IF_ERROR(slots->life_.fill({DeviceType::Unpack, rt::kUnpackVersion,
                                          reinterpret_cast<void *>(*cell), sizeof(content),
                                          /*needsProgress=*/true}));
  Result<const DeviceHandle *> handle = slots->life_.map();
  if (!handle.ok())
    return handle.status();
  slots->handle_ = *handle;
  return slots;
}

UnpackSlots::~UnpackSlots() {
  close();
  gpu_->freeCell(cell_);
  gpu_->giveSlotMemory(std::move(memory_));
}

uint32_t UnpackSlots::publish(uint64_t number, const Runs &runs, const PagePolicy &policy,
                              const BlockList &blocks) {
  Slot &slot = slots_[number % rt::kUnpackSlots];
  slot.blocks = blocks;
  slot.runs = runs;
  slot.pages = policy;
  slot.published = true;
  return write(number % rt::kUnpackSlots);
}

bool UnpackSlots::publishAgain(int32_t slot) {
  if (slot < 0 || slot >= static_cast<int32_t>(rt::kUnpackSlots) ||
      !slots_[static_cast<size_t>(slot)].published)
    return false;
  write(static_cast<uint64_t>(slot));
  return true;
}

uint32_t UnpackSlots::write(uint64_t index) {
  const Slot &slot = slots_[index];
  const uint32_t pages = cutRuns(slot.runs, slot.pages, meta_->pages[index]);
  storeRelease(meta_->count[index], pages);
  // Release: everyone who learns from the caller that the message is complete must see data,
  // descriptors and count, including a kernel that learns it through the caller's own flag.
  __sync_synchronize();
  return pages;
}

int32_t UnpackSlots::freeSlot() const {
  auto free =
      std::find_if(slots_.begin(), slots_.end(), [](const Slot &slot) { return !slot.published; });
  return free == slots_.end() ? -1 : static_cast<int32_t>(free - slots_.begin());
}

bool UnpackSlots::consume() {
  if (consumed_ == posted_ || !consume(static_cast<int32_t>(consumed_ % rt::kUnpackSlots)))
    return false;
  ++consumed_;
  return true;
}

bool UnpackSlots::consume(int32_t number) {
  if (number < 0 || number >= static_cast<int32_t>(rt::kUnpackSlots))
    return false;
  Slot &slot = slots_[static_cast<size_t>(number)];
  if (!slot.published)
    return false;
  slot.blocks.give(account_);
  slot.published = false;
  return true;
}

void UnpackSlots::consumeBefore(uint64_t number) {
  while (consumed_ < number && consume()) {
  }
}

void UnpackSlots::close() {
  for (Slot &slot : slots_)
    slot.blocks.give(account_);
  life_.close();
}

KernelView UnpackSlots::view() const { return viewOf(memory_.device(), gpu_->bounce()); }

Result<std::unique_ptr<PackSlots>> PackSlots::create(std::shared_ptr<Gpu> gpu) {
  Result<MappedMemory> memory = gpu->takeSlotMemory();
  if (!memory.ok())
    return memory.status();
  rt::PackHandle content{reinterpret_cast<rt::PackMeta *>(memory->device()),
                         reinterpret_cast<void *>(gpu->bounce().device()), rt::kUnpackHeadStart};
  Result<uint64_t> cell = gpu->makeCell(&content, sizeof(content));
  if (!cell.ok())
    return cell.status();
  std::unique_ptr<PackSlots> slots(new PackSlots(std::move(gpu)));
  slots->memory_ = memory.take();
  slots->meta_ = reinterpret_cast<rt::PackMeta *>(slots->memory_.host());
  slots->cell_ = *cell;
  slots->handle_ = {DeviceType::Unpack, rt::kPackVersion, reinterpret_cast<void *>(*cell),
                    sizeof(content), /*needsProgress=*/true};
  return slots;
}

PackSlots::~PackSlots() {
  gpu_->freeCell(cell_);
  gpu_->giveSlotMemory(std::move(memory_));
}

uint64_t PackSlots::publish(const Runs &runs, const PagePolicy &policy) {
  uint64_t index = posted_ % rt::kUnpackSlots;
  busy_[index] = true;
  storeRelease(meta_->count[index], cutRuns(runs, policy, meta_->pages[index]));
  __sync_synchronize(); // as in UnpackSlots::publish
  return posted_++;
}

bool PackSlots::packed(uint64_t number) const {
  // Acquire: the transport reads the pages after the kernel has set `packed`.
  return __atomic_load_n(&meta_->packed, __ATOMIC_ACQUIRE) > number;
}

int PackSlots::room() const {
  int room = 0;
  while (room < static_cast<int>(rt::kUnpackSlots) &&
         !busy_[(posted_ + static_cast<uint64_t>(room)) % rt::kUnpackSlots])
    ++room;
  return room;
}

void PackSlots::setPacked(uint64_t number) {
  if (!packed(number))
    storeRelease(meta_->packed, number + 1);
}

uint32_t PackSlots::pages(uint64_t number) const {
  return static_cast<uint32_t>(meta_->count[number % rt::kUnpackSlots]);
}

KernelView PackSlots::view() const { return viewOf(memory_.device(), gpu_->bounce()); }

} // namespace coll::net
