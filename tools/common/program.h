//===- program.h - standard streams of a program ------------------------*- C++ -*-===//
//
// Ensures that the standard streams are open, and that errors of writing are not lost. Header only,
// since tools without LLVM use it, too.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_TOOLS_COMMON_PROGRAM_H
#define COLL_TOOLS_COMMON_PROGRAM_H

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace coll {

/// Calls the tool. Closed descriptors 0 to 2 become /dev/null first, so that no socket or file
/// takes their numbers and receives what is printed. A file that exceeds the user's limit is an
/// error of that write, and does not end the program. Returns the tool's exit code, or 1 if that is
/// 0 and its output could not be written.
inline int runProgram(int (*tool)(int, char **), int argc, char **argv) {
  for (int fd = 0; fd <= 2; ++fd)
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      (void)open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY); // takes the lowest number: fd
  signal(SIGXFSZ, SIG_IGN);
  const int code = tool(argc, argv);
  const bool failed = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !failed)
    return code;
  std::fprintf(stderr, "%s: cannot write to standard output: %s\n", argv[0], std::strerror(errno));
  return code == 0 ? 1 : code;
}

} // namespace coll

#endif // COLL_TOOLS_COMMON_PROGRAM_H
