// Managed runtimes in the process, called from each kind of thread: a JVM by its JNI, and CPython. Both keep data of
// "their" thread in thread-local variables, take its stack from the C library, and stop threads by signals or flags.
// Each is in a process of its own, because it cannot be unloaded.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

#if defined(HEDDLE_JVM)
#include <jni.h>
#endif

#include <heddle/heddle.hpp>

namespace heddle {
namespace foreign_runtimes_test {
namespace {

struct kind {
  const char* name;
  preemption technique;
  tls storage;
};

constexpr kind kinds[] = {{"plain", preemption::none, tls::carrier},
                          {"own", preemption::none, tls::own},
                          {"signal_yield_own", preemption::signal_yield, tls::own},
                          {"klt", preemption::klt_switching, tls::carrier}};

constexpr int threads = 6, calls = 100;

// Runs work(number) in threads of that kind on two workers. Ends the process: 0 if all calls of `work` returned true,
// 2 if there can be no such threads here.
[[noreturn]] void in_threads(const kind& k, const std::function<bool(int)>& work) {
  std::atomic<int> wrong{0};
  runtime home({.workers = 2});
  try {
    std::vector<thread> all;
    for (int i = 0; i < threads; ++i) {
      const thread_options how{.stack_size = 4 << 20, .where = &home, .preemption = k.technique, .tls = k.storage};
      all.emplace_back(how, [&, i] { wrong += work(i) ? 0 : 1; });
    }
    for (thread& t : all) t.join();
  } catch (const std::system_error&) {
    _exit(2);
  }
  _exit(wrong == 0 ? 0 : 1);
}

class in_each_kind : public testing::TestWithParam<kind> {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "sanitizers know nothing of such runtimes";
#endif
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
  }
};

bool ended_well(int status) { return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2); }

#if defined(HEDDLE_JVM)
JavaVM* make_jvm() {
  void* const library = dlopen(HEDDLE_JVM, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) return nullptr;
  auto* const make = reinterpret_cast<jint (*)(JavaVM**, void**, void*)>(dlsym(library, "JNI_CreateJavaVM"));
  JavaVMOption options[2]{};
  options[0].optionString = const_cast<char*>("-Xmx64m");
  options[1].optionString = const_cast<char*>("-XX:+UseSerialGC");
  JavaVMInitArgs how{};
  how.version = JNI_VERSION_10;
  how.nOptions = 2;
  how.options = options;
  JavaVM* vm = nullptr;
  JNIEnv* env = nullptr;
  return make(&vm, reinterpret_cast<void**>(&env), &how) == JNI_OK ? vm : nullptr;
}

// Allocates until collections must come, and throws and catches exceptions.
bool call_java(JavaVM& vm, int number) {
  JNIEnv* env = nullptr;
  if (vm.AttachCurrentThread(reinterpret_cast<void**>(&env), nullptr) != JNI_OK) return false;
  const jclass integers = env->FindClass("java/lang/Integer");
  const jmethodID parse = env->GetStaticMethodID(integers, "parseInt", "(Ljava/lang/String;)I");
  bool right = true;
  for (int i = 0; i < calls; ++i) {
    const jstring good = env->NewStringUTF(std::to_string(1000 * number + i).c_str());
    right = right && env->CallStaticIntMethod(integers, parse, good) == 1000 * number + i && !env->ExceptionCheck();
    env->CallStaticIntMethod(integers, parse, env->NewStringUTF("x"));
    right = right && env->ExceptionCheck();
    env->ExceptionClear();
    const jbyteArray garbage = env->NewByteArray(1 << 20);
    right = right && garbage != nullptr && env->GetArrayLength(garbage) == 1 << 20;
    env->DeleteLocalRef(garbage);
    env->DeleteLocalRef(good);
  }
  return vm.DetachCurrentThread() == JNI_OK && right;
}

TEST_P(in_each_kind, a_jvm) {
  if (GetParam().technique == preemption::signal_yield) GTEST_SKIP() << "docs/guide/preemption.md: it may crash";
  const auto program = [] {
    JavaVM* const vm = make_jvm();
    if (vm == nullptr) _exit(2);
    in_threads(GetParam(), [vm](int number) { return call_java(*vm, number); });
  };
  EXPECT_EXIT(program(), ended_well, "");
}
#endif

TEST_P(in_each_kind, cpython) {
  const auto program = [] {
    void* library = nullptr;
    for (const char* name : {"libpython3.11.so.1.0", "libpython3.12.so.1.0", "libpython3.13.so.1.0"}) {
      if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    }
    if (library == nullptr) _exit(2);
    const auto function = [library](const char* name) { return dlsym(library, name); };
    reinterpret_cast<void (*)(int)>(function("Py_InitializeEx"))(0);
    reinterpret_cast<void* (*)()>(function("PyEval_SaveThread"))();
    auto* const enter = reinterpret_cast<int (*)()>(function("PyGILState_Ensure"));
    auto* const leave = reinterpret_cast<void (*)(int)>(function("PyGILState_Release"));
    auto* const run = reinterpret_cast<int (*)(const char*, void*)>(function("PyRun_SimpleStringFlags"));
    in_threads(GetParam(), [=](int number) {
      const std::string text = "s = sum(int(str(i)) for i in range(" + std::to_string(number) +
                               ", 2000))\ntry:\n  {}['x']\nexcept KeyError:\n  pass\nelse:\n  raise SystemError\n";
      bool right = true;
      for (int i = 0; i < calls / 10; ++i) {
        const int state = enter();
        right = run(text.c_str(), nullptr) == 0 && right;
        leave(state);
      }
      return right;
    });
  };
  EXPECT_EXIT(program(), ended_well, "");
}

INSTANTIATE_TEST_SUITE_P(, in_each_kind, testing::ValuesIn(kinds), [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace foreign_runtimes_test
}  // namespace heddle
