# The simulated platform: the same floors compiled once more with HEDDLE_SIM, over src/platform/sim. heddle_sim is a shared
# library with the soname of libheddle, which `heddle sim` puts in its place; heddle_sim_static is for tests.

heddle_glob(platform_sim_sources src/platform/sim/*.cpp)
# What simulated kernel threads share with real ones.
list(APPEND platform_sim_sources src/platform/linux/affinity.cpp src/platform/linux/memory.cpp src/platform/linux/signals.cpp)
heddle_glob(sim_preload_sources sim/preload/*.cpp)

heddle_add_objects(heddle_core_sim ${core_sources})
heddle_add_objects(heddle_platform_sim ${platform_sim_sources} sim/session.cpp sim/figures.cpp)
heddle_add_objects(heddle_sim_preload ${sim_preload_sources})
foreach(part IN ITEMS core_sim platform_sim sim_preload)
  target_compile_definitions(heddle_${part} PRIVATE HEDDLE_SIM=1)
  target_include_directories(heddle_${part} PRIVATE "${PROJECT_SOURCE_DIR}")
endforeach()

set(sim_objects $<TARGET_OBJECTS:heddle_core_sim> $<TARGET_OBJECTS:heddle_platform_sim> $<TARGET_OBJECTS:heddle_sim_model>)
add_library(heddle_sim SHARED ${sim_objects} $<TARGET_OBJECTS:heddle_sim_preload>)
set_target_properties(heddle_sim PROPERTIES
  OUTPUT_NAME heddle LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/sim"
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  LINKER_LANGUAGE CXX)
target_link_libraries(heddle_sim PRIVATE heddle_model Threads::Threads hwloc ${CMAKE_DL_LIBS})
target_link_options(heddle_sim PRIVATE -Wl,--as-needed -Wl,-z,defs -Wl,-z,nodelete -Wl,--exclude-libs,ALL)

add_library(heddle_sim_static STATIC EXCLUDE_FROM_ALL ${sim_objects})
set_target_properties(heddle_sim_static PROPERTIES LINKER_LANGUAGE CXX)
target_include_directories(heddle_sim_static PUBLIC
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}")
target_compile_features(heddle_sim_static PUBLIC cxx_std_20)
target_compile_definitions(heddle_sim_static PUBLIC HEDDLE_SIM=1)
target_link_libraries(heddle_sim_static PUBLIC heddle_model Threads::Threads hwloc ${CMAKE_DL_LIBS})

if(HEDDLE_INSTALL)
  include(GNUInstallDirs)
  install(TARGETS heddle_sim LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/heddle/sim NAMELINK_SKIP)
endif()
