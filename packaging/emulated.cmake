# The tests of devices once more, on a CUDA device that the CPU plays: the kernels are compiled as C++ against the
# stand-in for CUDA in tests/cuda_on_cpu, so that they are tested where there is no GPU.

include(CheckLanguage)
check_language(CXX)
set(why_not)
if(NOT SAPWOOD_EMULATED)
  set(why_not "SAPWOOD_EMULATED is off")
elseif(NOT CMAKE_CXX_COMPILER)
  set(why_not "there is no C++ compiler")
elseif(NOT UNIX OR CMAKE_SYSTEM_NAME STREQUAL "Emscripten")
  set(why_not "the stand-in for CUDA needs a Unix")
elseif(SAPWOOD_SANITIZE MATCHES "thread")
  set(why_not "under the thread sanitizer they take too long")
else()
  enable_language(CXX)
  if(SAPWOOD_SANITIZE AND NOT CMAKE_CXX_COMPILER_ID STREQUAL CMAKE_C_COMPILER_ID)
    set(why_not "sanitizers do not work across ${CMAKE_C_COMPILER_ID} and ${CMAKE_CXX_COMPILER_ID}")
  endif()
endif()
if(why_not)
  message(STATUS "No tests on an emulated GPU: ${why_not}")
  return()
endif()

# A source of C++ for each file of CUDA C: the file itself may be nvcc's in this very build.
function(sapwood_emulated_sources list)
  set(sources)
  foreach(file IN LISTS ARGN)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${file})
    string(REPLACE "/" "-" name ${name})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/emulated/${name}.cpp CONTENT "#include \"${file}\"\n")
    list(APPEND sources ${PROJECT_BINARY_DIR}/emulated/${name}.cpp)
  endforeach()
  set(${list} ${sources} PARENT_SCOPE)
endfunction()

