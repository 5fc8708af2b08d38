/* shared_step.c - a compiled step by hand, for tests without a compiler: on two ranks, each with
 * half of a batch x of f32[8, 4], w += the sum of x's rows. What coll-compile writes has the same
 * form. */

#include "runtime/step/abi/table.h"

#include <stddef.h>
#include <stdio.h>

static int32_t step(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                    void *arena) {
  const float *x = args[1];
  float *w = results[0], *sum = arena;
  int32_t code;
  for (int i = 0; i < 4; ++i)
    sum[i] = x[i] + x[4 + i] + x[8 + i] + x[12 + i];
  code = abi->all_reduce(ctx, 0, sum, sum, 4, kCollF32, kCollSum, kCollAccumulateAny, kCollOrderAny,
                         0, NULL);
  if (code != kCollOk)
    return code;
  for (int i = 0; i < 4; ++i)
    w[i] += sum[i];
  *(float *)results[1] = sum[0] + sum[1] + sum[2] + sum[3];
  return kCollOk;
}

static int32_t init(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                    void *arena) {
  (void)args, (void)results, (void)arena;
  return abi->init(ctx, 1, 0);
}

/* The ABI's version is filled in. */
static const char kFormat[] =
    "{\"abi\":%d,\"arena_bytes\":64,\"device\":\"cpu\",\"groups\":[[[0,1]]],"
    "\"mesh\":{\"axes\":[{\"name\":\"dp\",\"size\":2}],\"name\":\"mesh\"},\"name\":\"step\","
    "\"ranks\":[[0,1]],"
    "\"args\":[{\"dtype\":\"f32\",\"local\":[4],\"name\":\"w\",\"role\":\"state\",\"shape\":[4],"
    "\"sharding\":[{\"axes\":[],\"unit\":1}]},"
    "{\"dtype\":\"f32\",\"local\":[4,4],\"name\":\"x\",\"role\":\"batch\",\"shape\":[8,4],"
    "\"sharding\":[{\"axes\":[\"dp\"],\"unit\":1},{\"axes\":[],\"unit\":1}]}],"
    "\"ops\":[{\"bytes\":16,\"count\":4,\"dtype\":\"f32\",\"function\":\"step\",\"group\":0,"
    "\"kind\":\"all_reduce\",\"loc\":\"shared_step.c:14:10\",\"name\":\"\",\"reduction\":\"sum\","
    "\"why\":\"\"},"
    "{\"bytes\":0,\"count\":0,\"dtype\":\"\",\"function\":\"init\",\"group\":0,\"kind\":\"init\","
    "\"loc\":\"\",\"name\":\"\",\"reduction\":\"\",\"why\":\"\"}],"
    "\"results\":[{\"arg\":0,\"dtype\":\"f32\",\"local\":[4],\"name\":\"\",\"role\":\"state\","
    "\"shape\":[4],"
    "\"sharding\":[{\"axes\":[],\"unit\":1}]},"
    "{\"arg\":-1,\"dtype\":\"f32\",\"local\":[],\"name\":\"loss\",\"role\":\"output\",\"shape\":[],"
    "\"sharding\":[]}]}";

static char descriptor[sizeof(kFormat) + 16];

__attribute__((constructor)) static void writeDescriptor(void) {
  snprintf(descriptor, sizeof(descriptor), kFormat, kCollAbiVersion);
}

static const CollStepClass kClasses[] = {{descriptor, step, init, NULL, NULL, NULL, 0}};
const CollStepTable coll_step_table = {kCollStepMagic, kCollStepVersion, 1, "", kClasses};
