// Interoperability objects: OpenMP 5.1, section 3.12. Only devices give values to them, so the only object is
// omp_interop_none, which has no properties.
#include <cstdint>

#include <heddle/export.hpp>

namespace {

constexpr int empty = -1;         // omp_irc_empty
constexpr int out_of_range = -2;  // omp_irc_out_of_range

// omp_interop_property_t counts down from -1.
constexpr const char* properties[] = {"fr_id",    "fr_name", "vendor",         "vendor_name", "device_num",
                                      "platform", "device",  "device_context", "targetsync"};
// omp_interop_rc_t counts down from 1.
constexpr const char* codes[] = {"no value",     "success",       "the object is empty", "no such property",
                                 "not a number", "not a pointer", "not a string",        "another error"};

template <class T>
T none(int property, int* code) noexcept {
  if (code != nullptr) *code = property < -9 || property >= 0 ? out_of_range : empty;
  return T{};
}

}  // namespace

extern "C" {

HEDDLE_API int omp_get_num_interop_properties(const void*) { return 0; }
HEDDLE_API std::intptr_t omp_get_interop_int(const void*, int property, int* code) {
  return none<std::intptr_t>(property, code);
}
HEDDLE_API void* omp_get_interop_ptr(const void*, int property, int* code) { return none<void*>(property, code); }
HEDDLE_API const char* omp_get_interop_str(const void*, int property, int* code) {
  return none<const char*>(property, code);
}
HEDDLE_API const char* omp_get_interop_name(const void*, int property) {
  return property >= -9 && property <= -1 ? properties[-1 - property] : nullptr;
}
HEDDLE_API const char* omp_get_interop_type_desc(const void*, int) { return nullptr; }
HEDDLE_API const char* omp_get_interop_rc_desc(const void*, int code) {
  return code >= -6 && code <= 1 ? codes[1 - code] : nullptr;
}

// Fortran modules of the LLVM ABI pass these by value, too.
HEDDLE_API int omp_get_num_interop_properties_(const void* object) { return omp_get_num_interop_properties(object); }
HEDDLE_API std::intptr_t omp_get_interop_int_(const void* object, int property, int* code) {
  return omp_get_interop_int(object, property, code);
}
HEDDLE_API void* omp_get_interop_ptr_(const void* object, int property, int* code) {
  return omp_get_interop_ptr(object, property, code);
}
HEDDLE_API const char* omp_get_interop_str_(const void* object, int property, int* code) {
  return omp_get_interop_str(object, property, code);
}
HEDDLE_API const char* omp_get_interop_name_(const void* object, int property) {
  return omp_get_interop_name(object, property);
}
HEDDLE_API const char* omp_get_interop_type_desc_(const void* object, int property) {
  return omp_get_interop_type_desc(object, property);
}
HEDDLE_API const char* omp_get_interop_rc_desc_(const void* object, int code) {
  return omp_get_interop_rc_desc(object, code);
}

}  // extern "C"
