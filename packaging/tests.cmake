# Every tests/test_*.c is one program; the other files of tests/ are what they share.

file(GLOB sapwood_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/test_*.c)
file(GLOB sapwood_test_support CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*.c)
list(FILTER sapwood_test_support EXCLUDE REGEX "/test_[^/]*$")

if(sapwood_test_support)
  add_library(sapwood_test_support STATIC ${sapwood_test_support})
  target_link_libraries(sapwood_test_support PUBLIC sapwood_inside)
  target_include_directories(sapwood_test_support PUBLIC ${PROJECT_SOURCE_DIR}/tests)
endif()

# What the thread sanitizer is for; and test_determinism, at the optimisation level of that preset.
add_custom_target(threaded_tests)
set(sapwood_threaded team threads sets cluster ranks determinism mesh_tree rays ray_calls instances render surface)

foreach(source IN LISTS sapwood_tests)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE $<TARGET_NAME_IF_EXISTS:sapwood_test_support> sapwood_inside sapwood_static sapwood_defined m)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>) # compiling them takes longer than running most
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT 1200)
  string(REGEX REPLACE "^test_" "" room ${name})
  if(room IN_LIST sapwood_threaded)
    set_tests_properties(${name} PROPERTIES LABELS threads)
    add_dependencies(threaded_tests ${name})
  endif()
endforeach()

# Ranks that are simulated.
target_sources(test_scale PRIVATE ${PROJECT_SOURCE_DIR}/bench/simulated.c ${PROJECT_SOURCE_DIR}/bench/schedule.c
  ${PROJECT_SOURCE_DIR}/bench/schedule_run.c)

# Ranks that are processes. An MPI that does not start ranks here (as root, on few processors) is told to.
if(SAPWOOD_HAVE_MPI AND MPIEXEC_EXECUTABLE)
  add_executable(mpi_cluster ${PROJECT_SOURCE_DIR}/tests/mpi/cluster.c ${PROJECT_SOURCE_DIR}/src/cluster/mpi/comm_mpi.c)
  target_link_libraries(mpi_cluster PRIVATE sapwood_flags sapwood_static MPI::MPI_C m)
  target_compile_definitions(mpi_cluster PRIVATE SAP_MPI_PIECE=16384) # large messages take several
  set_target_properties(mpi_cluster PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  foreach(ranks IN ITEMS 1 2 3)
    add_test(NAME mpi_cluster_${ranks}
      COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS} $<TARGET_FILE:mpi_cluster>)
    set_tests_properties(mpi_cluster_${ranks} PROPERTIES TIMEOUT 60 PROCESSORS 2 RESOURCE_LOCK launcher ENVIRONMENT
      "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1;OMPI_MCA_mpi_yield_when_idle=1")
  endforeach()
endif()

