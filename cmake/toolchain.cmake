# How the compiler is called: sanitizers, ccache and mold. Nothing here is needed
# for a correct build; what is missing is left out.

set(COLL_SANITIZE "" CACHE STRING "Sanitizers to build with, e.g. address;undefined or thread")

if(COLL_SANITIZE)
  string(REPLACE ";" "," coll_sanitizers "${COLL_SANITIZE}")
  add_compile_options(-fsanitize=${coll_sanitizers} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${coll_sanitizers})
  # By default clang gives each stack a second one, also those of emulated GPU threads: millions of them.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND "address" IN_LIST COLL_SANITIZE)
    add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize-address-use-after-return=never>)
  endif()
endif()

option(COLL_QUICK_BUILD "Optimise compiler, tests and GPU kernels little: quicker builds for development" OFF)

find_program(COLL_CCACHE ccache)
if(COLL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${COLL_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${COLL_CCACHE})
endif()

# CMAKE_LINKER_TYPE needs CMake 3.29.
find_program(COLL_MOLD mold)
if(COLL_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# GCC 12 takes every std::optional for uninitialised once it has inlined enough.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
endif()

# All code may go into a shared object, and precompiled headers serve all of it (precompiled.cmake).
add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fPIC>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>) # for ccache
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # A precompiled header that ccache brings back is older than the headers of a fresh clone.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
