# heddle_tools: what reads the runtime's traces and tables for people. The command and tests link it; no program that runs on
# heddle does (docs/decisions/0017-libraries-by-use.md).
heddle_glob(tools_sources tools/*.cpp)
heddle_add_objects(heddle_tools_parts PRECOMPILED text ${tools_sources})
target_include_directories(heddle_tools_parts PRIVATE "${PROJECT_SOURCE_DIR}")
target_link_libraries(heddle_tools_parts PRIVATE heddle_fmt)
heddle_unite(heddle_tools_parts 8 ${tools_sources})
heddle_compile_fast(heddle_tools_parts)
add_library(heddle_tools STATIC $<TARGET_OBJECTS:heddle_tools_parts>)
set_target_properties(heddle_tools PROPERTIES LINKER_LANGUAGE CXX)
target_include_directories(heddle_tools INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
target_link_libraries(heddle_tools INTERFACE heddle_static heddle_fmt)
