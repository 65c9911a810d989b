# Build type, compiler flags, sanitizers, compiler cache.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo, MinSizeRel" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(HEDDLE_CCACHE ccache)
if(HEDDLE_CCACHE AND PROJECT_IS_TOP_LEVEL)
  foreach(lang C CXX)
    if(NOT CMAKE_${lang}_COMPILER_LAUNCHER)
      # It looks a source up by the content of its precompiled header, and may: nothing here asks for the time of day.
      # Comments count: gcc reads a header a second time if it differs, by a comment alone, from the one that was
      # precompiled. ccache remembers the digest of a file by its inode; otherwise it reads a precompiled header, of up to
      # 150 MB, again for every source.
      set(CMAKE_${lang}_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
        "CCACHE_SLOPPINESS=pch_defines,time_macros" "CCACHE_COMMENTS=1" "CCACHE_INODECACHE=1" "${HEDDLE_CCACHE}")
    endif()
  endforeach()
endif()

# heddle_precompile(<target> <name>): cmake/precompiled/<name>.hpp, or a header by its absolute name, is parsed once for all
# sources of the target, which takes more than half of their time otherwise. The code compiled is the same.
# CMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without.
# heddle_precompile_as(<target> <other>): the same with what has been parsed for another target, of the same flags.
function(heddle_precompile target name)
  if(NOT IS_ABSOLUTE "${name}")
    set(name "${PROJECT_SOURCE_DIR}/cmake/precompiled/${name}.hpp")
  endif()
  target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${name}>")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)   # or ccache does not see it
  endif()
endfunction()
function(heddle_precompile_as target other)
  target_precompile_headers(${target} REUSE_FROM ${other})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endfunction()

set(HEDDLE_WARNINGS $<$<COMPILE_LANGUAGE:C,CXX>:-Wall> $<$<COMPILE_LANGUAGE:C,CXX>:-Wextra>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False at every `"text" + string` (GCC bug 105651).
  list(APPEND HEDDLE_WARNINGS $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()

# Sanitizers go to every target of the build: half instrumented programs report what is not there.
set(HEDDLE_SANITIZE_FLAGS "")
if(HEDDLE_SANITIZE MATCHES "^(address|undefined|address,undefined)$")
  set(HEDDLE_SANITIZE_FLAGS -fsanitize=${HEDDLE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
elseif(HEDDLE_SANITIZE STREQUAL "thread")
  set(HEDDLE_SANITIZE_FLAGS -fsanitize=thread)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # gcc warns at each stand-alone fence that it does not model it. The fences here serve
    # store-load patterns only, which need no happens-before edge.
    list(APPEND HEDDLE_SANITIZE_FLAGS -Wno-tsan)
  endif()
elseif(HEDDLE_SANITIZE)
  message(FATAL_ERROR "HEDDLE_SANITIZE=${HEDDLE_SANITIZE}: address, undefined, address,undefined, thread or empty")
endif()

add_compile_options(${HEDDLE_SANITIZE_FLAGS})
add_link_options(${HEDDLE_SANITIZE_FLAGS})
if(HEDDLE_AUDIT)
  # Headers change with it, so consumers in the same build see it too.
  add_compile_definitions(HEDDLE_AUDIT=1)
endif()

# heddle_compile_fast(<target>): for code that is never measured, such as the command. In optimised builds -O1 compiles it in
# two thirds of the time of -O3.
function(heddle_compile_fast target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# heddle_compile_plainly(<target>): for tests of what is in a library. -O0 takes half of the time of -O1.
function(heddle_compile_plainly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
endfunction()

# heddle_add_test_support(<kind> <option>...): heddle_tests_<kind> has what is compiled once for all tests of the same flags,
# their headers among it. Only sources that need no other library than the test's own: it is linked to every test.
function(heddle_add_test_support kind)
  heddle_glob(sources tests/support/*.cpp)
  add_library(heddle_tests_${kind} STATIC ${sources})
  target_include_directories(heddle_tests_${kind} PRIVATE
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests" "${PROJECT_SOURCE_DIR}")
  target_link_libraries(heddle_tests_${kind} PRIVATE Threads::Threads GTest::gtest GTest::gmock)
  target_compile_options(heddle_tests_${kind} PRIVATE ${HEDDLE_WARNINGS} ${ARGN})
  heddle_precompile(heddle_tests_${kind} tests)
endfunction()
