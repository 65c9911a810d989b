# The simulated platform: the same floors compiled once more with HEDDLE_SIM, over src/platform/sim. Two shared libraries
# with the soname of libheddle, which `heddle sim` puts in its place: heddle_sim, and heddle_explore, in which every atomic
# operation of the protocols is a scheduling point. Their static forms are for tests.

heddle_glob(platform_sim_sources src/platform/sim/*.cpp)
# What simulated kernel threads share with real ones.
list(APPEND platform_sim_sources src/platform/linux/affinity.cpp src/platform/linux/memory.cpp src/platform/linux/readiness.cpp
  src/platform/linux/shared_object.cpp src/platform/linux/signals.cpp)
heddle_glob(sim_preload_sources sim/preload/*.cpp)

# The protocols between workers, compiled a second time for the explorer.
set(protocol_sources ${core_sources})
list(FILTER protocol_sources INCLUDE REGEX "^src/(sync|queue|worker|task|wait|loop|windows|policy)/")
set(unwoven_sources ${core_sources})
list(REMOVE_ITEM unwoven_sources ${protocol_sources})
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(HEDDLE_EXPLORE_FLAGS -fsanitize=thread -U__SANITIZE_THREAD__ -Wno-tsan --param tsan-instrument-func-entry-exit=0)
else()
  set(HEDDLE_EXPLORE_FLAGS -fsanitize=thread -Wno-tsan
    "SHELL:-mllvm -tsan-instrument-memory-accesses=0" "SHELL:-mllvm -tsan-instrument-func-entry-exit=0")
endif()

heddle_add_objects(heddle_unwoven_sim ${unwoven_sources})
heddle_add_objects(heddle_protocols_sim PRECOMPILED runtime ${protocol_sources})
# A dozen sources at once take about a third of the time. Not so in the real library, where a function that reads a variable
# of its kernel thread must not become a part of one that switches; here there is one kernel thread.
set_target_properties(heddle_protocols_sim PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
# In the explorer's, too, but for the sources that mutants stand in for, below: these are objects of their own.
# A patch of tests/sim_explore/mutants/<test>/ is a mutant; its first file is the source.
file(GLOB mutants CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/sim_explore/mutants/*/*.patch")
set(mutated_sources "")
foreach(mutant IN LISTS mutants)
  file(STRINGS "${mutant}" source REGEX "^--- a/" LIMIT_COUNT 1)
  string(REGEX REPLACE "^--- a/" "" source "${source}")
  list(APPEND mutated_sources "${source}")
endforeach()
list(REMOVE_DUPLICATES mutated_sources)
list(FILTER mutated_sources INCLUDE REGEX "^src/.*[.]cpp$")
set(other_sources ${protocol_sources})
list(REMOVE_ITEM other_sources ${mutated_sources})
heddle_add_objects(heddle_protocols_explore PRECOMPILED runtime ${other_sources})
set_target_properties(heddle_protocols_explore PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
heddle_add_objects(heddle_mutated_explore LIKE heddle_protocols_explore ${mutated_sources})
foreach(part IN ITEMS protocols mutated)
  target_compile_options(heddle_${part}_explore PRIVATE ${HEDDLE_EXPLORE_FLAGS})
  heddle_compile_fast(heddle_${part}_explore)
endforeach()
heddle_add_objects(heddle_explore_atomics sim/explore/atomics.cpp)
heddle_add_objects(heddle_platform_sim ${platform_sim_sources} sim/session.cpp sim/figures.cpp)
set_target_properties(heddle_platform_sim PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 9)
heddle_add_objects(heddle_sim_preload ${sim_preload_sources})
foreach(part IN ITEMS unwoven_sim protocols_sim protocols_explore mutated_explore explore_atomics platform_sim sim_preload)
  target_compile_definitions(heddle_${part} PRIVATE HEDDLE_SIM=1)
  target_include_directories(heddle_${part} PRIVATE "${PROJECT_SOURCE_DIR}")
endforeach()

# The machine files are in them as well: they need the core and the core needs them, which two archives after each other on a
# linker's line cannot give.
set(sim_objects $<TARGET_OBJECTS:heddle_common> $<TARGET_OBJECTS:heddle_topology> $<TARGET_OBJECTS:heddle_unwoven_sim> $<TARGET_OBJECTS:heddle_platform_sim>
  $<TARGET_OBJECTS:heddle_sim_model> $<TARGET_OBJECTS:heddle_model_objects> ${heddle_fmt_objects})
set(objects_of_sim $<TARGET_OBJECTS:heddle_protocols_sim> ${sim_objects})
# The explorer's first: of inline functions that occur in both the instrumented copies are kept.
# Its tests have virtual clocks in the C library's place, as a simulated program has.
set(more_of_sim_static "")
set(more_of_explore_static $<TARGET_OBJECTS:heddle_sim_preload>)
set(objects_of_explore $<TARGET_OBJECTS:heddle_protocols_explore> $<TARGET_OBJECTS:heddle_mutated_explore>
  $<TARGET_OBJECTS:heddle_explore_atomics> ${sim_objects})
foreach(kind IN ITEMS sim explore)
  add_library(heddle_${kind} SHARED ${objects_of_${kind}} $<TARGET_OBJECTS:heddle_sim_preload>)
  set_target_properties(heddle_${kind} PROPERTIES
    OUTPUT_NAME heddle LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${kind}"
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    LINKER_LANGUAGE CXX)
  target_link_libraries(heddle_${kind} PRIVATE Threads::Threads hwloc ${CMAKE_DL_LIBS})
  target_link_options(heddle_${kind} PRIVATE -Wl,--as-needed -Wl,-z,defs -Wl,-z,nodelete -Wl,--exclude-libs,ALL)

  add_library(heddle_${kind}_static STATIC EXCLUDE_FROM_ALL ${objects_of_${kind}} ${more_of_${kind}_static})
  set_target_properties(heddle_${kind}_static PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(heddle_${kind}_static PUBLIC
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}")
  target_compile_features(heddle_${kind}_static PUBLIC cxx_std_20)
  target_compile_definitions(heddle_${kind}_static PUBLIC HEDDLE_SIM=1)
  target_link_libraries(heddle_${kind}_static PUBLIC Threads::Threads hwloc ${CMAKE_DL_LIBS})
  if(HEDDLE_INSTALL)
    include(GNUInstallDirs)
    install(TARGETS heddle_${kind} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/heddle/${kind} COMPONENT tools NAMELINK_SKIP)
  endif()
endforeach()

# tests/sim_platform/ and tests/sim_theory/ are linked with the simulated platform, tests/sim_explore/ with scheduling points at its own atomic
# operations, too; tests/sim/ runs the command on programs.
add_library(heddle_sim_platform_library INTERFACE)
target_link_libraries(heddle_sim_platform_library INTERFACE heddle_sim_static)
add_library(heddle_sim_theory_library INTERFACE)
target_link_libraries(heddle_sim_theory_library INTERFACE heddle_sim_static)
add_library(heddle_sim_explore_library INTERFACE)
target_link_libraries(heddle_sim_explore_library INTERFACE heddle_explore_static)
target_compile_options(heddle_sim_explore_library INTERFACE ${HEDDLE_EXPLORE_FLAGS})

function(heddle_as_mutant target)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(${target} PRIVATE HEDDLE_MUTANT)
  target_compile_options(${target} PRIVATE ${HEDDLE_WARNINGS})
  heddle_compile_fast(${target})
  target_link_libraries(${target} PRIVATE
    heddle_tests_explore heddle_sim_explore_library GTest::gtest GTest::gmock)
endfunction()
# The runtime with one mistake each, which a test of tests/sim_explore has to find: a source to which a patch has been applied,
# linked before the library; or a header, of src/ or include/, which the test alone is compiled with. The target `mutants` builds
# them all. Those whose patch begins with "# every run" belong to tests_sim_explore; the others have the label mutants.
function(heddle_mutant patch)
  string(REGEX MATCH "([a-z_]+)/([a-z_]+)[.]patch$" name "${patch}")
  set(of ${CMAKE_MATCH_1})
  set(test sim_explore_${of}_without_${CMAKE_MATCH_2})
  file(STRINGS "${patch}" source REGEX "^--- a/" LIMIT_COUNT 1)
  file(STRINGS "${patch}" first LIMIT_COUNT 1)
  string(REGEX REPLACE "^--- a/" "" source "${source}")
  set(original "${PROJECT_SOURCE_DIR}/${source}")
  if(NOT EXISTS "${original}")
    message(NOTICE "${patch}: ${source} is gone, the mutant is left out")   # sim_explore_mutants_apply fails
    return()
  endif()
  string(REGEX REPLACE "^(src|include)/" "" inside "${source}")
  set(folder "${PROJECT_BINARY_DIR}/mutants/${test}")
  get_filename_component(made "${folder}/${inside}" DIRECTORY)
  file(MAKE_DIRECTORY "${made}")
  add_custom_command(OUTPUT "${folder}/${inside}"
    COMMAND "${HEDDLE_PATCH}" --quiet --force "--output=${folder}/${inside}" "${original}" "${patch}"
    DEPENDS "${original}" "${patch}" COMMENT "Mutant ${test}" VERBATIM)
  if(source MATCHES "[.]hpp$")
    add_executable(${test} EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/tests/sim_explore/${of}_test.cpp" "${folder}/${inside}")
    target_include_directories(${test} BEFORE PRIVATE "${folder}")
    heddle_as_mutant(${test})
  else()
    set(scenarios sim_explore_${of}_scenarios)  # compiled once for all of them
    if(NOT TARGET ${scenarios})
      add_library(${scenarios} OBJECT EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/tests/sim_explore/${of}_test.cpp")
      heddle_as_mutant(${scenarios})
      heddle_precompile_as(${scenarios} heddle_tests_explore)
    endif()
    heddle_add_objects(${test}_source LIKE heddle_protocols_explore "${folder}/${inside}")
    set_target_properties(${test}_source PROPERTIES EXCLUDE_FROM_ALL ON)
    target_compile_definitions(${test}_source PRIVATE HEDDLE_SIM=1)
    target_compile_options(${test}_source PRIVATE ${HEDDLE_EXPLORE_FLAGS})
    heddle_compile_fast(${test}_source)
    add_executable(${test} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${scenarios}> $<TARGET_OBJECTS:${test}_source>)
    target_link_libraries(${test} PRIVATE heddle_tests_explore heddle_sim_explore_library GTest::gtest GTest::gmock)
  endif()
  set_target_properties(${test} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests" LINKER_LANGUAGE CXX)
  add_test(NAME ${test} COMMAND ${test})
  set(label mutants)
  add_dependencies(mutants ${test})
  if(first STREQUAL "# every run")
    set(label sim_explore)
    add_dependencies(tests_sim_explore ${test})
  endif()
  set_tests_properties(${test} PROPERTIES LABELS ${label} TIMEOUT 300)
endfunction()
if(HEDDLE_TESTS)
  enable_testing()
  heddle_add_test_support(explore ${HEDDLE_EXPLORE_FLAGS})
  target_compile_definitions(heddle_tests_explore PRIVATE HEDDLE_SIM=1)
  heddle_compile_fast(heddle_tests_explore)
  add_custom_target(mutants)
  add_custom_target(tests_sim_explore)
  find_program(HEDDLE_PATCH patch)
  if(HEDDLE_PATCH)
    foreach(mutant IN LISTS mutants)
      heddle_mutant("${mutant}")
    endforeach()
    add_test(NAME sim_explore_mutants_apply COMMAND "${PROJECT_SOURCE_DIR}/tests/sim_explore/mutants/apply.sh")
    set_tests_properties(sim_explore_mutants_apply PROPERTIES LABELS sim_explore TIMEOUT ${HEDDLE_TEST_TIMEOUT})
  else()
    message(STATUS "tests/sim_explore: no program patch, the mutants are left out")
  endif()
endif()

if(HEDDLE_TESTS AND HEDDLE_CLI)
  add_custom_target(tests_sim_needs DEPENDS heddle_sim heddle_explore)
  heddle_glob(sim_program_sources tests/sim/programs/*.cpp)
  foreach(source IN LISTS sim_program_sources)
    get_filename_component(name "${source}" NAME_WE)
    add_executable(sim_program_${name} EXCLUDE_FROM_ALL "${source}")
    set_target_properties(sim_program_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/sim_programs" OUTPUT_NAME ${name})
    target_compile_options(sim_program_${name} PRIVATE ${HEDDLE_WARNINGS})
    target_link_libraries(sim_program_${name} PRIVATE heddle)
    add_dependencies(tests_sim_needs sim_program_${name})
  endforeach()
endif()
