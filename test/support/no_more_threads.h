// no_more_threads.h - a process that cannot start threads, even as root and under sanitizers.

#ifndef COLL_TEST_SUPPORT_NO_MORE_THREADS_H
#define COLL_TEST_SUPPORT_NO_MORE_THREADS_H

#include <gtest/gtest.h>
#include <pthread.h>

namespace coll {

// While an object lives, threads ask for a stack that is larger than the address space.
class NoMoreThreads {
public:
  NoMoreThreads() {
    EXPECT_EQ(pthread_getattr_default_np(&before_), 0);
    pthread_attr_t huge;
    EXPECT_EQ(pthread_attr_init(&huge), 0);
    EXPECT_EQ(pthread_attr_setstacksize(&huge, size_t{1} << 47), 0);
    EXPECT_EQ(pthread_setattr_default_np(&huge), 0);
    pthread_attr_destroy(&huge);
  }
  ~NoMoreThreads() {
    EXPECT_EQ(pthread_setattr_default_np(&before_), 0);
    pthread_attr_destroy(&before_);
  }
  NoMoreThreads(const NoMoreThreads &) = delete;
  NoMoreThreads &operator=(const NoMoreThreads &) = delete;

private:
  pthread_attr_t before_;
};

// Expects a status of startThread() that failed, with that purpose.
#define COLL_EXPECT_NO_THREAD(status, purpose)                                                     \
  do {                                                                                             \
    const ::coll::rt::Status collStatus_ = (status);                                               \
    EXPECT_EQ(collStatus_.code(), kCollDevice) << collStatus_.toString();                          \
    EXPECT_NE(collStatus_.message().find("cannot start a thread for " purpose), std::string::npos) \
        << collStatus_.toString();                                                                 \
  } while (false)

} // namespace coll

#endif // COLL_TEST_SUPPORT_NO_MORE_THREADS_H
