// node_socket.h - Unix sockets between the processes of a node, which carry descriptors.
//
// Names are in the abstract name space: no file remains, and the kernel closes the sockets of a
// process however it ends. Peers that run as another user are rejected.

#ifndef COLL_RUNTIME_NET_NODE_SOCKET_H
#define COLL_RUNTIME_NET_NODE_SOCKET_H

#include "runtime/net/socket.h"

#include <string>

namespace coll::net {

// "coll-" and 16 random letters.
Result<std::string> freshNodeName();

// A non-blocking listening socket.
Result<Fd> listenOnNode(const std::string &name, int backlog);
// The next peer's connection, blocking or not; an invalid one if no peer waits. kCollPeer for a
// peer of another user, whose connection is closed.
Result<Fd> acceptOnNode(const Fd &listener, bool blocking);
// Limits each send and receive of a blocking socket; 0: no limit.
void limitWaiting(const Fd &socket, int64_t timeoutUs);
// Returns a blocking socket. kCollTimeout if the listener's backlog stays full.
Result<Fd> connectOnNode(const std::string &name, int64_t timeoutUs);

// Sends all bytes, and a duplicate of `fd` if that is not negative. Blocks while the socket's
// buffer is full. kCollPeer if the peer has ended.
Status sendToNode(int socket, const void *data, size_t bytes, int fd);
// Receives `bytes` bytes, and the descriptor that came with them, if any. Blocks; kCollTimeout
// after the socket's limit. kCollPeer if the peer has ended.
Result<Fd> receiveFromNode(int socket, void *data, size_t bytes);
// Whether the peer of a connected socket is this process.
bool isOwnProcess(int socket);
// Whether the peer has closed its end.
bool isNodePeerGone(int socket);

} // namespace coll::net

#endif // COLL_RUNTIME_NET_NODE_SOCKET_H
