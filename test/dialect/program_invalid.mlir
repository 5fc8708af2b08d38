// RUN: coll-opt %s --verify-diagnostics --split-input-file

// program_c1
// expected-error@+1 {{has no ranks}}
coll.program @p ranks [] {
}

// -----

// program_c1: order
// expected-error@+1 {{ranks must be ascending from 0, but 1 follows 2}}
coll.program @p ranks [2, 1] {
}

// -----

// program_c1: negative
// expected-error@+1 {{ranks must be ascending from 0, but -1 follows the start}}
"coll.program"() ({
^bb0:
}) {sym_name = "p", ranks = array<i64: -1>} : () -> ()

// -----

// program_c1: a range that would fill the memory
// expected-error@+1 {{ranks 0 to 9223372036854775807 are not within 0 to 16777215}}
coll.program @p ranks [0 to 9223372036854775807] {
}

// -----

// program_c1: a range that descends
// expected-error@+1 {{ranks 5 to 3 are not within 0 to 16777215}}
coll.program @p ranks [5 to 3] {
}

// -----

// program_c2
// expected-error@+1 {{holds something that is not a function}}
coll.program @p ranks [0] {
  // expected-note@+1 {{'coll.mesh' is here}}
  coll.mesh @m ["dp" = 1]
}
