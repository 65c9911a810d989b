// Subcommands that are programs of their own, because most users of the command do without them.
#include "cli/command.hpp"
#include "cli/paper/about.hpp"

namespace heddle::cli {
namespace {

const registration paper_program_entry{command{"paper", paper::about, nullptr}};

}  // namespace
}  // namespace heddle::cli
