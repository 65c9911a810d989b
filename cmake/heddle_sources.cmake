# Source lists by glob, object libraries from them, and the instruction set chosen.

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  set(HEDDLE_ISA x86_64)
  set(HEDDLE_OTHER_ISA aarch64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(HEDDLE_ISA aarch64)
  set(HEDDLE_OTHER_ISA x86_64)
else()
  message(FATAL_ERROR "heddle has no context switch for ${CMAKE_SYSTEM_PROCESSOR}: "
                      "x86-64 and AArch64 are supported")
endif()

# heddle_glob(<variable> <pattern>...): searched in subfolders too; paths relative to the root, so
# that a filter on them never meets a name above the root.
function(heddle_glob variable)
  list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/")
  file(GLOB_RECURSE found RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS ${ARGN})
  list(SORT found)
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

# heddle_add_objects(<target> [PRECOMPILED <name> | LIKE <other>] <source>...): an object library with the flags of the
# library, and with cmake/precompiled/<name>.hpp parsed for it, or what has been parsed for another target of the same
# flags; with neither it shares what has been parsed once for all such.
# With no source yet it holds one empty file, for a target must have one.
function(heddle_add_objects target)
  cmake_parse_arguments(objects "" "PRECOMPILED;LIKE" "" ${ARGN})
  set(sources ${objects_UNPARSED_ARGUMENTS})
  if(NOT sources)
    set(sources "${PROJECT_BINARY_DIR}/generated/${target}_empty.cpp")
    if(NOT EXISTS "${sources}")
      file(WRITE "${sources}" "")
    endif()
  endif()
  add_library(${target} OBJECT ${sources})
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden
    C_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${target} PRIVATE
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  target_compile_options(${target} PRIVATE ${HEDDLE_WARNINGS} $<$<COMPILE_LANGUAGE:C,CXX>:-fno-plt>)
  target_compile_definitions(${target} PRIVATE
    HEDDLE_VERSION_STRING="${PROJECT_VERSION}")
  target_link_libraries(${target} PRIVATE Threads::Threads)
  if(objects_PRECOMPILED)
    heddle_precompile(${target} ${objects_PRECOMPILED})
  elseif(objects_LIKE)
    heddle_precompile_as(${target} ${objects_LIKE})
  else()
    heddle_precompile_as(${target} heddle_library_headers)
  endif()
endfunction()

# heddle_unite(<target> <most> <source>...): sources of one folder (of src/, of tools/) are compiled together, at most so many at
# a time; their headers are parsed once, and what these leave to be instantiated is instantiated once.
function(heddle_unite target most)
  foreach(source IN LISTS ARGN)
    string(REPLACE "${PROJECT_SOURCE_DIR}/" "" folder "${source}")
    string(REGEX MATCH "^[a-z]+(/[a-z]+)?/" folder "${folder}")
    string(REPLACE "/" "_" folder "${folder}")
    math(EXPR batch "0${${folder}_count} / ${most}")
    math(EXPR ${folder}_count "0${${folder}_count} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}${batch}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
