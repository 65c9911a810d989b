// The one thing in the harness that differs between programs of a compiler, so that main.cpp is compiled once for all.
#ifndef HEDDLE_BENCH_RUNTIME
#error "HEDDLE_BENCH_RUNTIME names the runtime this executable measures"
#endif

namespace heddle::bench {

extern const char* const runtime_name;
const char* const runtime_name = HEDDLE_BENCH_RUNTIME;

}  // namespace heddle::bench
