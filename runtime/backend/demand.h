// demand.h - why backend auto needs a backend.

#ifndef COLL_RUNTIME_BACKEND_DEMAND_H
#define COLL_RUNTIME_BACKEND_DEMAND_H

#include <cstdint>

namespace coll::rt {

// Whether routes lead to a backend, and whether these are the defaults or a user's table.
enum class Demand : int32_t { None, ByDefault, ByTable };

} // namespace coll::rt

#endif // COLL_RUNTIME_BACKEND_DEMAND_H
