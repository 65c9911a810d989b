# cmake --install: libraries, headers, command, CMake package, pkg-config file. cpack: one .deb.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS heddle heddle_static EXPORT heddle_targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/heddle"
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "*.def" PATTERN "*.ipp")
if(TARGET heddle_cli)
  install(TARGETS heddle_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# CMake package.
set(heddle_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)
install(EXPORT heddle_targets NAMESPACE heddle:: DESTINATION ${heddle_package_dir}
  FILE heddleTargets.cmake)
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
  DESTINATION ${heddle_package_dir})

# pkg-config file, relative to its own place: cmake --install --prefix may move the tree.
file(RELATIVE_PATH heddle_pc_to_prefix
  "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
configure_file("${PROJECT_SOURCE_DIR}/cmake/heddle.pc.in"
  "${PROJECT_BINARY_DIR}/generated/heddle.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/generated/heddle.pc"
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION ${CMAKE_INSTALL_DOCDIR}
  RENAME copyright)

# The package: runtime, headers and command in one.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME libheddle)
set(CPACK_PACKAGE_VENDOR "heddle")
set(CPACK_PACKAGE_CONTACT "The heddle authors <heddle@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION
"Fork-join, loops, task groups, user-level threads and their synchronisation
for C++20 programs on Linux, scheduled by exchangeable policies. Holds the
shared and the static library, the headers and the command heddle.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# The static library is linked by name against these.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libhwloc-dev")
include(CPack)
