// LAMMPS as a library that is opened when the program runs, with its package OPENMP.
#pragma once

#include <string>
#include <vector>

namespace heddle::bench_insitu {

class simulation {
 public:
  // A melt of 4 * cells^3 atoms, computed by `threads` OpenMP threads. Throws std::runtime_error, which says why.
  simulation(const std::string& library, int cells, int threads);
  ~simulation();
  simulation(const simulation&) = delete;
  simulation& operator=(const simulation&) = delete;

  void step();
  // A copy of where all atoms are: x, y, z of each.
  std::vector<double> positions() const;
  double side() const { return side_; }
  // Temperature and potential energy as they are now: the same whatever runs beside the simulation.
  std::vector<double> state() const;

 private:
  void command(const std::string& text) const;

  void* handle_ = nullptr;
  double side_;
  void (*close_)(void*);
  char* (*command_)(void*, const char*);
  void* (*extract_atom_)(void*, const char*);
  double (*natoms_)(void*);
  double (*thermo_)(void*, const char*);
  int (*has_error_)(void*);
  int (*last_error_)(void*, char*, int);
};

}  // namespace heddle::bench_insitu
