#include "runtime/exchange/tensor/handle.h"

#include "runtime/base/dtype.h"
#include "runtime/exchange/tensor/wire.h"
#include "runtime/net/wire.h"

#include <cstring>

namespace coll::rt::exchange {

namespace {

constexpr char kMagic[8] = "CTensor";
constexpr size_t kMostName = 200;
constexpr size_t kMostBytes = 4096;

class Writer {
public:
  template <typename Number>
  void number(Number value) {
    uint8_t raw[sizeof(Number)];
    net::wire::Encoder(raw).put(value);
    bytes_.append(reinterpret_cast<const char *>(raw), sizeof(raw));
  }
  void text(std::string_view value) {
    number(static_cast<uint32_t>(value.size()));
    bytes_ += value;
  }
  std::string &bytes() { return bytes_; }

private:
  std::string bytes_;
};

// After the first missing field, everything is 0.
class Reader {
public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  template <typename Number>
  Number number() {
    const std::string_view part = take(sizeof(Number));
    if (part.empty())
      return 0;
    return net::wire::Decoder(reinterpret_cast<const uint8_t *>(part.data())).get<Number>();
  }
  std::string text() {
    const auto length = number<uint32_t>();
    if (length > kMostName)
      ok_ = false;
    return std::string(take(ok_ ? length : 0));
  }
  std::string_view take(size_t bytes) {
    if (!ok_ || bytes > rest_.size()) {
      ok_ = false;
      return {};
    }
    std::string_view part = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return part;
  }
  bool isComplete() const { return ok_ && rest_.empty(); }

private:
  std::string_view rest_;
  bool ok_ = true;
};

Status damaged() { return Status::invalid("the bytes of the tensor handle are damaged"); }

} // namespace

std::string TensorHandle::serialize() const {
  Writer fields;
  fields.text(owner);
  fields.number(static_cast<uint32_t>(dtype));
  fields.number(static_cast<uint32_t>(shape.size()));
  for (size_t d = 0; d < shape.size(); ++d) {
    fields.number(shape[d]);
    fields.number(strides[d]);
  }
  fields.text(socket);
  fields.number(id);
  fields.number(key);
  fields.text(transport);
  fields.text({reinterpret_cast<const char *>(listener.bytes.data()), listener.bytes.size()});
  fields.number(memory.key);
  fields.number(memory.address);
  fields.number(memory.bytes);
  Writer all;
  all.bytes().assign(kMagic, sizeof(kMagic));
  all.number(kTensorHandleVersion);
  all.number(static_cast<uint32_t>(sizeof(kMagic) + 8 + fields.bytes().size() + 8));
  all.bytes() += fields.bytes();
  all.number(sumOf(all.bytes()));
  return all.bytes();
}

Result<TensorHandle> TensorHandle::parse(std::string_view bytes) {
  constexpr size_t kHead = sizeof(kMagic) + 8;
  if (bytes.size() < kHead || std::memcmp(bytes.data(), kMagic, sizeof(kMagic)) != 0)
    return Status::invalid("these " + std::to_string(bytes.size()) +
                           " bytes are not a tensor handle");
  Reader head(bytes.substr(sizeof(kMagic), 8));
  const auto version = head.number<uint32_t>(), length = head.number<uint32_t>();
  if (version != kTensorHandleVersion)
    return Status::invalid("the tensor handle has version " + std::to_string(version) +
                           ", this library reads version " + std::to_string(kTensorHandleVersion));
  if (length != bytes.size() || length > kMostBytes || length < kHead + 8)
    return Status::invalid("a tensor handle of " + std::to_string(length) + " bytes arrived as " +
                           std::to_string(bytes.size()));
  const std::string_view body = bytes.substr(0, bytes.size() - 8);
  if (Reader(bytes.substr(body.size())).number<uint64_t>() != sumOf(body))
    return damaged();

  TensorHandle handle;
  Reader fields(body.substr(kHead));
  handle.owner = fields.text();
  const auto dtype = fields.number<uint32_t>(), dims = fields.number<uint32_t>();
  if (dims > kMaxReshardDims || dtype >= static_cast<uint32_t>(kNumDtypes))
    return damaged();
  handle.dtype = static_cast<CollDtype>(dtype);
  for (uint32_t d = 0; d < dims; ++d) {
    handle.shape.push_back(fields.number<int64_t>());
    handle.strides.push_back(fields.number<int64_t>());
  }
  handle.socket = fields.text();
  handle.id = fields.number<uint64_t>();
  handle.key = fields.number<uint64_t>();
  handle.transport = fields.text();
  const std::string listener = fields.text();
  handle.memory.key = fields.number<uint64_t>();
  handle.memory.address = fields.number<uint64_t>();
  handle.memory.bytes = fields.number<uint64_t>();
  if (!fields.isComplete() || listener.size() != handle.listener.bytes.size())
    return damaged();
  std::memcpy(handle.listener.bytes.data(), listener.data(), listener.size());
  TensorView view;
  view.dtype = handle.dtype;
  view.shape = handle.shape;
  view.strides = handle.strides;
  view.data = &view; // only for the check that there is data
  Result<CheckedView> checked = checkView(view, /*written=*/false);
  if (!checked)
    return checked.status().annotate("the tensor handle of \"" + handle.owner + "\"");
  return handle;
}

int64_t TensorHandle::span() const {
  TensorView view{dtype, shape, strides, const_cast<TensorHandle *>(this), nullptr};
  Result<CheckedView> checked = checkView(view, /*written=*/false);
  return checked ? checked->span : 0;
}

Result<CheckedView> checkView(const TensorView &view, bool written) {
  // The planner checks the layout: a reshard of the view to itself.
  ReshardSpec spec;
  spec.dtype = view.dtype;
  spec.shape = view.shape;
  Shard shard;
  shard.region = {std::vector<int64_t>(view.shape.size(), 0), view.shape};
  shard.strides = view.strides;
  spec.senders = {shard};
  if (!written)
    shard.strides.clear();
  spec.receivers = {shard};
  Result<ReshardPlan> plan = planReshard(spec);
  if (!plan)
    return plan.status();
  CheckedView checked{view, plan->senderBytes[0]};
  if (!view.data && checked.span > 0)
    return Status::invalid("the tensor has no memory");
  if (view.strides.empty()) {
    checked.view.strides.assign(view.shape.size(), 1);
    for (size_t d = view.shape.size(); d-- > 1;)
      checked.view.strides[d - 1] = checked.view.strides[d] * std::max<int64_t>(1, view.shape[d]);
  }
  return checked;
}

} // namespace coll::rt::exchange
