#include "test/conformance/harness.h"

COLL_CONFORMANCE(threads);
