# heddle-paper, which `heddle paper` executes: a program of its own, so that the command is built without it. cli_shared are the
# sources that both have. tests/cli links all of them.
heddle_glob(paper_sources cli/paper/*.cpp)
list(REMOVE_ITEM paper_sources cli/paper/main.cpp)
foreach(part IN ITEMS shared paper)
  set(sources ${cli_shared})
  if(part STREQUAL "paper")
    set(sources ${paper_sources})
  endif()
  heddle_add_objects(heddle_cli_${part}_parts LIKE heddle_cli_objects ${sources})
  target_link_libraries(heddle_cli_${part}_parts PUBLIC heddle_tools heddle_machine_files heddle_fmt CLI11::CLI11 nlohmann_json::nlohmann_json)
  target_include_directories(heddle_cli_${part}_parts PRIVATE "${PROJECT_SOURCE_DIR}")
  heddle_compile_fast(heddle_cli_${part}_parts)
  set_target_properties(heddle_cli_${part}_parts PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  target_compile_definitions(heddle_cli_${part}_parts PRIVATE ${cli_definitions}
    HEDDLE_SOVERSION_STRING="${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}" HEDDLE_LIBDIR="${CMAKE_INSTALL_LIBDIR}")
endforeach()
add_library(heddle_cli_shared STATIC $<TARGET_OBJECTS:heddle_cli_shared_parts>)
set_target_properties(heddle_cli_shared PROPERTIES LINKER_LANGUAGE CXX)
target_link_libraries(heddle_cli_shared INTERFACE heddle_tools heddle_machine_files)

add_executable(heddle_paper cli/paper/main.cpp)
set_target_properties(heddle_paper PROPERTIES
  OUTPUT_NAME heddle-paper RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
target_include_directories(heddle_paper PRIVATE "${PROJECT_SOURCE_DIR}")
target_link_libraries(heddle_paper PRIVATE heddle_cli_paper_parts heddle_cli_shared)
target_compile_options(heddle_paper PRIVATE ${HEDDLE_WARNINGS})
