#include "runtime/base/trace.h"

namespace coll::rt {

std::atomic<TraceSink *> detail::traceSink{nullptr};

void setTraceSink(TraceSink *sink) { detail::traceSink.store(sink, std::memory_order_release); }

} // namespace coll::rt
