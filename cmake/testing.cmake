# coll_add_gtest(NAME program [argument…]): a test of ctest that runs a gtest program.
# The program also writes report/gtest/NAME.xml, so that its cases can be counted.
function(coll_add_gtest name)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_property(TEST ${name} PROPERTY ENVIRONMENT
               "GTEST_OUTPUT=xml:${CMAKE_BINARY_DIR}/report/gtest/${name}.xml")
endfunction()
