//===- main.cc - the program of one tool ------------------------------------------===//

#include "tools/common/tools.h"

int main(int argc, char **argv) { return coll::COLL_TOOL_MAIN(argc, argv); }
