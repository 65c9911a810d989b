#pragma once

/// Marks what libheddle.so exports; the library is compiled with hidden visibility.
/// Functions that are not templates, and every type that is thrown or crosses the library's
/// boundary by typeid, need it: two copies of a type's typeinfo make a catch clause miss.
#define HEDDLE_API __attribute__((visibility("default")))
