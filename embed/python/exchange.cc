//===- exchange.cc - tensors of other processes, and reshards, for Python -------===//

#include "embed/c/coll_exchange.h"
#include "embed/python/convert.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace coll::python {
namespace {

using Text = std::optional<std::string>;
using Numbers = std::vector<int64_t>;

/// `name` is used by owners only; the texts outlive the struct.
coll_exchange_options optionsOf(const Text &name, const Text &transport, const Text &interface,
                                const Text &secret, int64_t timeoutUs) {
  coll_exchange_options options = COLL_INIT(coll_exchange_options);
  options.name = textOrNull(name);
  options.transport = textOrNull(transport);
  options.interface = textOrNull(interface);
  options.secret = textOrNull(secret);
  options.timeout_us = timeoutUs;
  return options;
}

class Owner : public Handle<coll_owner, coll_owner_free> {
public:
  Owner(Text name, Text transport, Text interface, Text secret, int64_t timeoutUs) {
    const coll_exchange_options options = optionsOf(name, transport, interface, secret, timeoutUs);
    check(coll_owner_create(&options, slot()));
  }

  Output allocate(const Numbers &shape, int32_t dtype) {
    Tensor tensor;
    check(coll_owner_allocate(get(), dtype, int32_t(shape.size()), shape.data(), tensor.slot()));
    return toOutput(std::move(tensor));
  }
  nb::bytes publish(const Input &array) {
    std::vector<Tensor> tensors = wrap({array});
    std::string handle(COLL_EXCHANGE_HANDLE_BYTES, 0);
    size_t bytes = 0;
    check(coll_owner_publish(get(), tensors[0].get(), handle.data(), handle.size(), &bytes));
    return nb::bytes(handle.data(), bytes);
  }
  void withdraw(nb::bytes handle) {
    const void *data = handle.c_str();
    const size_t bytes = handle.size();
    nb::gil_scoped_release release;
    check(coll_owner_withdraw(get(), data, bytes));
  }
};

class Remote : public Handle<coll_remote, coll_remote_free> {
public:
  Remote(nb::bytes handle, Text transport, Text interface, Text secret, int64_t timeoutUs) {
    const coll_exchange_options options =
        optionsOf(std::nullopt, transport, interface, secret, timeoutUs);
    check(coll_remote_open(&options, handle.c_str(), handle.size(), slot()));
  }

  std::pair<Numbers, int32_t> describe() const {
    coll_tensor_view view = COLL_INIT(coll_tensor_view);
    check(coll_remote_describe(get(), &view));
    return {Numbers(view.shape, view.shape + view.num_dims), view.dtype};
  }
  /// The Python side makes sure that there are as many numbers as dimensions.
  Output read(const Numbers &begin, const Numbers &extent) {
    Tensor tensor;
    {
      nb::gil_scoped_release release;
      check(coll_remote_read(get(), begin.data(), extent.data(), tensor.slot()));
    }
    return toOutput(std::move(tensor));
  }
  void write(const Input &array, const Numbers &begin) {
    std::vector<Tensor> tensors = wrap({array});
    nb::gil_scoped_release release;
    check(coll_remote_write(get(), begin.data(), tensors[0].get()));
  }
};

class Reshard : public Handle<coll_reshard, coll_reshard_free> {
public:
  Reshard(const Numbers &shape, int32_t dtype, const std::pair<std::string, std::string> &source,
          const std::pair<std::string, std::string> &target) {
    const coll_placement from = placementOf(source), to = placementOf(target);
    check(coll_reshard_plan(dtype, int32_t(shape.size()), shape.data(), &from, &to, slot()));
  }

  nb::dict describe() const {
    const coll_reshard_info info = infoOf();
    nb::dict dict;
    dict["num_sources"] = info.num_sources;
    dict["num_targets"] = info.num_targets;
    dict["num_transfers"] = info.num_transfers;
    dict["bytes"] = info.bytes;
    dict["least_bytes"] = info.least_bytes;
    return dict;
  }
  std::vector<Output> run(const std::vector<Input> &blocks) {
    std::vector<Tensor> sources = wrap(blocks);
    const std::vector<coll_tensor> handles = handlesOf(sources);
    std::vector<coll_tensor> targets(infoOf().num_targets);
    {
      nb::gil_scoped_release release;
      check(
          coll_reshard_run(get(), handles.data(), handles.size(), targets.data(), targets.size()));
    }
    std::vector<Output> outputs;
    for (coll_tensor target : targets)
      outputs.push_back(toOutput(Tensor(target)));
    return outputs;
  }

private:
  static coll_placement placementOf(const std::pair<std::string, std::string> &texts) {
    coll_placement placement = COLL_INIT(coll_placement);
    placement.mesh = texts.first.c_str();
    placement.sharding = texts.second.c_str();
    return placement;
  }
  coll_reshard_info infoOf() const {
    coll_reshard_info info = COLL_INIT(coll_reshard_info);
    check(coll_reshard_describe(get(), &info));
    return info;
  }
};

} // namespace

void bindExchange(nb::module_ &module) {
  nb::class_<Owner>(module, "Owner")
      .def(nb::init<Text, Text, Text, Text, int64_t>(), "name"_a.none(), "transport"_a.none(),
           "interface"_a.none(), "secret"_a.none(), "timeout_us"_a)
      .def("allocate", &Owner::allocate, "shape"_a, "dtype"_a)
      .def("publish", &Owner::publish, "array"_a)
      .def("withdraw", &Owner::withdraw, "handle"_a);
  nb::class_<Remote>(module, "Remote")
      .def(nb::init<nb::bytes, Text, Text, Text, int64_t>(), "handle"_a, "transport"_a.none(),
           "interface"_a.none(), "secret"_a.none(), "timeout_us"_a)
      .def("describe", &Remote::describe)
      .def("read", &Remote::read, "begin"_a, "extent"_a)
      .def("write", &Remote::write, "array"_a, "begin"_a);
  nb::class_<Reshard>(module, "Reshard")
      .def(nb::init<Numbers, int32_t, std::pair<std::string, std::string>,
                    std::pair<std::string, std::string>>(),
           "shape"_a, "dtype"_a, "source"_a, "target"_a)
      .def("describe", &Reshard::describe)
      .def("run", &Reshard::run, "blocks"_a);
}

} // namespace coll::python
