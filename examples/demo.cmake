# The demo, where libpng is found. It shares the benchmark's clock, generated scan and rivals.

find_package(PNG QUIET)
if(NOT PNG_FOUND)
  message(STATUS "  demo: not built, for want of libpng (libpng-dev)")
  return()
endif()
add_executable(demo demo.c demo_picture.c ${PROJECT_SOURCE_DIR}/bench/clock.c ${PROJECT_SOURCE_DIR}/bench/data.c)
target_include_directories(demo PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/bench ${PROJECT_SOURCE_DIR}/bench/rivals)
# The benchmark's folder comes after this one, if it comes at all.
target_compile_definitions(demo PRIVATE $<$<TARGET_EXISTS:sapwood_rivals>:DEMO_HAS_RIVALS>)
target_link_libraries(demo PRIVATE sapwood_flags ${sapwood_default} $<TARGET_NAME_IF_EXISTS:sapwood_rivals> PNG::PNG m)
# Films points that relax.
add_executable(film film.c demo_picture.c)
target_include_directories(film PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(film PRIVATE sapwood_flags ${sapwood_default} PNG::PNG m)
if(SAPWOOD_TESTS)
  add_test(NAME example_film COMMAND film 2000 2 ${CMAKE_CURRENT_BINARY_DIR}/film)
  set_tests_properties(example_film PROPERTIES PASS_REGULAR_EXPRESSION "^2000 points, 2 pictures, ")
endif()
# Makes points of a scanned volume, for fetch_scan.sh.
add_executable(scan_surface scan_surface.c)
target_link_libraries(scan_surface PRIVATE sapwood_flags ${sapwood_default})
