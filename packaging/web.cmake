# WebAssembly: modules of what web/module and web/page export to JavaScript (web/module/export.h), each with vectors of
# 16 bytes (SIMD128) and without; a browser's or Node's WebAssembly.validate says which may be loaded.
#
#   build/web/package/sapwood.wasm, sapwood-plain.wasm   web/module/*.c, without a line of Emscripten's JavaScript
#   build/web/package/points.wasm, points-plain.wasm     of these points and compaction only
#   build/web/package/sapwood-threads.wasm               sapwood.wasm for several threads, with web/threads/*.c
#   build/web/package/gl.js (+ .wasm)                    web/gl/*.c: trees as textures, compaction and surfaces in WebGL,
#                                                        through Emscripten's glue; one kind, for its loops are shaders
#   build/web/page/page.js, page-plain.js (+ .wasm)      web/page/**/*.c with the GL device and a CPU that knows clouds,
#                                                        skins and photons, through Emscripten's glue

# The library with vectors: only the inner loops are compiled anew. The builder's are a sixth smaller with -O2, those
# that align clouds an eighth, and as fast.
set(sapwood_web_newer -mnontrapping-fptoint -msign-ext -mbulk-memory) # whoever has vectors has these
set(sapwood_simd128_objects $<TARGET_OBJECTS:sapwood_objects>)
set(sapwood_simd128_O3 ${sapwood_simd_sources})
list(FILTER sapwood_simd128_O3 EXCLUDE REGEX "/(balanced/build|cloud/align)_simd\\.c$")
set(sapwood_simd128_O2 ${PROJECT_SOURCE_DIR}/src/tree/balanced/build_simd.c ${PROJECT_SOURCE_DIR}/src/cloud/align_simd.c)
foreach(bits IN ITEMS 32 64)
  foreach(level IN ITEMS O2 O3)
    set(part sapwood_simd128_${bits}_${level})
    add_library(${part} OBJECT ${sapwood_simd128_${level}})
    target_link_libraries(${part} PRIVATE sapwood_inside)
    target_compile_options(${part} PRIVATE ${sapwood_simd_portable} -${level} -msimd128 ${sapwood_web_newer} -DSAP_REAL_BITS=${bits})
    list(APPEND sapwood_simd128_objects $<TARGET_OBJECTS:${part}>)
  endforeach()
endforeach()
add_library(sapwood_static_simd128 STATIC ${sapwood_simd128_objects})
target_include_directories(sapwood_static_simd128 PUBLIC ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(sapwood_static_simd128 PRIVATE sapwood_flags m)
set_target_properties(sapwood_static_simd128 PROPERTIES OUTPUT_NAME sapwood_simd128)

# Memory grows as far as 32 bits reach, and where it ends an allocation fails: out of memory is a status.
set(sapwood_web_memory -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB -sABORTING_MALLOC=0)

# One module of C sources, with and without vectors: NAME and NAME-plain, whose files end in `suffix`.
function(sapwood_web_modules name folder suffix sources)
  foreach(vectors IN ITEMS "" "-plain")
    set(target web_${name}${vectors})
    set(library sapwood_static_simd128)
    if(vectors)
      set(library sapwood_static)
    endif()
    add_executable(${target} ${sources})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/web ${PROJECT_SOURCE_DIR}/web/page ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${target} PRIVATE sapwood_flags ${library} m)
    target_link_options(${target} PRIVATE ${sapwood_web_memory} ${ARGN})
    if(vectors AND suffix STREQUAL ".wasm")
      target_link_options(${target} PRIVATE -Oz) # the longest of the package's modules, and few browsers take it
    endif()
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}${vectors} SUFFIX ${suffix}
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
    # The linker's last pass leaves what another finds: 0.6 % of what is downloaded.
    if(sapwood_wasm_opt)
      set(module ${PROJECT_BINARY_DIR}/${folder}/${name}${vectors}.wasm)
      add_custom_command(TARGET ${target} POST_BUILD COMMAND ${sapwood_wasm_opt} ${sapwood_pass${vectors}} --converge
        ${module} -o ${module} VERBATIM)
    endif()
    add_dependencies(web_modules ${target})
  endforeach()
endfunction()
find_program(sapwood_wasm_opt wasm-opt HINTS ${EMSCRIPTEN_ROOT_PATH}/../bin)
mark_as_advanced(sapwood_wasm_opt)
set(sapwood_pass --enable-simd --enable-nontrapping-float-to-int --enable-sign-ext --enable-bulk-memory -O3)
set(sapwood_pass-plain --mvp-features -Oz)
add_custom_target(web_modules)

