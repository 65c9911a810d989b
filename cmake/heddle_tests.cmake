# tests/<area>/<name>_test.cpp -> CTest test <area>_<name>_test, label <area>. The files of an area are compiled some at a time
# into one program, <area>_tests, which runs those files that its arguments name (tests/support/main.cpp).

# Their programs differ from those of the other tests of their area as a whole: the first two put functions of their own in the
# place of the C library's, the third declares what its loops cost, the fourth sets the environment of OpenMP.
set(HEDDLE_TESTS_ALONE tests/fault/injection_test.cpp tests/fiber/guards_test.cpp tests/windows/window_sample_test.cpp
  tests/omp/variables_test.cpp)
# Declarations of their own, or other flags.
set_source_files_properties("${PROJECT_SOURCE_DIR}/tests/omp/atomic_test.cpp" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# A third kind is in heddle_sim.cmake.
heddle_add_test_support(measured)
heddle_add_test_support(fast)
heddle_compile_fast(heddle_tests_fast)
heddle_add_test_support(plain)
heddle_compile_plainly(heddle_tests_plain)

# heddle_add_test_program(<program> <area> <source>...)
# Links the static library, so that what is not exported can be tested.
function(heddle_add_test_program program area)
  add_executable(${program} ${ARGN})
  target_include_directories(${program} PRIVATE
    "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests" "${PROJECT_SOURCE_DIR}")
  target_compile_options(${program} PRIVATE ${HEDDLE_WARNINGS})
  target_compile_definitions(${program} PRIVATE HEDDLE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set(library heddle_static)
  if(TARGET heddle_${area}_library)   # another platform under the test
    set(library heddle_${area}_library)
  endif()
  # The areas of lock-free code are always optimised fully. Where the inline parts of fork, join and waits are the subject,
  # -O1 inlines them, and `make nightly` compiles them as users do (HEDDLE_TESTS_AS_USERS). Elsewhere what is tested is in a
  # library, and -O0 takes half of the time of -O1.
  set(measured_areas "^(fiber|queue|sync|stress)$")
  if(HEDDLE_TESTS_AS_USERS)
    set(measured_areas "^(loop|windows|task|wait|worker|fiber|queue|sync|stress)$")
  endif()
  set(kind plain)
  if(area MATCHES "${measured_areas}")
    set(kind measured)
  elseif(area STREQUAL "sim_explore")
    set(kind explore)
  elseif(area MATCHES "^(loop|task|wait|windows|worker)$")
    set(kind fast)
  endif()
  if(kind STREQUAL "plain")
    heddle_compile_plainly(${program})
  elseif(NOT kind STREQUAL "measured")
    heddle_compile_fast(${program})
  endif()
  heddle_precompile_as(${program} heddle_tests_${kind})
  target_link_libraries(${program} PRIVATE heddle_tests_${kind} ${library} heddle_fmt GTest::gtest GTest::gmock)
  set_target_properties(${program} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests" UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 18)
  if(area MATCHES "^(cli|policy|report|tools|trace)$")   # they read traces
    target_link_libraries(${program} PRIVATE heddle_tools)
  endif()
  if(area STREQUAL "worker")   # they run what comparisons use, too
    target_link_libraries(${program} PRIVATE heddle_comparison_objects)
    file(GLOB java_homes /usr/lib/jvm/*)
    find_path(HEDDLE_JNI jni.h HINTS $ENV{JAVA_HOME} ${java_homes} PATH_SUFFIXES include)
    find_path(HEDDLE_JNI_LINUX jni_md.h HINTS "${HEDDLE_JNI}/linux")
    find_library(HEDDLE_JVM jvm HINTS "${HEDDLE_JNI}/../lib/server")
    mark_as_advanced(HEDDLE_JNI HEDDLE_JNI_LINUX HEDDLE_JVM)
    if(HEDDLE_JNI AND HEDDLE_JNI_LINUX AND HEDDLE_JVM)
      target_include_directories(${program} SYSTEM PRIVATE "${HEDDLE_JNI}" "${HEDDLE_JNI_LINUX}")
      target_compile_definitions(${program} PRIVATE HEDDLE_JVM="${HEDDLE_JVM}")
    endif()
  endif()
  if(area STREQUAL "cli")
    target_link_libraries(${program} PRIVATE heddle_cli_paper_parts heddle_cli_shared)
    add_dependencies(${program} heddle_paper)
  endif()
  if(TARGET heddle_${area}_objects)   # cli/ and bench/<area>/ hand their insides to their tests
    target_link_libraries(${program} PRIVATE heddle_${area}_objects)
  endif()
  if(area STREQUAL "policy" OR area STREQUAL "sim")
    target_compile_definitions(${program} PRIVATE HEDDLE_PLUGINS="${HEDDLE_PLUGINS}")
  endif()
  if(TARGET heddle_cli)
    target_compile_definitions(${program} PRIVATE HEDDLE_COMMAND="$<TARGET_FILE:heddle_cli>")
    if(area STREQUAL "cli" OR area STREQUAL "bench")   # they run the command
      add_dependencies(${program} heddle_cli)
    endif()
  endif()
  if(TARGET tests_${area}_needs)   # programs that they run
    add_dependencies(${program} tests_${area}_needs)
  endif()
  if(NOT TARGET tests_${area})   # all tests of one area: ninja tests_<area>
    add_custom_target(tests_${area})
  endif()
  add_dependencies(tests_${area} ${program})
endfunction()

# heddle_add_tests(<area> <source>...): one program for them all, and a test for each source.
function(heddle_add_tests area)
  set(together "")
  foreach(source IN LISTS ARGN)
    get_filename_component(name "${source}" NAME_WE)
    set(program ${area}_tests)
    if(source IN_LIST HEDDLE_TESTS_ALONE)
      set(program ${area}_${name})
      heddle_add_test_program(${program} ${area} "${source}")
    else()
      list(APPEND together "${source}")
    endif()
    heddle_register_test(${area} ${area}_${name} $<TARGET_FILE:${program}> ${name})
  endforeach()
  if(together)
    heddle_add_test_program(${area}_tests ${area} ${together})
  endif()
endfunction()

# heddle_register_test(<area> <test> <command>...)
# A stress test is there twice: whole, label stress, length by HEDDLE_STRESS from the environment;
# and short, label short, for every run of the tests.
function(heddle_register_test area test)
  add_test(NAME ${test} COMMAND ${ARGN})
  set(timeout ${HEDDLE_TEST_TIMEOUT})
  if(area STREQUAL "stress")
    set(timeout ${HEDDLE_STRESS_TIMEOUT})
    add_test(NAME ${test}.short COMMAND ${ARGN})
    set_tests_properties(${test}.short PROPERTIES
      LABELS short TIMEOUT ${HEDDLE_TEST_TIMEOUT} ENVIRONMENT "HEDDLE_STRESS=1")
  endif()
  set_tests_properties(${test} PROPERTIES LABELS ${area} TIMEOUT ${timeout})
  # A test that hangs says what its threads wait for, well before CTest ends it.
  set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT HEDDLE_WATCHDOG=100)
endfunction()

# tests/install/: what cmake --install and cpack produce, used from outside the build.
function(heddle_add_install_tests)
  set(environment
    HEDDLE_BUILD=${PROJECT_BINARY_DIR}
    HEDDLE_VERSION=${PROJECT_VERSION}
    CXX=${CMAKE_CXX_COMPILER}
    CC=${CMAKE_C_COMPILER}
    HEDDLE_SANITIZE=${HEDDLE_SANITIZE}
    PACKAGE_HAS_COMMAND=$<TARGET_EXISTS:heddle_cli>)
  set(names consumer package)
  if(HEDDLE_SANITIZE)   # no packages of instrumented libraries
    set(names consumer)
  endif()
  foreach(name IN LISTS names)
    add_test(NAME install_${name}_test COMMAND "${PROJECT_SOURCE_DIR}/tests/install/${name}_test.sh")
    set_tests_properties(install_${name}_test PROPERTIES
      LABELS install TIMEOUT 300 SKIP_RETURN_CODE 77
      RESOURCE_LOCK heddle_install ENVIRONMENT "${environment}")
  endforeach()
  if(NOT HEDDLE_SANITIZE AND NOT HEDDLE_AUDIT)   # a minute: `make nightly`
    add_test(NAME install_headers_test COMMAND "${PROJECT_SOURCE_DIR}/tests/install/headers_test.sh")
    set_tests_properties(install_headers_test PROPERTIES LABELS stress TIMEOUT 900 ENVIRONMENT "CXX=${CMAKE_CXX_COMPILER}")
  endif()
endfunction()

# tests/house/: what texts and folders promise, and that the script which checks it finds what it is to find.
function(heddle_add_house_tests)
  find_program(HEDDLE_PYTHON python3)
  find_program(HEDDLE_CLANG_FORMAT clang-format-19)   # other versions lay code out in other ways
  if(NOT HEDDLE_PYTHON)
    message(STATUS "tests/house: no python3, not checked")
    return()
  endif()
  set(check "${HEDDLE_PYTHON}" "${PROJECT_SOURCE_DIR}/scripts/house_check.py")
  set(environment CXX=${CMAKE_CXX_COMPILER})
  if(HEDDLE_CLANG_FORMAT)
    list(APPEND check --format "${HEDDLE_CLANG_FORMAT}")
    list(APPEND environment "CLANG_FORMAT=${HEDDLE_CLANG_FORMAT}")
  endif()
  if(NOT HEDDLE_SANITIZE AND NOT HEDDLE_AUDIT)   # those need symbols that the library has not otherwise
    list(APPEND check --objects "${PROJECT_BINARY_DIR}")
  endif()
  add_test(NAME house_check COMMAND ${check})
  add_test(NAME house_check_test COMMAND "${HEDDLE_PYTHON}" "${PROJECT_SOURCE_DIR}/tests/house/house_check_test.py")
  set_tests_properties(house_check house_check_test PROPERTIES LABELS house TIMEOUT ${HEDDLE_TEST_TIMEOUT}
    ENVIRONMENT "${environment}")
endfunction()

# Kernels against programs of others, which need not be there.
function(heddle_add_bench_checks)
  find_program(HEDDLE_PYTHON python3)
  if(NOT HEDDLE_PYTHON OR NOT TARGET heddle_smoke_heddle_shared)
    return()
  endif()
  add_test(NAME bench_isosurface_check COMMAND "${HEDDLE_PYTHON}" "${PROJECT_SOURCE_DIR}/scripts/isosurface-check.py"
    --cells 16 --program $<TARGET_FILE:heddle_smoke_heddle_shared>)
  set_tests_properties(bench_isosurface_check PROPERTIES LABELS bench TIMEOUT ${HEDDLE_TEST_TIMEOUT} SKIP_RETURN_CODE 77)
endfunction()

# Shared objects with policies, for tests/policy and tests/sim: those of tests/policy/plugins, and the example's.
function(heddle_add_policy_plugins)
  heddle_glob(plugin_sources tests/policy/plugins/*.cpp examples/*_policy.cpp)
  set(HEDDLE_PLUGINS "${PROJECT_BINARY_DIR}/tests/policy_plugins" PARENT_SCOPE)
  foreach(source IN LISTS plugin_sources)
    get_filename_component(name "${source}" NAME_WE)
    add_library(policy_plugin_${name} MODULE "${PROJECT_SOURCE_DIR}/${source}")
    set_target_properties(policy_plugin_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
      LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/policy_plugins")
    target_include_directories(policy_plugin_${name} PRIVATE "${PROJECT_SOURCE_DIR}/include")
    target_compile_options(policy_plugin_${name} PRIVATE ${HEDDLE_WARNINGS})
    list(APPEND plugins policy_plugin_${name})
  endforeach()
  foreach(area IN ITEMS policy sim)
    if(NOT TARGET tests_${area}_needs)
      add_custom_target(tests_${area}_needs)
    endif()
    add_dependencies(tests_${area}_needs ${plugins})
  endforeach()
endfunction()

# CTest begins with the tests of the highest cost, in a fresh tree, too: those that take 20 s and more, so that none of them is
# left at the end, when it would have the machine to itself.
function(heddle_order_tests)
  set(cost 100)
  foreach(test IN ITEMS omp_programs_clang-19 omp_programs_gcc-12 bench_heddle_kernels_test omp_programs_clang-19_preload
      omp_programs_gcc-12_preload worker_priority_test stress_policy_stress_test.short python_packages_test
      fault_dump_test worker_eviction_test wait_condition_variable_test report_browser_test wait_channel_test install_consumer_test
      loop_sort_test worker_migration_test worker_calls_from_outside_test sim_run_test)
    if(TEST ${test})
      set_tests_properties(${test} PROPERTIES COST ${cost})
    endif()
    math(EXPR cost "${cost} - 5")
  endforeach()
endfunction()

function(heddle_add_all_tests)
  heddle_add_policy_plugins()
  heddle_glob(test_sources tests/*_test.cpp)
  foreach(source IN LISTS test_sources)
    if(source MATCHES "^tests/([a-z0-9_]+)/[a-z0-9_]+\\.cpp$")   # deeper folders are somebody's data or projects of their own
      list(APPEND areas ${CMAKE_MATCH_1})
      list(APPEND sources_of_${CMAKE_MATCH_1} "${source}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES areas)
  foreach(area IN LISTS areas)
    if((area STREQUAL "cli" AND NOT TARGET heddle_cli) OR
       (area STREQUAL "bench" AND NOT HEDDLE_BENCH) OR
       (area STREQUAL "omp" AND NOT TARGET heddle_omp_objects) OR
       (area STREQUAL "sim" AND NOT TARGET heddle_sim) OR   # no simulator under sanitizers
       (area MATCHES "^sim_(explore|platform|theory)$" AND NOT TARGET heddle_${area}_library) OR
       (EXISTS "${PROJECT_SOURCE_DIR}/bench/${area}/CMakeLists.txt" AND NOT TARGET heddle_${area}_objects))
      continue()
    endif()
    heddle_add_tests(${area} ${sources_of_${area}})
  endforeach()
  include("${PROJECT_SOURCE_DIR}/tests/fault/fault_tests.cmake")
  include("${PROJECT_SOURCE_DIR}/tests/omp/programs.cmake")
  heddle_add_house_tests()
  heddle_add_bench_checks()
  if(TARGET heddle_cli)
    add_test(NAME cli_completion_test
      COMMAND "${PROJECT_SOURCE_DIR}/tests/cli/completion_test.sh" $<TARGET_FILE:heddle_cli>)
    set_tests_properties(cli_completion_test PROPERTIES LABELS cli TIMEOUT ${HEDDLE_TEST_TIMEOUT})
  endif()
  if(TARGET heddle_omp AND HEDDLE_PYTHON)   # no name lacks that programs of other OpenMP runtimes import
    add_test(NAME omp_symbols_test
      COMMAND "${HEDDLE_PYTHON}" "${PROJECT_SOURCE_DIR}/tests/omp/symbols.py" $<TARGET_FILE:heddle_omp>)
    add_test(NAME omp_features_test
      COMMAND "${HEDDLE_PYTHON}" "${PROJECT_SOURCE_DIR}/scripts/openmp_features.py" $<TARGET_FILE:heddle_omp>)
    set_tests_properties(omp_symbols_test omp_features_test PROPERTIES LABELS omp TIMEOUT ${HEDDLE_TEST_TIMEOUT})
    add_dependencies(tests_omp heddle_omp)
  endif()
  if(HEDDLE_INSTALL)
    heddle_add_install_tests()
  endif()
  heddle_order_tests()

  # What the tests need, and no more: of the benchmarks one program with heddle's kernels, and two of the demonstration. Scripts
  # build this, and not `all`.
  add_custom_target(heddle_checks)
  list(TRANSFORM areas PREPEND tests_)
  foreach(target IN ITEMS ${areas} tests_python heddle heddle_static heddle_cli openmp heddle_smoke_heddle_shared heddle_tree_serial
      heddle_tree_heddle heddle_examples heddle_manual fault_plugin_host fault_stops fault_parked arch_switch_main arch_slots_main)
    if(TARGET ${target})
      add_dependencies(heddle_checks ${target})
    endif()
  endforeach()
endfunction()

# The context switch alone, and what finds a kernel thread's variables: they define what the library would, so they do
# not link it.
if(EXISTS "${PROJECT_SOURCE_DIR}/tests/arch/switch_main.cpp")
  add_executable(arch_switch_main
    "${PROJECT_SOURCE_DIR}/tests/arch/switch_main.cpp"
    "${PROJECT_SOURCE_DIR}/src/arch/${HEDDLE_ISA}/switch.S")
  target_include_directories(arch_switch_main PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
  target_compile_options(arch_switch_main PRIVATE -frounding-math)
  add_test(NAME arch_switch_main COMMAND arch_switch_main)
  set_tests_properties(arch_switch_main PROPERTIES LABELS arch TIMEOUT 120)
  add_executable(arch_slots_main "${PROJECT_SOURCE_DIR}/tests/arch/slots_main.cpp")
  target_include_directories(arch_slots_main PRIVATE "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(arch_slots_main PRIVATE Threads::Threads)
  add_test(NAME arch_slots_main COMMAND arch_slots_main)
  set_tests_properties(arch_slots_main PROPERTIES LABELS arch TIMEOUT 120)
endif()
