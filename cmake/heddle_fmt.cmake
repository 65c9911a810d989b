# heddle_fmt: one compiled {fmt} for everything that is not libheddle. The library uses the headers alone, so that its shared form
# exports no name of {fmt}, and its static form has none that meets one of the program's. So does everything where the version
# is another one than compiled_fmt.cpp is written for.

if(fmt_VERSION MATCHES "^9\\.")
  add_library(heddle_fmt_objects OBJECT EXCLUDE_FROM_ALL "${CMAKE_CURRENT_LIST_DIR}/compiled_fmt.cpp")
  set_target_properties(heddle_fmt_objects PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  add_library(heddle_fmt STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:heddle_fmt_objects>)
  set_target_properties(heddle_fmt PROPERTIES LINKER_LANGUAGE CXX)
  foreach(target IN ITEMS heddle_fmt_objects heddle_fmt)
    target_include_directories(${target} SYSTEM PUBLIC
      $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
  endforeach()
  set(heddle_fmt_objects $<TARGET_OBJECTS:heddle_fmt_objects>)
else()
  add_library(heddle_fmt INTERFACE)
  target_link_libraries(heddle_fmt INTERFACE fmt::fmt-header-only)
  set(heddle_fmt_objects "")
endif()

# heddle_use_compiled_fmt(<target>): for what heddle_add_objects makes, which takes the headers alone otherwise.
function(heddle_use_compiled_fmt target)
  if(TARGET heddle_fmt_objects)
    target_compile_options(${target} PRIVATE -UFMT_HEADER_ONLY)
  endif()
endfunction()