# The package: a device of the CPU is all that it opens, so processors.c comes first, without the GL device; and for the
# module of points alone a device that has no more to offer.
file(GLOB sapwood_package_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/module/*.c)
add_library(sapwood_package_device OBJECT ${PROJECT_SOURCE_DIR}/src/processors/processors.c)
add_library(sapwood_points_device OBJECT ${PROJECT_SOURCE_DIR}/src/processors/processors.c ${PROJECT_SOURCE_DIR}/src/processors/cpu.c)
target_compile_options(sapwood_points_device PRIVATE -DSAP_POINTS_ONLY)
foreach(device IN ITEMS sapwood_package_device sapwood_points_device)
  target_link_libraries(${device} PRIVATE sapwood_inside)
  target_compile_options(${device} PRIVATE -USAP_HAVE_GL -Os)
endforeach()
set(sapwood_bare -sSTANDALONE_WASM=1 --no-entry -sFILESYSTEM=0 -sEXPORTED_FUNCTIONS=_malloc,_free
  -sINITIAL_MEMORY=2MB -sTOTAL_STACK=256KB -Wl,--stack-first)
set(sapwood_points_sources ${sapwood_package_sources})
list(FILTER sapwood_points_sources EXCLUDE REGEX "/(mesh|surface)\\.c$")
sapwood_web_modules(sapwood package .wasm "${sapwood_package_sources};$<TARGET_OBJECTS:sapwood_package_device>"
  ${sapwood_bare})
sapwood_web_modules(points package .wasm "${sapwood_points_sources};$<TARGET_OBJECTS:sapwood_points_device>"
  ${sapwood_bare})

# The package's module for several threads. Its objects are compiled for shared memory; Emscripten's library is the one
# for a single thread, whose heap gets a lock (web/threads/heap.c) and of which nothing else keeps a state that threads
# share: --no-check-features lets both be linked. No file and no GL device is reached from there. Its team is of workers.
set(sapwood_threads_flags -pthread -DSAP_HAVE_THREADS -msimd128)
set(sapwood_threads_sources ${sapwood_sources})
list(FILTER sapwood_threads_sources EXCLUDE REGEX "/src/files/|/shaders/|/base/team_posix\\.c$|/(gl|gl_[^/]*|[^/]*_gl)\\.c$")
foreach(part IN ITEMS library 32 64)
  set(sapwood_threads_part ${sapwood_threads_sources})
  if(NOT part STREQUAL library)
    set(sapwood_threads_part ${sapwood_simd_sources})
  endif()
  add_library(sapwood_threads_${part} OBJECT EXCLUDE_FROM_ALL ${sapwood_threads_part})
  target_link_libraries(sapwood_threads_${part} PRIVATE sapwood_inside)
  target_compile_options(sapwood_threads_${part} PRIVATE -USAP_HAVE_GL ${sapwood_threads_flags}
    "SHELL:-include ${PROJECT_SOURCE_DIR}/web/threads/heap.h")
endforeach()
target_compile_definitions(sapwood_threads_library PRIVATE SAP_FEW_INSTANCES)
target_compile_options(sapwood_threads_library PRIVATE -Os)
foreach(bits IN ITEMS 32 64)
  target_compile_options(sapwood_threads_${bits} PRIVATE ${sapwood_simd_portable} -O3 -DSAP_REAL_BITS=${bits})
endforeach()
file(GLOB sapwood_team_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/threads/*.c)
add_executable(web_sapwood-threads EXCLUDE_FROM_ALL ${sapwood_package_sources} ${sapwood_team_sources}
  $<TARGET_OBJECTS:sapwood_threads_library> $<TARGET_OBJECTS:sapwood_threads_32> $<TARGET_OBJECTS:sapwood_threads_64>)
target_include_directories(web_sapwood-threads PRIVATE ${PROJECT_SOURCE_DIR}/web ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(web_sapwood-threads PRIVATE sapwood_flags sapwood_inside m)
target_compile_options(web_sapwood-threads PRIVATE ${sapwood_threads_flags} -Os)
target_link_options(web_sapwood-threads PRIVATE ${sapwood_web_memory} ${sapwood_bare}
  -Wl,--shared-memory,--import-memory,--no-check-features,--export=stackRestore)
set_target_properties(web_sapwood-threads PROPERTIES OUTPUT_NAME sapwood-threads SUFFIX .wasm
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/package)

# The package's module for WebGL. It has devices of its own (web/gl/processors.c), so that what is not offered is not linked.
file(GLOB sapwood_gl_module_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/gl/*.c)
sapwood_shaders(sapwood_gl_module_shaders ${PROJECT_SOURCE_DIR}/web/gl)
add_executable(web_gl EXCLUDE_FROM_ALL ${sapwood_gl_module_sources} ${sapwood_gl_module_shaders} ${PROJECT_SOURCE_DIR}/web/module/print.c)
target_include_directories(web_gl PRIVATE ${PROJECT_SOURCE_DIR}/web ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(web_gl PRIVATE sapwood_flags sapwood_static m)
target_compile_options(web_gl PRIVATE -Os)
target_link_options(web_gl PRIVATE ${sapwood_web_memory} -Oz -sMODULARIZE=1 -sEXPORT_ES6=1 -sENVIRONMENT=web,worker
  -sMIN_WEBGL_VERSION=1 -sMAX_WEBGL_VERSION=2 -sFILESYSTEM=0 -sINVOKE_RUN=0
  -sEXPORTED_FUNCTIONS=_malloc,_free -sEXPORTED_RUNTIME_METHODS=GL)
set_target_properties(web_gl PROPERTIES OUTPUT_NAME gl SUFFIX .js RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/package)
add_dependencies(web_modules web_gl)

# The page: one module for the thread that draws and for the worker that builds trees. Its CPU knows clouds, skins
# and photons, too, and its GL device keeps no surfaces.
add_library(sapwood_page_device OBJECT ${PROJECT_SOURCE_DIR}/src/processors/cpu.c ${PROJECT_SOURCE_DIR}/src/processors/gl.c)
target_link_libraries(sapwood_page_device PRIVATE sapwood_inside)
target_compile_options(sapwood_page_device PRIVATE -DSAP_PAGE -Os)
file(GLOB_RECURSE sapwood_page_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/page/*.c)
if(sapwood_page_sources)
  sapwood_shaders(sapwood_page_shaders ${PROJECT_SOURCE_DIR}/web/page/scenes)
  # Texts that share much of what they include follow one another: gzip looks back 32 KB at most.
  list(APPEND sapwood_page_shaders ${sapwood_shader_arrays})
  foreach(name IN ITEMS nearest voronoi_walk voronoi_tree_vertex histopyramid surface ray view)
    list(FILTER sapwood_page_shaders EXCLUDE REGEX "/${name}\\.c$")
    list(APPEND sapwood_page_shaders ${PROJECT_BINARY_DIR}/shaders/${name}.c)
  endforeach()
  list(APPEND sapwood_page_sources ${sapwood_page_shaders} ${PROJECT_SOURCE_DIR}/web/module/no_files.c
    ${PROJECT_SOURCE_DIR}/web/module/print.c $<TARGET_OBJECTS:sapwood_page_device>)
  # Nothing else is asked of Emscripten's glue than instantiateWasm, and contexts are the page's own.
  sapwood_web_modules(page page .js "${sapwood_page_sources}" -sMALLOC=emmalloc -sMODULARIZE=1 -sEXPORT_ES6=1 -sENVIRONMENT=web,worker
    -sMIN_WEBGL_VERSION=1 -sMAX_WEBGL_VERSION=2 -sFILESYSTEM=0 -sINVOKE_RUN=0
    -sEXPORTED_FUNCTIONS=_malloc,_free -sEXPORTED_RUNTIME_METHODS=GL,UTF8ToString
    -sINCOMING_MODULE_JS_API=instantiateWasm -sTEXTDECODER=2 -sGL_WORKAROUND_SAFARI_GETCONTEXT_BUG=0)
  foreach(target IN ITEMS web_page web_page-plain)
    target_compile_options(${target} PRIVATE -Os) # the inner loops are the library's
  endforeach()
  target_compile_options(web_page PRIVATE ${sapwood_web_newer})
endif()

# bench/gl_voronoi.c in a browser, for web/bench/voronoi.mjs.
add_executable(web_voronoi EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/bench/gl_voronoi.c)
target_link_libraries(web_voronoi PRIVATE sapwood_flags sapwood_static_simd128 m)
target_link_options(web_voronoi PRIVATE ${sapwood_web_memory} -sMIN_WEBGL_VERSION=2 -sMAX_WEBGL_VERSION=2)
set_target_properties(web_voronoi PROPERTIES OUTPUT_NAME voronoi RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
