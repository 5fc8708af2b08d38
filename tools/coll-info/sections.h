// sections.h - the parts of what coll-info prints. Each says why, where something is
// not there.

#ifndef COLL_TOOLS_COLL_INFO_SECTIONS_H
#define COLL_TOOLS_COLL_INFO_SECTIONS_H

namespace coll::info {

void printBackends();
void printTransports();
void printGpus();
void printNccl();
void printPeers();
// Which backend serves what, and why. False: COLL_ROUTES names no table.
bool printRoutes();
// Which way messages of GPU memory go, and why. False where a variable or the table is wrong.
bool printPaths();
void printNcclPlugin();
// Every variable with its default, what it is set to, and its meaning. Never the secret.
void printEnvironment();

} // namespace coll::info

#endif // COLL_TOOLS_COLL_INFO_SECTIONS_H
