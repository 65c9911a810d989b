#include "bench/insitu/simulation.hpp"

#include <dlfcn.h>

#include <cmath>
#include <stdexcept>

namespace heddle::bench_insitu {

namespace {

constexpr double density = 0.8442;  // of LAMMPS's melt

template <class F>
void find(void* from, const char* name, F*& function) {
  function = reinterpret_cast<F*>(dlsym(from, name));
  if (function == nullptr) throw std::runtime_error(std::string("the library has no ") + name);
}

}  // namespace

simulation::simulation(const std::string& library, int cells, int threads)
    : side_(cells * std::cbrt(4 / density)) {  // four atoms a cell
  void* const opened = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (opened == nullptr) throw std::runtime_error(dlerror());
  void* (*open)(int, char**, void**) = nullptr;
  find(opened, "lammps_open_no_mpi", open);
  find(opened, "lammps_close", close_);
  find(opened, "lammps_command", command_);
  find(opened, "lammps_extract_atom", extract_atom_);
  find(opened, "lammps_get_natoms", natoms_);
  find(opened, "lammps_get_thermo", thermo_);
  find(opened, "lammps_has_error", has_error_);
  find(opened, "lammps_get_last_error_message", last_error_);
  std::vector<std::string> words = {"lammps", "-screen", "none", "-log", "none",
                                    "-sf",    "omp",     "-pk",  "omp",  std::to_string(threads)};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  handle_ = open(static_cast<int>(argv.size()), argv.data(), nullptr);
  if (handle_ == nullptr) throw std::runtime_error("LAMMPS does not begin: it needs its package OPENMP");
  const std::string n = std::to_string(cells);
  for (const std::string& text :
       {std::string("units lj"), std::string("atom_style atomic"), std::string("lattice fcc 0.8442"),
        "region box block 0 " + n + " 0 " + n + " 0 " + n, std::string("create_box 1 box"),
        std::string("create_atoms 1 box"), std::string("mass 1 1.0"),
        std::string("velocity all create 1.44 87287 loop geom"), std::string("pair_style lj/cut 2.5"),
        std::string("pair_coeff 1 1 1.0 1.0 2.5"), std::string("neighbor 0.3 bin"),
        std::string("neigh_modify delay 5 every 1"), std::string("fix 1 all nve"), std::string("run 0")})
    command(text);
}

simulation::~simulation() { close_(handle_); }

void simulation::command(const std::string& text) const {
  command_(handle_, text.c_str());
  if (has_error_(handle_) == 0) return;
  char why[512] = "";
  last_error_(handle_, why, sizeof why);
  throw std::runtime_error(text + ": " + why);
}

void simulation::step() { command("run 1 pre no post no"); }

std::vector<double> simulation::positions() const {
  const auto* const x = static_cast<double**>(extract_atom_(handle_, "x"));
  const auto count = static_cast<std::size_t>(natoms_(handle_));
  return {x[0], x[0] + 3 * count};
}

std::vector<double> simulation::state() const { return {thermo_(handle_, "temp"), thermo_(handle_, "pe")}; }

}  // namespace heddle::bench_insitu
