# cmake --install: libraries, headers, command, CMake package, pkg-config file, guide. cpack: Debian packages, one a component:
#   library      libheddle0.1      the shared library
#   development  libheddle-dev     headers, static library, CMake package, pkg-config file, examples
#   tools        heddle            the command, the simulated platform, heddle's benchmark programs, guide, manual page
#   rivals       heddle-rivals     benchmark programs of the runtimes that heddle is compared with
# and one of debug symbols for each that has code (preset `package`; `make package`).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS heddle_policies LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_SKIP)
install(TARGETS heddle heddle_static EXPORT heddle_targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/heddle"
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "*.def" PATTERN "*.ipp")

# gdb's commands. A gdb of the system looks for the second file when a program loads the library that the package has put below /usr.
install(FILES "${PROJECT_SOURCE_DIR}/scripts/gdb/heddle.py" DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle/gdb COMPONENT library)
install(FILES "${PROJECT_SOURCE_DIR}/scripts/gdb/heddle.py" COMPONENT library
  DESTINATION "${CMAKE_INSTALL_DATADIR}/gdb/auto-load/usr/${CMAKE_INSTALL_LIBDIR}" RENAME libheddle.so.${PROJECT_VERSION}-gdb.py)

# CMake package.
set(heddle_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)
install(EXPORT heddle_targets NAMESPACE heddle:: DESTINATION ${heddle_package_dir}
  FILE heddleTargets.cmake COMPONENT development)
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/heddleConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/generated/heddleConfig.cmake"
  INSTALL_DESTINATION ${heddle_package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/generated/heddleConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/generated/heddleConfig.cmake"
  "${PROJECT_BINARY_DIR}/generated/heddleConfigVersion.cmake"
  DESTINATION ${heddle_package_dir} COMPONENT development)

# pkg-config file, relative to its own place: cmake --install --prefix may move the tree.
file(RELATIVE_PATH heddle_pc_to_prefix
  "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
set(heddle_pc_sanitize "")
if(HEDDLE_SANITIZE)
  set(heddle_pc_sanitize " -fsanitize=${HEDDLE_SANITIZE}")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/heddle.pc.in"
  "${PROJECT_BINARY_DIR}/generated/heddle.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/generated/heddle.pc"
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# A program is to be compiled with the sanitizer that the library has.
if(HEDDLE_SANITIZE)
  foreach(lib heddle heddle_static)
    target_compile_options(${lib} INTERFACE $<INSTALL_INTERFACE:-fsanitize=${HEDDLE_SANITIZE}>)
    target_link_options(${lib} INTERFACE $<INSTALL_INTERFACE:-fsanitize=${HEDDLE_SANITIZE}>)
  endforeach()
endif()

set(heddle_doc ${CMAKE_INSTALL_DATADIR}/doc)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples/" DESTINATION ${heddle_doc}/libheddle-dev/examples COMPONENT development
  FILES_MATCHING PATTERN "*.cpp" PATTERN "*.hpp" PATTERN "*.c")
set(heddle_components library development)
if(TARGET heddle_cli)
  list(APPEND heddle_components tools)
  install(TARGETS heddle_cli heddle_paper RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  install(FILES "${PROJECT_SOURCE_DIR}/cli/completion.bash" RENAME heddle COMPONENT tools
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/guide" DESTINATION ${heddle_doc}/heddle COMPONENT tools)
  if(NOT CMAKE_CROSSCOMPILING)   # the command writes its own manual page
    set(heddle_man "${PROJECT_BINARY_DIR}/generated/heddle.1")
    add_custom_command(OUTPUT "${heddle_man}" COMMAND sh -c "$<TARGET_FILE:heddle_cli> help man > ${heddle_man}"
      DEPENDS heddle_cli heddle_paper COMMENT "Writing the manual page" VERBATIM)
    add_custom_target(heddle_manual ALL DEPENDS "${heddle_man}")
    install(FILES "${heddle_man}" DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
  endif()
  if(HEDDLE_BENCH)
    list(APPEND heddle_components rivals)
  endif()
endif()

# The packages.
set(heddle_soname_package libheddle${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(heddle_package_library ${heddle_soname_package})
set(heddle_package_development libheddle-dev)
set(heddle_package_tools heddle)
set(heddle_package_rivals heddle-rivals)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME heddle)
set(CPACK_PACKAGE_VENDOR "heddle")
set(CPACK_PACKAGE_CONTACT "The heddle authors <heddle@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL ${heddle_components})
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}")   # where the tools find the library before it is installed
set(CPACK_DEBIAN_LIBRARY_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${heddle_soname_package} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "libhwloc-dev")              # the static library is linked by name against it
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "${heddle_soname_package} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_RIVALS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_RIVALS_PACKAGE_DEPENDS "heddle (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "runtime for nested parallel programs: shared library
Fork-join, loops, task groups, user-level threads and their synchronisation
for C++20 programs on Linux, scheduled by exchangeable policies.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "runtime for nested parallel programs: headers and static library
With CMake package, pkg-config file and examples.")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "runtime for nested parallel programs: the command heddle
Shows the machine, runs benchmarks and experiments, traces programs, and runs
them on modelled machines. With the guide.")
set(CPACK_COMPONENT_RIVALS_DESCRIPTION "benchmark programs of other runtimes, for heddle bench
Linked with TBB, LLVM's and GNU's OpenMP and Boost.Fiber, as far as those were
there when the package was made.")
foreach(component IN LISTS heddle_components)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${heddle_package_${component}})
  if(CMAKE_CXX_FLAGS MATCHES "-g( |$)" AND NOT component STREQUAL "rivals" AND NOT component STREQUAL "development")
    set(CPACK_DEBIAN_${upper}_DEBUGINFO_PACKAGE ON)
  endif()
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION ${heddle_doc}/${heddle_package_${component}}
    COMPONENT ${component} RENAME copyright)
endforeach()
include(CPack)
