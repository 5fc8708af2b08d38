// RUN: coll-opt %s --verify-diagnostics --split-input-file

// mesh_c1
// expected-error@+1 {{axis "dp" occurs twice}}
coll.mesh @m ["dp" = 4, "dp" = 2]

// -----

// mesh_c1: no name
// expected-error@+1 {{has an axis without a name}}
coll.mesh @m ["" = 4]

// -----

// mesh_c1: one name per size
// expected-error@+1 {{has 1 axis names for 2 sizes}}
"coll.mesh"() {sym_name = "m", axis_names = ["dp"], axis_sizes = array<i64: 2, 2>} : () -> ()

// -----

// mesh_c2
// expected-error@+1 {{axis "dp" must have at least one rank, but has 0}}
coll.mesh @m ["dp" = 0]

// -----

// mesh_c2: too many ranks
// expected-error@+1 {{has more than 16777216 ranks}}
coll.mesh @m ["dp" = 4097, "tp" = 4096]

// -----

// mesh_c2: the product overflows
// expected-error@+1 {{has more than 16777216 ranks}}
coll.mesh @m ["a" = 9223372036854775807, "b" = 9223372036854775807]

// -----

// a size that does not fit
// expected-error@+1 {{integer value too large}}
coll.mesh @m ["a" = 99999999999999999999]
