# Targets coll::coll (compiler and runtime) and coll::collrt (runtime alone).
include(${CMAKE_CURRENT_LIST_DIR}/collTargets.cmake)
