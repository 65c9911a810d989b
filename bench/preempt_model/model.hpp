// The parts that the measurements of heddle-preempt-model share.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <heddle/preemption.hpp>
#include <heddle/runtime.hpp>

namespace heddle::preempt_model {

struct settings {
  unsigned workers = 1;
  unsigned threads = 1;  // a worker
  unsigned active = 0;   // packing: workers that stay active
  std::string technique = "signal_yield";
  std::string klt = "direct";
  std::string timer = "aligned";
  double interval_us = 1000;
  double ms = 100;      // a thread computes so long
  double array_kb = 0;  // or passes over an array of its own
  unsigned passes = 0;
  bool write = false;
  unsigned barriers = 10;
  double turn_us = 1;         // of a loop that waits, told to the simulator
  unsigned steps = 20;        // of a simulation with analyses: parts one after the other
  double serial_us = 200;     // its one thread moves atoms
  double region_us = 1000;    // a thread on each worker computes
  double gap_us = 1000;       // its one thread waits for messages, and keeps its worker
  unsigned every = 1;         // steps from one analysis to the next
  double analysis_us = 1500;  // on each worker but one; 0 means none
  unsigned pieces = 1;        // the number of pieces of such a share
  bool priorities = false;
  unsigned outer = 8;           // gemm, cholesky: at once
  unsigned inner = 8;           // threads of each
  unsigned phases = 20;         // of an operation: its threads compute, and meet by spinning
  double operation_us = 10000;  // of one thread alone
  unsigned tiles = 8;           // cholesky: rows of tiles; panels: block columns
  bool gangs = false;           // panels: their threads are gangs
  std::string waits = "spin";   // for the other threads of an operation: spin, yield or park
  unsigned repeats = 1;
  std::string policy = "random_ws";
  std::string json;
};

using samples = std::map<std::string, std::vector<double>>;  // by metric

// of the simulated machine; a machine of another clock computes shorter or longer, threads and base alike
inline double cycles_a_microsecond = 2500;
inline double rounds_a_ms = 0;  // of the loop that computes, here

double seconds();
bool simulated();
// Keeps a processor busy; returns something that depends on all of it.
std::uint64_t rounds(std::uint64_t n, std::uint64_t x);
void compute(double ms, unsigned seed);
void wait_a_turn(double us);

bool by_kernel_threads(const settings& s);
// Returns the technique of that name, or `none` for threads: 1:1 threads are not preempted by heddle.
heddle::preemption technique_of(const std::string& name);
// 1:1 threads are workers, more than there are processors for, with a thread each.
std::unique_ptr<heddle::runtime> runtime_for(const settings& s);

// Parallel operations in parallel threads, and in a graph (nested.cpp).
samples gemm(const settings& s);
samples cholesky(const settings& s);
// A factorisation whose panels have threads of their own (panels.cpp).
samples panels(const settings& s);
// Computation and messages in one graph (messages.cpp).
samples messages(const settings& s);

}  // namespace heddle::preempt_model
