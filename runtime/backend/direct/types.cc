#include "runtime/backend/direct/types.h"

#include "runtime/base/dtype.h"

namespace coll::rt::direct {

Status supports(const Call &call) {
  if (!reduces(call.kind))
    return {};
  if (!reductionTakes(call.reduction, call.dtype))
    return {kCollUnsupported, std::string("there is no ") + reductionName(call.reduction) + " of " +
                                  dtypeName(call.dtype)};
  if (call.scale != 1)
    return {kCollUnsupported, "it does not scale contributions"};
  return {};
}

} // namespace coll::rt::direct