# In WebAssembly only these programs are meant to run: some under node, with vectors and some of them without, and those
# of OpenGL in a browser, where web/tests/library.test.mjs opens a page for each.
if(EMSCRIPTEN)
  add_custom_target(web_tests)
  target_compile_definitions(sapwood_test_support PUBLIC CASES_FEWER)
  foreach(room IN ITEMS nearest metrics periods radius box tree saved_memory mesh_tree rays compact surface)
    target_sources(test_${room} PRIVATE $<TARGET_OBJECTS:sapwood_package_device>)
    target_link_options(test_${room} PRIVATE -sWASM_ASYNC_COMPILATION=0) # else it asks node's fetch for a path
    add_executable(test_${room}_simd128 $<TARGET_OBJECTS:test_${room}> $<TARGET_OBJECTS:sapwood_package_device>)
    target_link_libraries(test_${room}_simd128 PRIVATE sapwood_test_support sapwood_static_simd128 m)
    target_link_options(test_${room}_simd128 PRIVATE -sWASM_ASYNC_COMPILATION=0)
    set_target_properties(test_${room}_simd128 PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_test(NAME test_${room}_simd128 COMMAND test_${room}_simd128 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(test_${room}_simd128 PROPERTIES TIMEOUT 200 LABELS web)
    add_dependencies(web_tests test_${room}_simd128)
  endforeach()
  foreach(room IN ITEMS nearest saved_memory compact)
    set_tests_properties(test_${room} PROPERTIES LABELS web)
    add_dependencies(web_tests test_${room})
  endforeach()
  target_link_options(sapwood_test_support INTERFACE -O1 -sALLOW_MEMORY_GROWTH=1)
  foreach(name IN ITEMS test_gl test_gl_compact test_gl_nearest test_gl_old test_gl_rays test_gl_resident test_gl_surface test_gl_zpyramid)
    target_link_options(${name} PRIVATE -sMIN_WEBGL_VERSION=1 -sMAX_WEBGL_VERSION=2)
  endforeach()
endif()

if(SAPWOOD_HAVE_OPENEXR AND TARGET test_exr)
  target_sources(test_exr PRIVATE ${PROJECT_SOURCE_DIR}/cli/exr.c)
  target_link_libraries(test_exr PRIVATE sapwood_openexr)
endif()

# What tests of CUDA devices need of device/cuda.h, which is C++.
if(SAPWOOD_HAVE_CUDA)
  add_library(sapwood_cuda_tools OBJECT ${PROJECT_SOURCE_DIR}/tests/cuda_tools.cu)
  target_include_directories(sapwood_cuda_tools PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/tests)
  target_compile_features(sapwood_cuda_tools PRIVATE cuda_std_17)
  target_compile_definitions(sapwood_cuda_tools PRIVATE SAP_HAVE_CUDA)
  foreach(name IN ITEMS cuda cuda_cloud cuda_cluster cuda_copies cuda_faults cuda_gl cuda_graph cuda_instances cuda_mesh cuda_photons cuda_rays cuda_rebuilds cuda_render cuda_rows cuda_sets cuda_surface cuda_verify cuda_voxels nccl reentry skin subdivide)
    target_sources(test_${name} PRIVATE $<TARGET_OBJECTS:sapwood_cuda_tools>)
  endforeach()
  # The tests of ranks once more, with NCCL as the engine.
  foreach(name IN ITEMS ranks cluster cuda_cluster cuda_rebuilds)
    add_executable(test_${name}_nccl ${PROJECT_SOURCE_DIR}/tests/test_${name}.c $<TARGET_OBJECTS:sapwood_cuda_tools>)
    target_compile_definitions(test_${name}_nccl PRIVATE RANKS_BY_NCCL)
    target_include_directories(test_${name}_nccl PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    target_link_libraries(test_${name}_nccl PRIVATE sapwood_test_support sapwood_inside sapwood_static sapwood_defined m)
    set_target_properties(test_${name}_nccl PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_test(NAME test_${name}_nccl COMMAND test_${name}_nccl WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(test_${name}_nccl PROPERTIES TIMEOUT 1200)
  endforeach()
endif()
include(packaging/emulated.cmake)

# Every fuzz/fuzz_*.c is a libFuzzer program, or, linked with replay.c, one that runs its corpus once.
file(GLOB sapwood_fuzzers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/fuzz_*.c)
if(EMSCRIPTEN) # which has no command line, and reads no glTF
  list(FILTER sapwood_fuzzers EXCLUDE REGEX "/fuzz_(arguments|gltf)\\.c$")
endif()
foreach(source IN LISTS sapwood_fuzzers)
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "^fuzz_" "" corpus ${name})
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE sapwood_inside sapwood_static m)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  if(corpus STREQUAL arguments) # of the command line, whose parts are no library
    list(FILTER sapwood_cli_sources EXCLUDE REGEX "/main\\.c$")
    target_sources(${name} PRIVATE ${sapwood_cli_sources})
    target_link_libraries(${name} PRIVATE sapwood_flags $<TARGET_NAME_IF_EXISTS:ZLIB::ZLIB>)
  endif()
  if(SAPWOOD_LIBFUZZER)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/fuzz/replay.c)
    add_test(NAME ${name} COMMAND ${name} ${PROJECT_SOURCE_DIR}/fuzz/corpus/${corpus})
    set_tests_properties(${name} PROPERTIES TIMEOUT 120 LABELS fuzz)
  endif()
endforeach()

# The command line: each case's output and exit code, to the letter.
if(TARGET sapwood_cli)
  add_test(NAME cli COMMAND ${PROJECT_SOURCE_DIR}/tests/cli/run.sh $<TARGET_FILE:sapwood_cli>)
  set_tests_properties(cli PROPERTIES TIMEOUT 600 COST 100) # the longest comes first: nothing can run beside its end
  if(SAPWOOD_SANITIZE)
    set_tests_properties(cli PROPERTIES ENVIRONMENT SLOW=1)
  endif()
endif()

# The texts that several processors share, through every compiler of their languages that is here. Once is enough.
if(NOT SAPWOOD_SANITIZE AND NOT SAPWOOD_COVERAGE)
  add_test(NAME shared_texts COMMAND ${PROJECT_SOURCE_DIR}/tests/shared_texts/check.sh)
  set_tests_properties(shared_texts PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()

# Rooms include only rooms below them.
if(UNIX AND NOT EMSCRIPTEN AND NOT SAPWOOD_SANITIZE AND NOT SAPWOOD_COVERAGE)
  add_test(NAME rooms COMMAND ${PROJECT_SOURCE_DIR}/tests/rooms.sh)
  set_tests_properties(rooms PROPERTIES TIMEOUT 60)
endif()

# The interface, compared with its description.
if(TARGET sapwood AND UNIX AND NOT APPLE)
  add_test(NAME interface COMMAND ${PROJECT_SOURCE_DIR}/packaging/abi.sh ${PROJECT_BINARY_DIR})
  set_tests_properties(interface PROPERTIES TIMEOUT 120 SKIP_RETURN_CODE 77)
endif()

# The package, as an outsider meets it. An instrumented library needs instrumented users, so plain builds only.
if(TARGET sapwood AND UNIX AND NOT SAPWOOD_SANITIZE AND NOT SAPWOOD_COVERAGE)
  add_test(NAME package COMMAND ${PROJECT_SOURCE_DIR}/packaging/check.sh ${PROJECT_BINARY_DIR})
  set_tests_properties(package PROPERTIES TIMEOUT 300)
endif()
