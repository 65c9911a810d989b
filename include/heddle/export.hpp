#pragma once

#if !defined(__cplusplus) || __cplusplus <= 201703L
#error \
    "heddle needs C++20: compile with -std=c++20 (CMake: target_compile_features(TARGET PRIVATE cxx_std_20), or link heddle::heddle, which asks for it)"
#endif

/// Marks the symbols that libheddle.so exports; the library is compiled with hidden visibility. Functions that are not
/// templates need it, and so does every type that is thrown or crosses the library's boundary by typeid, because two
/// copies of a type's typeinfo would make a catch clause miss.
#define HEDDLE_API __attribute__((visibility("default")))
