/* net_event.h - the events that libnccl-net-coll.so reports to NCCL's profiler (C and C++).
 *
 * Since NCCL 2.26 a net plugin can report events below a proxy step. A profiler plugin
 * receives them as NetPlugin events whose descriptor holds `id` and `data`. With
 * id == COLL_NET_EVENT_ID, data is a CollNetEvent, valid during the call only.
 *
 * One event is the part of one message that one socket (or queue pair) of a connection
 * moves: a message of 512 KiB over four sockets gives four events. It starts when
 * the part is known (sender: it may be sent; receiver: its header has arrived), and stops
 * when the socket has taken or delivered its last byte. NCCL's progress thread reports both
 * when it next asks for the message, so startNs and endNs are more accurate.
 */

#ifndef COLL_RUNTIME_NET_NCCL_PLUGIN_NET_EVENT_H
#define COLL_RUNTIME_NET_NCCL_PLUGIN_NET_EVENT_H

#include <stdint.h>

/* netType << 16 | version; NCCL's own types are 1 (IB) and 2 (Socket). */
#define COLL_NET_EVENT_TYPE 0x636c
#define COLL_NET_EVENT_VERSION 1
#define COLL_NET_EVENT_ID (((int64_t)COLL_NET_EVENT_TYPE << 16) | COLL_NET_EVENT_VERSION)

enum { COLL_NET_SEND = 0, COLL_NET_RECV = 1 };

typedef struct CollNetEvent {
  uint32_t bytesOfStruct; /* sizeof(CollNetEvent); later versions only append */
  uint32_t direction;     /* COLL_NET_SEND or COLL_NET_RECV */
  const char *transport;  /* "tcp", "verbs" */
  const char *device;     /* "eth0" */
  uint64_t connection;    /* number of the connection in this process */
  uint64_t message;       /* number of the message in its connection, from 0 */
  uint64_t messageBytes;  /* 0: not known yet (a receive whose data has not begun) */
  uint32_t stream;        /* socket of the connection; 0 is for small messages */
  uint32_t failed;        /* on stop: 1 if the connection broke first */
  uint64_t bytes;         /* of this part */
  int64_t startNs;        /* CLOCK_MONOTONIC; 0: unknown */
  int64_t endNs;          /* on stop; 0: unknown */
} CollNetEvent;

#endif /* COLL_RUNTIME_NET_NCCL_PLUGIN_NET_EVENT_H */
