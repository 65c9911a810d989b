#include "platform/shared_object.hpp"

#include <dlfcn.h>

namespace heddle::platform {

void* load_shared_object(const std::string& file, std::string& why) {
  void* const loaded = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) {
    const char* const text = dlerror();
    why = text != nullptr ? text : "it cannot be loaded";
  }
  return loaded;
}

void* symbol_in(void* shared_object, const char* name) noexcept { return dlsym(shared_object, name); }

}  // namespace heddle::platform
