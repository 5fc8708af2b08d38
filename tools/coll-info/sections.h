// sections.h - the sections of coll-info's output. If something is missing, a section gives the
// reason.

#ifndef COLL_TOOLS_COLL_INFO_SECTIONS_H
#define COLL_TOOLS_COLL_INFO_SECTIONS_H

namespace coll::info {

void printBackends();
void printTransports();
void printGpus();
void printNccl();
void printCublasLt();
void printPeers();
// Prints the backend of each call, and why it is chosen. Returns false if COLL_ROUTES does not name
// a table.
bool printRoutes();
// Prints the path of messages of GPU memory, and why it is chosen. Returns false if a variable or
// the table is wrong.
bool printPaths();
void printNcclPlugin();
// Prints every variable with its default, its value, and its meaning; the secret's value is never
// printed.
void printEnvironment();

} // namespace coll::info

#endif // COLL_TOOLS_COLL_INFO_SECTIONS_H
