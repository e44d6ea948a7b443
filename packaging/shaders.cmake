# Shaders are compiled by the user's driver: every src/ROOM/NAME.glsl goes into the library as a string, the array
# sap_glsl_NAME, without comments and most spaces, and with each `#include "…"` line replaced by that file of src/, or
# of the text's own folder if its name has no /, less what stands there between `#else // not in shaders` and
# `#endif // in shaders`, once a file. As a script (cmake -DFROM= -DTO= -DNAME= -DSOURCES= -P) this writes one
# such array; included, it defines sapwood_shaders.

if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${FROM} text)
  while(text MATCHES "(^|\n)#include \"([^\"]+)\"")
    set(name ${CMAKE_MATCH_2})
    set(folder ${SOURCES})
    if(NOT name MATCHES "/") # it stands beside the text
      get_filename_component(folder ${FROM} DIRECTORY)
    endif()
    file(READ ${folder}/${name} included)
    string(REGEX REPLACE "#else // not in shaders\n.*\n#endif // in shaders" "#endif" included "${included}")
    string(REPLACE "#include \"${name}\"" "${included}" text "${text}")
  endwhile()
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "[ ]*\n[ \n]*" "\n" text "${text}")
  # Spaces beside signs go, but not in directives, where one may end a name, and not beside - and +, which would join.
  while(text MATCHES "(^|\n)#[^\n ]* ")
    string(REGEX REPLACE "((^|\n)#[^\n ]*) " "\\1\t" text "${text}")
  endwhile()
  string(REGEX REPLACE " ?([][{}(),;:?=<>&|]) ?" "\\1" text "${text}")
  string(HEX "${text}" bytes)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${bytes}")
  file(WRITE ${TO} "extern const char sap_glsl_${NAME}[];\nconst char sap_glsl_${NAME}[] = {\n${bytes}0};\n")
  return()
endif()

# Lists the sources of arrays of the texts in some folders, and says how they are made. A text may take in any header of src.
function(sapwood_shaders list)
  list(TRANSFORM ARGN APPEND /*.glsl OUTPUT_VARIABLE patterns)
  file(GLOB texts CONFIGURE_DEPENDS ${patterns})
  file(GLOB shared CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*/*.h ${PROJECT_SOURCE_DIR}/src/*/*/*.h)
  set(arrays)
  foreach(text IN LISTS texts)
    get_filename_component(name ${text} NAME_WE)
    set(array ${PROJECT_BINARY_DIR}/shaders/${name}.c)
    add_custom_command(OUTPUT ${array} DEPENDS ${text} ${texts} ${shared} ${PROJECT_SOURCE_DIR}/packaging/shaders.cmake
      COMMAND ${CMAKE_COMMAND} -DFROM=${text} -DTO=${array} -DNAME=${name} -DSOURCES=${PROJECT_SOURCE_DIR}/src
        -P ${PROJECT_SOURCE_DIR}/packaging/shaders.cmake
      COMMENT "Shader ${name}" VERBATIM)
    list(APPEND arrays ${array})
  endforeach()
  set(${list} ${arrays} PARENT_SCOPE)
endfunction()
