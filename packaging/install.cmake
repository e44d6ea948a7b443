# make install: headers, libraries, the command with its manual, the CMake package and the pkg-config file.

include(CMakePackageConfigHelpers)
set(sapwood_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sapwood)

install(TARGETS ${sapwood_installed} EXPORT sapwood)
install(DIRECTORY include/sapwood TYPE INCLUDE FILES_MATCHING PATTERN "*.h" PATTERN mpi EXCLUDE)
if(SAPWOOD_HAVE_MPI)
  install(FILES include/sapwood/mpi/comm.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sapwood/mpi)
endif()
if(TARGET sapwood_cli)
  install(TARGETS sapwood_cli)
endif()

# The manual and the completions come from the option table: the program prints them itself.
function(sapwood_generate document folder name)
  add_custom_command(OUTPUT manual/sapwood.${document} DEPENDS sapwood_cli VERBATIM
    COMMAND sapwood_cli --generate ${document} > manual/sapwood.${document}
    COMMENT "Writing manual/sapwood.${document}")
  install(FILES ${PROJECT_BINARY_DIR}/manual/sapwood.${document} DESTINATION ${folder} RENAME ${name})
endfunction()
if(TARGET sapwood_cli AND (NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR))
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/manual)
  sapwood_generate(man ${CMAKE_INSTALL_MANDIR}/man1 sapwood.1)
  sapwood_generate(bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions sapwood)
  sapwood_generate(zsh ${CMAKE_INSTALL_DATADIR}/zsh/site-functions _sapwood)
  sapwood_generate(fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d sapwood.fish)
  add_custom_target(sapwood_manual ALL
    DEPENDS manual/sapwood.man manual/sapwood.bash manual/sapwood.zsh manual/sapwood.fish)
endif()

install(EXPORT sapwood NAMESPACE sapwood:: FILE sapwoodTargets.cmake DESTINATION ${sapwood_package_dir})
configure_package_config_file(packaging/sapwoodConfig.cmake.in sapwoodConfig.cmake
  INSTALL_DESTINATION ${sapwood_package_dir})
# Before 1.0 a minor version may change what programs see.
write_basic_package_version_file(sapwoodConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sapwoodConfig.cmake ${PROJECT_BINARY_DIR}/sapwoodConfigVersion.cmake
  DESTINATION ${sapwood_package_dir})

file(RELATIVE_PATH sapwood_pc_up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(sapwood_pc_private -lm)
if((SAPWOOD_HAVE_GL OR CMAKE_SYSTEM_NAME STREQUAL "Linux") AND CMAKE_DL_LIBS) # EGL and NCCL are loaded
  list(APPEND sapwood_pc_private -l${CMAKE_DL_LIBS})
endif()
if(SAPWOOD_HAVE_THREADS)
  list(APPEND sapwood_pc_private -pthread)
endif()
if(SAPWOOD_HAVE_ZLIB)
  list(APPEND sapwood_pc_private -lz)
endif()
if(SAPWOOD_HAVE_CUDA)
  list(APPEND sapwood_pc_private -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lstdc++ -lrt -lpthread -ldl)
endif()
list(JOIN sapwood_pc_private " " sapwood_pc_private)
# Where there is no shared library, whoever links needs what it would have linked.
set(sapwood_pc_also)
set(sapwood_pc_static)
if(NOT TARGET sapwood)
  set(sapwood_pc_also " ${sapwood_pc_private}")
  set(sapwood_pc_static " -DSAPWOOD_STATIC")
endif()
configure_file(packaging/sapwood.pc.in sapwood.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sapwood.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(SAPWOOD_HAVE_MPI)
  configure_file(packaging/sapwood_mpi.pc.in sapwood_mpi.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/sapwood_mpi.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
install(FILES LICENSE README.md CHANGELOG.md TYPE DOC)
install(FILES third_party/cgltf/LICENSE TYPE DOC RENAME LICENSE.cgltf)
