# What `coll` (tools/coll) links instead of shared libraries: coll_static_libraries, and the
# targets that make some of them, coll_static_dependencies.

include(${CMAKE_SOURCE_DIR}/cmake/static_mlir.cmake)
set(coll_static_libraries ${coll_static_mlir})
set(coll_static_dependencies "")

# Debian has libzip as a shared library only. `./dev build --preset=release` unpacks the source
# of Debian's package where COLL_LIBZIP_SOURCE says.
find_library(COLL_STATIC_zip libzip.a)
set(COLL_LIBZIP_SOURCE ${CMAKE_BINARY_DIR}/libzip-source CACHE PATH "Source of libzip, if there is no libzip.a")
if(COLL_STATIC_zip)
  list(APPEND coll_static_libraries ${COLL_STATIC_zip})
elseif(EXISTS ${COLL_LIBZIP_SOURCE}/CMakeLists.txt)
  include(ExternalProject)
  set(coll_libzip ${CMAKE_BINARY_DIR}/libzip/lib/libzip.a)
  # Deflate alone: what NumPy writes.
  ExternalProject_Add(coll-libzip
    SOURCE_DIR ${COLL_LIBZIP_SOURCE}
    BINARY_DIR ${CMAKE_BINARY_DIR}/libzip
    CMAKE_ARGS -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DENABLE_BZIP2=OFF -DENABLE_LZMA=OFF
               -DENABLE_OPENSSL=OFF -DENABLE_GNUTLS=OFF -DENABLE_MBEDTLS=OFF -DBUILD_TOOLS=OFF
               -DBUILD_REGRESS=OFF -DBUILD_EXAMPLES=OFF -DBUILD_DOC=OFF
    BUILD_BYPRODUCTS ${coll_libzip}
    INSTALL_COMMAND "")
  list(APPEND coll_static_libraries ${coll_libzip})
  list(APPEND coll_static_dependencies coll-libzip)
else()
  message(FATAL_ERROR "COLL_STATIC needs libzip.a, or libzip's source in COLL_LIBZIP_SOURCE "
                      "(${COLL_LIBZIP_SOURCE}); ./dev build --preset=release gets it")
endif()

# The kernels call CUDA's runtime, which is linked in; the driver is opened when a GPU is used.
if(COLL_ENABLE_CUDA)
  list(APPEND coll_static_libraries ${CUDA_cudart_static_LIBRARY} rt)
endif()