file(GLOB sapwood_kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*/*.cu ${PROJECT_SOURCE_DIR}/src/*/*/*.cu)
sapwood_emulated_sources(sapwood_emulated_kernels ${sapwood_kernels} ${PROJECT_SOURCE_DIR}/tests/cuda_tools.cu)
file(GLOB sapwood_stand_in CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/cuda_on_cpu/*.cpp)
# Lanes without work carry values that nobody has set and nobody looks at; #pragma unroll is nvcc's; g++'s -Wextra
# dislikes what C does with enumerations.
set(sapwood_kernel_options
  "-Wno-unknown-pragmas;$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-extra>")
if(SAPWOOD_SANITIZE)
  # The stand-in itself is only to be quick; and a fiber's stack is no object that the undefined-behaviour sanitizer knows.
  set_source_files_properties(${sapwood_stand_in} PROPERTIES COMPILE_OPTIONS "-O2;-fno-sanitize=undefined")
  list(APPEND sapwood_kernel_options -fno-inline) # a quarter of the time to compile
endif()

# Of the C part only the list of processors depends on whether there is CUDA; all else is the library's.
set(sapwood_c_objects $<FILTER:$<TARGET_OBJECTS:sapwood_objects>,EXCLUDE,processors/\(processors|cuda\)\\.c>)
foreach(set IN LISTS sapwood_simd_sets)
  list(APPEND sapwood_c_objects $<TARGET_OBJECTS:sapwood_simd_${set}_32> $<TARGET_OBJECTS:sapwood_simd_${set}_64>)
endforeach()
add_library(sapwood_emulated STATIC ${sapwood_emulated_kernels} ${sapwood_stand_in}
  ${PROJECT_SOURCE_DIR}/src/processors/processors.c ${PROJECT_SOURCE_DIR}/src/processors/cuda.c ${sapwood_c_objects})
target_link_libraries(sapwood_emulated PRIVATE sapwood_flags PUBLIC m)
if(SAPWOOD_HAVE_THREADS)
  target_link_libraries(sapwood_emulated PUBLIC Threads::Threads)
endif()
target_include_directories(sapwood_emulated BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/tests/cuda_on_cpu
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
target_compile_features(sapwood_emulated PRIVATE cxx_std_17)
# Compiling takes longer than all that these tests save by being fast.
if(NOT SAPWOOD_SANITIZE AND CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(sapwood_emulated PRIVATE -O1)
endif()
set_source_files_properties(${sapwood_emulated_kernels} PROPERTIES COMPILE_OPTIONS "${sapwood_kernel_options}")
target_compile_definitions(sapwood_emulated PRIVATE SAP_HAVE_CUDA SAP_ASSERTIONS
  $<$<COMPILE_LANGUAGE:CXX>:SAP_CUDA_ON_CPU>)
set_target_properties(sapwood_emulated PROPERTIES CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden)

# The stand-in alone.
sapwood_emulated_sources(sapwood_selftest ${PROJECT_SOURCE_DIR}/tests/cuda_on_cpu/selftest.cu)
set_source_files_properties(${sapwood_selftest} PROPERTIES COMPILE_OPTIONS "${sapwood_kernel_options}")
add_executable(emulated_stand_in ${sapwood_selftest} ${sapwood_stand_in})
target_link_libraries(emulated_stand_in PRIVATE sapwood_flags)
if(SAPWOOD_HAVE_THREADS)
  target_link_libraries(emulated_stand_in PRIVATE Threads::Threads)
endif()
target_include_directories(emulated_stand_in BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/tests/cuda_on_cpu
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_features(emulated_stand_in PRIVATE cxx_std_17)
target_compile_definitions(emulated_stand_in PRIVATE SAP_CUDA_ON_CPU)
set_target_properties(emulated_stand_in PROPERTIES CXX_EXTENSIONS OFF)
add_test(NAME emulated_stand_in COMMAND emulated_stand_in)
set_tests_properties(emulated_stand_in PROPERTIES TIMEOUT 1200 LABELS emulated)

# The command line, for what it says and does where there is a GPU.
if(SAPWOOD_CLI AND sapwood_cli_sources)
  add_executable(emulated_sapwood ${sapwood_cli_sources})
  target_link_libraries(emulated_sapwood PRIVATE sapwood_inside sapwood_emulated)
  set_target_properties(emulated_sapwood PROPERTIES LINKER_LANGUAGE CXX)
  add_test(NAME emulated_cli COMMAND ${PROJECT_SOURCE_DIR}/tests/cli/run.sh $<TARGET_FILE:emulated_sapwood>
    nearest/devices program/cuda render/gpu_same_bytes render/orbit render/orbit_json render/photons render/works trace/gpu_same_bytes trace/works)
  set_tests_properties(emulated_cli PROPERTIES TIMEOUT 1200 LABELS emulated)
endif()

foreach(name IN ITEMS tree cloud cloud_clusters cloud_density cloud_project cloud_left_out cloud_relax cloud_sample align gather nonfinite nearest metrics pairs periods radius sets skin subdivide box walks verify saved nodes compact surface determinism vvh cuda cuda_cloud cuda_cluster cuda_copies cuda_faults cuda_gl cuda_graph cuda_instances cuda_mesh cuda_photons cuda_rays cuda_rebuilds cuda_render cuda_rows cuda_sets cuda_surface cuda_verify cuda_voxels nccl reentry)
  add_executable(emulated_test_${name} ${PROJECT_SOURCE_DIR}/tests/test_${name}.c)
  target_compile_definitions(emulated_test_${name} PRIVATE SAP_HAVE_CUDA SAP_EMULATED)
  target_include_directories(emulated_test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(emulated_test_${name} PRIVATE sapwood_test_support sapwood_inside sapwood_emulated sapwood_defined)
  set_target_properties(emulated_test_${name} PROPERTIES LINKER_LANGUAGE CXX
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME emulated_test_${name} COMMAND emulated_test_${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(emulated_test_${name} PROPERTIES TIMEOUT 1200 LABELS emulated)
endforeach()

# Ranks that are GPUs of NCCL's, whose place a library takes that is loaded as NCCL is.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND SAPWOOD_HAVE_THREADS)
  add_library(nccl_on_cpu MODULE ${PROJECT_SOURCE_DIR}/tests/nccl_on_cpu/nccl_on_cpu.c)
  target_compile_features(nccl_on_cpu PRIVATE c_std_17)
  target_compile_definitions(nccl_on_cpu PRIVATE _GNU_SOURCE)
  target_compile_options(nccl_on_cpu PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion $<$<BOOL:${SAPWOOD_WERROR}>:-Werror>)
  set_target_properties(nccl_on_cpu PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  foreach(name IN ITEMS ranks cluster cuda_cluster cuda_rebuilds)
    add_executable(emulated_test_${name}_nccl ${PROJECT_SOURCE_DIR}/tests/test_${name}.c)
    target_compile_definitions(emulated_test_${name}_nccl PRIVATE SAP_HAVE_CUDA SAP_EMULATED)
    target_include_directories(emulated_test_${name}_nccl PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    target_link_libraries(emulated_test_${name}_nccl PRIVATE sapwood_test_support sapwood_inside sapwood_emulated sapwood_defined)
    set_target_properties(emulated_test_${name}_nccl PROPERTIES LINKER_LANGUAGE CXX
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_test(NAME emulated_test_${name}_nccl COMMAND emulated_test_${name}_nccl WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(emulated_test_${name}_nccl PROPERTIES TIMEOUT 1200 LABELS emulated)
  endforeach()
  foreach(name IN ITEMS nccl ranks_nccl cluster_nccl cuda_cluster_nccl cuda_rebuilds_nccl)
    add_dependencies(emulated_test_${name} nccl_on_cpu)
    target_link_libraries(emulated_test_${name} PRIVATE ${CMAKE_DL_LIBS})
    target_compile_definitions(emulated_test_${name} PRIVATE RANKS_BY_NCCL NCCL_ON_CPU_LIBRARY="$<TARGET_FILE:nccl_on_cpu>")
  endforeach()
endif()
