/* coll-parser - parses a text that is not trusted (coll_compile_options.parse_apart). */

#include "embed/c/coll.h"

int main(void) { return coll_parser_main(); }
