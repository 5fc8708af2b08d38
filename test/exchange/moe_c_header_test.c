/* moe_c.h is C. */

#include "runtime/exchange/moe/moe_c.h"

int32_t coll_test_moe_version_of_c(void) {
  const CollMoeOrder order = {0, 0, 0};
  return order.compute ? 0 : kCollMoeVersion;
}
