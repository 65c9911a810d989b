# The simulated platform: the same floors compiled once more with HEDDLE_SIM, over src/platform/sim. Two shared libraries
# with the soname of libheddle, which `heddle sim` puts in its place: heddle_sim, and heddle_explore, in which every atomic
# operation of the protocols is a scheduling point. Their static forms are for tests.

heddle_glob(platform_sim_sources src/platform/sim/*.cpp)
# What simulated kernel threads share with real ones.
list(APPEND platform_sim_sources src/platform/linux/affinity.cpp src/platform/linux/memory.cpp src/platform/linux/readiness.cpp src/platform/linux/signals.cpp)
heddle_glob(sim_preload_sources sim/preload/*.cpp)

# The protocols between workers, compiled a second time for the explorer.
set(protocol_sources ${core_sources})
list(FILTER protocol_sources INCLUDE REGEX "^src/(queue|worker|task|wait|policy)/")
set(unwoven_sources ${core_sources})
list(REMOVE_ITEM unwoven_sources ${protocol_sources})
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(HEDDLE_EXPLORE_FLAGS -fsanitize=thread -U__SANITIZE_THREAD__ -Wno-tsan --param tsan-instrument-func-entry-exit=0)
else()
  set(HEDDLE_EXPLORE_FLAGS -fsanitize=thread -Wno-tsan
    "SHELL:-mllvm -tsan-instrument-memory-accesses=0" "SHELL:-mllvm -tsan-instrument-func-entry-exit=0")
endif()

heddle_add_objects(heddle_unwoven_sim ${unwoven_sources})
heddle_add_objects(heddle_protocols_sim ${protocol_sources})
heddle_add_objects(heddle_protocols_explore ${protocol_sources})
target_compile_options(heddle_protocols_explore PRIVATE ${HEDDLE_EXPLORE_FLAGS})
heddle_add_objects(heddle_explore_atomics sim/explore/atomics.cpp)
heddle_add_objects(heddle_platform_sim ${platform_sim_sources} sim/session.cpp sim/figures.cpp)
heddle_add_objects(heddle_sim_preload ${sim_preload_sources})
foreach(part IN ITEMS unwoven_sim protocols_sim protocols_explore explore_atomics platform_sim sim_preload)
  target_compile_definitions(heddle_${part} PRIVATE HEDDLE_SIM=1)
  target_include_directories(heddle_${part} PRIVATE "${PROJECT_SOURCE_DIR}")
endforeach()

set(sim_objects $<TARGET_OBJECTS:heddle_unwoven_sim> $<TARGET_OBJECTS:heddle_platform_sim> $<TARGET_OBJECTS:heddle_sim_model>)
set(objects_of_sim $<TARGET_OBJECTS:heddle_protocols_sim> ${sim_objects})
# The explorer's first: of inline functions that occur in both the instrumented copies are kept.
# Its tests have virtual clocks in the C library's place, as a simulated program has.
set(more_of_sim_static "")
set(more_of_explore_static $<TARGET_OBJECTS:heddle_sim_preload>)
set(objects_of_explore $<TARGET_OBJECTS:heddle_protocols_explore> $<TARGET_OBJECTS:heddle_explore_atomics> ${sim_objects})
foreach(kind IN ITEMS sim explore)
  add_library(heddle_${kind} SHARED ${objects_of_${kind}} $<TARGET_OBJECTS:heddle_sim_preload>)
  set_target_properties(heddle_${kind} PROPERTIES
    OUTPUT_NAME heddle LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${kind}"
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    LINKER_LANGUAGE CXX)
  target_link_libraries(heddle_${kind} PRIVATE heddle_model Threads::Threads hwloc ${CMAKE_DL_LIBS})
  target_link_options(heddle_${kind} PRIVATE -Wl,--as-needed -Wl,-z,defs -Wl,-z,nodelete -Wl,--exclude-libs,ALL)

  add_library(heddle_${kind}_static STATIC EXCLUDE_FROM_ALL ${objects_of_${kind}} ${more_of_${kind}_static})
  set_target_properties(heddle_${kind}_static PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(heddle_${kind}_static PUBLIC
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}")
  target_compile_features(heddle_${kind}_static PUBLIC cxx_std_20)
  target_compile_definitions(heddle_${kind}_static PUBLIC HEDDLE_SIM=1)
  target_link_libraries(heddle_${kind}_static PUBLIC heddle_model Threads::Threads hwloc ${CMAKE_DL_LIBS})
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

# The runtime with one mistake each, which a test of tests/sim_explore has to find: a source with some text replaced, linked before the library.
# heddle_mutant(<test> <source> <name> <text> <replacement> [<text> <replacement>]...), ~ for a semicolon and ^ for the end of a line
function(heddle_mutant of source name)
  set(original "${PROJECT_SOURCE_DIR}/src/${source}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${original}")
  file(READ "${original}" text)
  set(number 3)
  while(number LESS ARGC)
    math(EXPR next "${number} + 1")
    set(from "${ARGV${number}}")
    set(to "${ARGV${next}}")
    foreach(side IN ITEMS from to)
      string(REPLACE "~" ";" ${side} "${${side}}")
      string(REPLACE "^" "\n" ${side} "${${side}}")
    endforeach()
    string(FIND "${text}" "${from}" place)
    if(place EQUAL -1)
      message(FATAL_ERROR "tests/sim_explore: src/${source} has no '${from}' any more: bring the mutant ${name} in "
                          "cmake/heddle_sim.cmake up to date")
    endif()
    string(REPLACE "${from}" "${to}" text "${text}")
    math(EXPR number "${number} + 2")
  endwhile()
  set(mutated "${CMAKE_CURRENT_BINARY_DIR}/mutants/${of}_${name}.cpp")
  file(CONFIGURE OUTPUT "${mutated}" CONTENT "${text}" @ONLY)
  set(test sim_explore_${of}_without_${name})
  add_executable(${test} "${PROJECT_SOURCE_DIR}/tests/sim_explore/${of}_test.cpp" "${mutated}")
  set_target_properties(${test} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  target_include_directories(${test} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(${test} PRIVATE HEDDLE_MUTANT="${name}")
  target_compile_options(${test} PRIVATE ${HEDDLE_WARNINGS})
  target_link_libraries(${test} PRIVATE heddle_sim_explore_library GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME ${test} COMMAND ${test})
  set_tests_properties(${test} PROPERTIES LABELS sim_explore TIMEOUT 300)
endfunction()
if(HEDDLE_TESTS)
  enable_testing()
  heddle_mutant(preempt worker/preempt.cpp look_at_off "if (self.off.load(std::memory_order_relaxed))" "if (false)")
  heddle_mutant(preempt worker/preempt.cpp bound_before_ready "  p.bound = &mine~^" "" "  set_current_queue(&p)~" "  p.bound = &mine~^  set_current_queue(&p)~")
  heddle_mutant(preempt worker/preempt.cpp worker_before_signal "  to.assigned = &w~^" "" "  else platform::wake_one(to.signal)~" "  else platform::wake_one(to.signal)~^  to.assigned = &w~")
  heddle_mutant(preempt worker/preempt.cpp signal_taken_back "  mine.signal.store(0)~^" "")
  heddle_mutant(groups task/group.cpp whose_child "if (child->group == &group) return child~" "return child~")
  heddle_mutant(groups task/group.cpp count_for_others "if (counted) group.outstanding.fetch_add(1)~^  else ++group.owed~" "if (!counted) ++group.owed~")
  heddle_mutant(groups task/group.cpp counting_last "  child.call(child.room)~^  child.counted = false~" "  detail::count_end(group)~^  child.call(child.room)~^  child.counted = false~"
                "  detail::free_child(child)~^  detail::count_end(group)~" "  detail::free_child(child)~")
  heddle_mutant(greed worker/idle.cpp passing_the_search_on "home.pass_search_on(rank, listed)~" "static_cast<void>(listed)~")
  heddle_mutant(greed worker/idle.cpp last_look " || home.scheduler_policy().may_find(rank)~" "~")
  heddle_mutant(greed worker/worker.cpp standing_requests "if (home.has_sleeping_thief(rank)) queue::stand(*this)~" "")
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
