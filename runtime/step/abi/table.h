/* table.h - the table that a compiled step in a shared object exports.
 *
 *   const CollStepTable coll_step_table;
 *
 * Written by coll-compile, read by runtime/program/step_library. Fields are only ever added at the
 * end, with a new version.
 */

#ifndef COLL_RUNTIME_STEP_ABI_TABLE_H
#define COLL_RUNTIME_STEP_ABI_TABLE_H

#include "runtime/step/abi/abi.h"

#define COLL_STEP_TABLE_SYMBOL "coll_step_table"

enum { kCollStepMagic = 0x4c4c4f43, /* "COLL" */ kCollStepVersion = 2 };

/* One class of ranks. */
typedef struct CollStepClass {
  const char *descriptor; /* JSON, NUL-terminated; see program.h */
  CollEntry step;
  CollEntry init; /* null: there is no @init */
  /* The symbols that abi.h names; null if the program lacks one. */
  const char *gpu_image;
  const char *gpu_kernels;
  const void *constants;
  int64_t constants_bytes;
} CollStepClass;

typedef struct CollStepTable {
  uint32_t magic;
  uint32_t version;
  uint64_t num_classes;
  const char *features; /* of the processor that the code needs: "avx2 fma", separated by blanks */
  const CollStepClass *classes;
} CollStepTable;

#endif /* COLL_RUNTIME_STEP_ABI_TABLE_H */
