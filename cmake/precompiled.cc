// A precompiled header needs a source that it is compiled for (MLIR.cmake).
