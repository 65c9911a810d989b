# Tests that are more than one program: plug-ins, debuggers. Included by heddle_add_all_tests (cmake/heddle_tests.cmake).

# llvm_98479: there compilers keep the address of a thread_local. Precompiled headers are made with other options.
set_source_files_properties("${PROJECT_SOURCE_DIR}/tests/worker/migration_test.cpp" PROPERTIES
  COMPILE_OPTIONS "-O3;-fPIC" SKIP_PRECOMPILE_HEADERS ON)

# Foreign code under preemption: a C program, and a module under two names.
if(TARGET worker_tests)
  add_library(foreign_barrier STATIC "${PROJECT_SOURCE_DIR}/tests/worker/foreign/barrier.c")
  target_link_libraries(worker_tests PRIVATE foreign_barrier)
  foreach(which IN ITEMS first second)
    add_library(foreign_plugin_${which} MODULE "${PROJECT_SOURCE_DIR}/tests/worker/foreign/plugin.cpp")
    target_compile_options(foreign_plugin_${which} PRIVATE ${HEDDLE_WARNINGS}
      $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)   # gcc would make a variable of a template a unique symbol, which keeps it loaded
    set_target_properties(foreign_plugin_${which} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    add_dependencies(worker_tests foreign_plugin_${which})
    string(TOUPPER ${which} upper)
    target_compile_definitions(worker_tests PRIVATE HEDDLE_FOREIGN_PLUGIN_${upper}="$<TARGET_FILE:foreign_plugin_${which}>")
  endforeach()
endif()

if(TARGET worker_tests)
  foreach(value IN ITEMS 11 22)
    add_library(initial_exec_${value} MODULE "${PROJECT_SOURCE_DIR}/tests/worker/foreign/initial_exec.c")
    target_compile_definitions(initial_exec_${value} PRIVATE VALUE=${value})
    set_target_properties(initial_exec_${value} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    add_dependencies(worker_tests initial_exec_${value})
    target_compile_definitions(worker_tests PRIVATE HEDDLE_INITIAL_EXEC_${value}="$<TARGET_FILE:initial_exec_${value}>")
  endforeach()
endif()

if(NOT HEDDLE_SANITIZE)
  # Two libraries with heddle inside and a program without: scikit-learn #34070, dlclose.
  foreach(which IN ITEMS first second)
    add_library(fault_plugin_${which} MODULE "${PROJECT_SOURCE_DIR}/tests/fault/plugin/plugin.cpp")
    target_link_libraries(fault_plugin_${which} PRIVATE heddle)
    target_compile_options(fault_plugin_${which} PRIVATE ${HEDDLE_WARNINGS})
  endforeach()
  add_executable(fault_plugin_host "${PROJECT_SOURCE_DIR}/tests/fault/plugin/host_main.cpp")
  target_compile_options(fault_plugin_host PRIVATE ${HEDDLE_WARNINGS})
  target_link_libraries(fault_plugin_host PRIVATE ${CMAKE_DL_LIBS})
  target_include_directories(fault_plugin_host PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  set_target_properties(fault_plugin_host fault_plugin_first fault_plugin_second PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests" LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  add_dependencies(fault_plugin_host fault_plugin_first fault_plugin_second)
  add_test(NAME fault_plugin_test
    COMMAND fault_plugin_host $<TARGET_FILE:fault_plugin_first> $<TARGET_FILE:fault_plugin_second>)
  set_tests_properties(fault_plugin_test PROPERTIES LABELS fault TIMEOUT ${HEDDLE_TEST_TIMEOUT})

  add_executable(fault_stops "${PROJECT_SOURCE_DIR}/tests/fault/debug/stops_main.cpp")
  target_compile_options(fault_stops PRIVATE ${HEDDLE_WARNINGS} -g)
  target_link_libraries(fault_stops PRIVATE heddle_static)
  set_target_properties(fault_stops PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  add_executable(fault_parked "${PROJECT_SOURCE_DIR}/tests/fault/debug/parked_main.cpp")
  target_compile_options(fault_parked PRIVATE ${HEDDLE_WARNINGS} -g)
  target_link_libraries(fault_parked PRIVATE heddle)   # shared: its symbols alone must do
  set_target_properties(fault_parked PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  add_test(NAME fault_gdb_threads_test COMMAND "${PROJECT_SOURCE_DIR}/tests/fault/debug/gdb_threads_test.sh" $<TARGET_FILE:fault_parked>
    "${PROJECT_SOURCE_DIR}/scripts/gdb/heddle.py")
  set_tests_properties(fault_gdb_threads_test PROPERTIES LABELS fault TIMEOUT ${HEDDLE_TEST_TIMEOUT} SKIP_RETURN_CODE 77)
  foreach(tool IN ITEMS gdb valgrind)
    add_test(NAME fault_${tool}_test COMMAND "${PROJECT_SOURCE_DIR}/tests/fault/debug/${tool}_test.sh" $<TARGET_FILE:fault_stops>)
    set_tests_properties(fault_${tool}_test PROPERTIES LABELS fault TIMEOUT ${HEDDLE_TEST_TIMEOUT} SKIP_RETURN_CODE 77)
  endforeach()
endif()
