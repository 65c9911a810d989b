# The programs of tests/omp/programs on libheddle_omp.so, and the programs that tests of `heddle run` are tried on.
# Included by heddle_add_all_tests (cmake/heddle_tests.cmake).

find_program(HEDDLE_PYTHON python3)
# A library with a sanitizer in it needs that in the program, too, and these have none.
if(TARGET heddle_omp AND HEDDLE_PYTHON AND NOT HEDDLE_SANITIZE)
  set(omp_programs "${HEDDLE_PYTHON}" "${PROJECT_SOURCE_DIR}/tests/omp/run_programs.py"
    --library "${PROJECT_BINARY_DIR}/openmp" --jobs 2)
  # A compiler that is not there skips its test. What is compiled is kept, and compiled anew when it has changed.
  foreach(compiler IN ITEMS gcc-12 clang-19)
    set(build --build "${PROJECT_BINARY_DIR}/tests/openmp-${compiler}")
    # More threads than processors; the next test has one thread. `make nightly` runs the other numbers, too.
    add_test(NAME omp_programs_${compiler} COMMAND ${omp_programs} --compiler ${compiler} ${build} --threads 8)
    add_test(NAME omp_programs_${compiler}_whole COMMAND ${omp_programs} --compiler ${compiler} ${build} --threads 1,2,4,8)
    set_tests_properties(omp_programs_${compiler}_whole PROPERTIES
      LABELS stress SKIP_RETURN_CODE 77 TIMEOUT 900 RESOURCE_LOCK omp_programs_${compiler} PROCESSORS 2)
    # The other way to get the library into a program.
    set(preload --preload "${PROJECT_BINARY_DIR}/openmp/libheddle_omp.so"
      --preload "${PROJECT_BINARY_DIR}/openmp/libheddle_omp_waits.so")
    add_test(NAME omp_programs_${compiler}_preload COMMAND ${omp_programs} --compiler ${compiler} ${build}
      ${preload} --threads 1)
    add_test(NAME omp_programs_${compiler}_waits COMMAND ${omp_programs} --compiler ${compiler} ${build}
      ${preload} --threads 1,2,4,8 waits_ blocking_members)
    set_tests_properties(omp_programs_${compiler} omp_programs_${compiler}_preload omp_programs_${compiler}_waits PROPERTIES
      LABELS omp SKIP_RETURN_CODE 77 TIMEOUT 900 RESOURCE_LOCK omp_programs_${compiler})
    # Tasks that a policy places, and tasks in traces.
    foreach(policy IN ITEMS adws sb)
      add_test(NAME omp_programs_${compiler}_${policy} COMMAND ${omp_programs} --compiler ${compiler} ${build}
        --threads 2,4 task_ reduction_task cancel barrier single)
      set_tests_properties(omp_programs_${compiler}_${policy} PROPERTIES ENVIRONMENT HEDDLE_POLICY=${policy}
        LABELS omp SKIP_RETURN_CODE 77 TIMEOUT 900 RESOURCE_LOCK omp_programs_${compiler})
    endforeach()
    if(TARGET heddle_cli)
      add_test(NAME omp_dag_${compiler} COMMAND "${HEDDLE_PYTHON}" "${PROJECT_SOURCE_DIR}/tests/omp/dag_test.py"
        --build "${PROJECT_BINARY_DIR}" --compiler ${compiler})
      # It measures a program here, so one other test at most runs beside it.
      set_tests_properties(omp_dag_${compiler} PROPERTIES LABELS omp SKIP_RETURN_CODE 77 TIMEOUT 600 PROCESSORS 2)
    endif()
  endforeach()
  if(NOT TARGET tests_omp)
    add_custom_target(tests_omp)
  endif()
  add_dependencies(tests_omp openmp)
  foreach(needed IN ITEMS heddle_cli heddle_sim)
    if(TARGET ${needed})
      add_dependencies(tests_omp ${needed})
    endif()
  endforeach()
endif()

# A program with a region, one with a library that has one, and one that is linked statically.
find_package(OpenMP QUIET COMPONENTS C)
if(TARGET heddle_cli AND TARGET OpenMP::OpenMP_C AND NOT HEDDLE_SANITIZE)
  add_library(cli_openmp_library SHARED "${PROJECT_SOURCE_DIR}/tests/cli/openmp/library.c")
  target_link_libraries(cli_openmp_library PRIVATE OpenMP::OpenMP_C)
  add_executable(cli_openmp_program "${PROJECT_SOURCE_DIR}/tests/cli/openmp/program.c")
  target_link_libraries(cli_openmp_program PRIVATE OpenMP::OpenMP_C)
  add_executable(cli_openmp_user "${PROJECT_SOURCE_DIR}/tests/cli/openmp/user.c")
  target_link_libraries(cli_openmp_user PRIVATE cli_openmp_library)
  add_executable(cli_openmp_static "${PROJECT_SOURCE_DIR}/tests/cli/openmp/plain.c")
  target_link_options(cli_openmp_static PRIVATE -static)
  add_executable(cli_openmp_plain "${PROJECT_SOURCE_DIR}/tests/cli/openmp/plain.c")
  set(cli_openmp cli_openmp_program cli_openmp_user cli_openmp_static cli_openmp_plain)
  set_target_properties(${cli_openmp} cli_openmp_library PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/openmp" LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/openmp")
  if(NOT TARGET tests_cli_needs)
    add_custom_target(tests_cli_needs)
  endif()
  add_dependencies(tests_cli_needs ${cli_openmp})
  if(TARGET heddle_omp)
    add_dependencies(tests_cli_needs openmp)
  endif()
  if(TARGET cli_tests)
    add_dependencies(cli_tests tests_cli_needs)
    target_compile_definitions(cli_tests PRIVATE HEDDLE_OPENMP_PROGRAMS="${PROJECT_BINARY_DIR}/tests/openmp"
      $<$<TARGET_EXISTS:heddle_omp>:HEDDLE_HAS_OPENMP>)
  endif()
endif()

# The Python package with the libraries in it, in a virtual environment.
if(TARGET heddle_cli AND TARGET heddle_omp AND TARGET cli_openmp_library AND HEDDLE_PYTHON AND NOT CMAKE_CROSSCOMPILING)
  set(python_wheel "${HEDDLE_PYTHON}" "${PROJECT_SOURCE_DIR}/tests/python/wheel_test.py" --build "${PROJECT_BINARY_DIR}")
  add_test(NAME python_wheel_test COMMAND ${python_wheel})
  add_test(NAME python_packages_test COMMAND ${python_wheel} --packages --threads 2)
  add_test(NAME python_packages_whole_test COMMAND ${python_wheel} --packages --threads 1,2,4,8)   # `make nightly`
  set_tests_properties(python_wheel_test python_packages_test python_packages_whole_test PROPERTIES
    LABELS python SKIP_RETURN_CODE 77 TIMEOUT 900)
  set_tests_properties(python_packages_whole_test PROPERTIES LABELS stress)
  add_custom_target(tests_python)
  add_dependencies(tests_python heddle_cli openmp cli_openmp_library)
endif()
