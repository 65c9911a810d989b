// A plugin as an older version of the header would make it.
extern "C" __attribute__((visibility("default"))) const unsigned heddle_policy_version = 0;
extern "C" __attribute__((visibility("default"))) const void* heddle_policy_list(unsigned* count) {
  *count = 0;
  return nullptr;
}
