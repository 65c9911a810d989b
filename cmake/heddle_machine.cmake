# Machine files, for the command and the simulator: objects of their own, so that libheddle.so stays without a TOML parser
# (docs/decisions/0005-toml.md). sim/machines/ becomes a table of texts in them.

file(GLOB machine_files CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/sim/machines/*.toml" "${PROJECT_SOURCE_DIR}/sim/machines/*.xml")
list(SORT machine_files)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${machine_files})
set(machine_table "")
foreach(file IN LISTS machine_files)
  file(READ "${file}" text)
  get_filename_component(name "${file}" NAME)
  string(APPEND machine_table "    {\"${name}\", R\"machine_file(${text})machine_file\"},\n")
endforeach()
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/shipped_machines.cpp" @ONLY CONTENT [=[
#include "machine/model/shipped.hpp"

namespace heddle::machine {

std::span<const shipped_file> shipped_files() noexcept {
  static constexpr shipped_file files[] = {
@machine_table@  };
  return files;
}

}  // namespace heddle::machine
]=])

# The simulated platform takes the objects, since it brings a core of its own. heddle_machine_files: the same, for programs on
# libheddle; heddle_add_test finds it for tests/machine under its other name.
heddle_glob(model_sources src/machine/model/*.cpp)
heddle_add_objects(heddle_model_objects LIKE heddle_tools_parts ${model_sources} "${PROJECT_BINARY_DIR}/generated/shipped_machines.cpp")
target_link_libraries(heddle_model_objects PRIVATE heddle_fmt)
heddle_unite(heddle_model_objects 8 ${model_sources})
heddle_compile_fast(heddle_model_objects)
add_library(heddle_machine_files STATIC $<TARGET_OBJECTS:heddle_model_objects>)
set_target_properties(heddle_machine_files PROPERTIES LINKER_LANGUAGE CXX)
target_include_directories(heddle_machine_files INTERFACE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
target_link_libraries(heddle_machine_files INTERFACE heddle_static heddle_fmt)
add_library(heddle_machine_objects ALIAS heddle_machine_files)
