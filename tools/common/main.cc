//===- main.cc - the program of one tool ------------------------------------------===//

#include "tools/common/program.h"
#include "tools/common/tools.h"

int main(int argc, char **argv) { return coll::runProgram(coll::COLL_TOOL_MAIN, argc, argv); }
