// sanitizers.h - what a build looks for.

#ifndef COLL_TEST_SUPPORT_SANITIZERS_H
#define COLL_TEST_SUPPORT_SANITIZERS_H

namespace coll::test {

// Whether the build finds races. Volumes and types make no difference to them, and take minutes
// there: tests of these do less.
#ifdef __SANITIZE_THREAD__
inline constexpr bool kFindsRaces = true;
#else
inline constexpr bool kFindsRaces = false;
#endif

} // namespace coll::test

#endif // COLL_TEST_SUPPORT_SANITIZERS_H
