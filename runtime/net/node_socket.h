// node_socket.h - Unix sockets between the processes of a node, which carry descriptors.
//
// Names are in the abstract name space: nothing is left in a file system, and the kernel
// closes a process's sockets whatever it died of. Peers that run as another user are refused.

#ifndef COLL_RUNTIME_NET_NODE_SOCKET_H
#define COLL_RUNTIME_NET_NODE_SOCKET_H

#include "runtime/net/socket.h"

#include <string>

namespace coll::net {

// "coll-" and 16 random letters.
Result<std::string> freshNodeName();

// A non-blocking listening socket.
Result<Fd> listenOnNode(const std::string &name, int backlog);
// The next peer's connection, blocking or not; none that is valid where nobody waits. kCollPeer for
// a stranger, whose connection is closed.
Result<Fd> acceptOnNode(const Fd &listener, bool blocking);
// How long the sends and receives of a blocking socket wait, each; 0: for ever.
void limitWaiting(const Fd &socket, int64_t timeoutUs);
// A blocking socket. kCollTimeout where the listener has no room for so long.
Result<Fd> connectOnNode(const std::string &name, int64_t timeoutUs);

// Sends all bytes, and a duplicate of `fd` if that is not negative. Blocks while the socket's
// buffer is full. kCollPeer where the peer is gone.
Status sendToNode(int socket, const void *data, size_t bytes, int fd);
// Receives so many bytes, and the descriptor that came with them, if any. Blocks;
// kCollTimeout where the socket's waiting is limited. kCollPeer where the peer is gone.
Result<Fd> receiveFromNode(int socket, void *data, size_t bytes);
// Whether the peer of a connected socket is this process.
bool isOwnProcess(int socket);
// Whether the peer has closed its end.
bool isNodePeerGone(int socket);

} // namespace coll::net

#endif // COLL_RUNTIME_NET_NODE_SOCKET_H
