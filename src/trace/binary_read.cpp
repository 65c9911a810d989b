#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "trace/binary.hpp"
#include "trace/legend.hpp"

namespace heddle::trace {
namespace {

constexpr std::size_t header_size = 32;

// Reads with every length checked, because a damaged length must neither read past the end nor ask for absurd amounts
// of memory.
class reader {
 public:
  explicit reader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T number(const char* what) {
    static_assert(std::is_integral_v<T>);
    T value;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }

  std::string text(const char* what) { return std::string(take(number<std::uint64_t>(what), what)); }

  // Reads a count of things that take at least `each` bytes.
  template <class T>
  T count(std::size_t each, const char* what) {
    const T n = number<T>(what);
    if (n > rest_.size() / each) damaged(what);
    return n;
  }

  std::string_view take(std::uint64_t bytes, const char* what) {
    if (bytes > rest_.size()) damaged(what);
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  [[nodiscard]] bool at_end() const { return rest_.empty(); }

  [[noreturn]] static void damaged(const char* what) {
    throw trace_error(fmt::format("damaged trace: {} does not fit; record it again", what));
  }

 private:
  std::string_view rest_;
};

struct known_event {
  // The value `none` means that this version has no such event, or has it with other fields.
  event id = event::none;
  std::string name;
};

std::vector<known_event> read_legend(reader& in) {
  std::vector<known_event> by_number;
  const auto entries = in.count<std::uint32_t>(2 + 4 * 8, "legend");
  for (std::uint32_t i = 0; i < entries; ++i) {
    const auto number = in.number<std::uint16_t>("legend");
    known_event found;
    found.name = in.text("legend");
    const std::string fields = in.text("legend");
    in.text("legend");
    in.text("legend");
    for (const event_info& e : detail::events) {
      if (e.id != event::none && e.name == found.name && legend_fields(e) == fields) found.id = e.id;
    }
    if (by_number.size() <= number) by_number.resize(number + std::size_t{1});
    by_number[number] = std::move(found);
  }
  return by_number;
}

worker_log read_worker(reader& in, const std::vector<known_event>& legend,
                       std::map<std::string, std::uint64_t>& unknown) {
  worker_log log;
  log.worker = in.number<std::uint16_t>("worker");
  log.place = in.text("worker");
  log.written = in.number<std::uint64_t>("worker");
  log.lost = in.number<std::uint64_t>("worker");
  const auto records = in.count<std::uint64_t>(sizeof(record), "record count");
  const std::string_view bytes = in.take(records * sizeof(record), "records");
  log.records.reserve(records);
  for (std::uint64_t i = 0; i < records; ++i) {
    record r;
    std::memcpy(&r, bytes.data() + i * sizeof r, sizeof r);
    const auto number = static_cast<std::size_t>(r.event);
    if (number >= legend.size() || legend[number].name.empty()) {
      throw trace_error(fmt::format("damaged trace: event number {} is not in its legend; record it again", number));
    }
    if (r.worker != log.worker || (!log.records.empty() && r.ns < log.records.back().ns))
      reader::damaged("a record's worker or time");
    r.event = legend[number].id;
    if (r.event == event::none) {
      ++unknown[legend[number].name];
    } else {
      log.records.push_back(r);
    }
  }
  return log;
}

}  // namespace

recording decode_binary(std::string_view bytes) {
  if (bytes.empty()) throw trace_error("empty file; the traced program did not reach its end");
  if ((bytes.front() == '{' || bytes.front() == '[') &&
      bytes.substr(0, 4096).find("\"traceEvents\"") != std::string_view::npos) {
    throw trace_error(
        "a Chrome trace in JSON, which is for viewers; record with a file name that ends in "
        ".heddle");
  }
  const std::size_t magic = std::min(bytes.size(), binary_magic.size());
  if (bytes.substr(0, magic) != binary_magic.substr(0, magic)) {
    throw trace_error("not a heddle trace; record one with HEDDLE_TRACE=NAME.heddle");
  }
  if (bytes.size() < header_size) {
    throw trace_error(
        fmt::format("truncated trace: {} bytes, the header alone has {}; record it again", bytes.size(), header_size));
  }
  reader head(bytes.substr(binary_magic.size()));
  const auto version = head.number<std::uint32_t>("header");
  if (version == 0 || version > binary_version) {
    throw trace_error(
        fmt::format("trace format {}, this heddle reads formats up to {}; record it again with this version", version,
                    binary_version));
  }
  head.number<std::uint32_t>("header");
  const auto size = head.number<std::uint64_t>("header");
  const auto sum = head.number<std::uint64_t>("header");
  const std::string_view payload = bytes.substr(header_size);
  if (payload.size() < size) {
    throw trace_error(fmt::format("truncated trace: {} of {} bytes; copy or record it again", payload.size(), size));
  }
  if (payload.size() > size)
    throw trace_error(fmt::format("damaged trace: {} bytes too many; copy or record it again", payload.size() - size));
  if (checksum(payload) != sum) throw trace_error("damaged trace: wrong checksum; copy or record it again");

  reader in(payload);
  recording result;
  result.program = in.text("program");
  result.machine = in.text("machine");
  result.policy = in.text("policy");
  result.end_ns = in.number<std::uint64_t>("end");
  if (version >= 2) {
    const auto attributes = in.count<std::uint32_t>(16, "attributes");
    for (std::uint32_t i = 0; i < attributes; ++i) {
      std::string name = in.text("attributes");
      result.attributes[std::move(name)] = in.text("attributes");
    }
  }
  const std::vector<known_event> legend = read_legend(in);
  const auto texts = in.count<std::uint32_t>(8, "texts");
  for (std::uint32_t i = 0; i < texts; ++i) result.texts.push_back(in.text("texts"));
  const auto symbols = in.count<std::uint32_t>(16, "symbols");
  for (std::uint32_t i = 0; i < symbols; ++i) {
    const auto address = in.number<std::uint64_t>("symbols");
    result.symbols[address] = in.text("symbols");
  }
  if (version >= 3) {
    const auto places = in.count<std::uint32_t>(24, "places");
    for (std::uint32_t i = 0; i < places; ++i) {
      code_place& at = result.places[in.number<std::uint64_t>("places")];
      at.module = in.text("places");
      at.offset = in.number<std::uint64_t>("places");
    }
  }
  const auto workers = in.count<std::uint32_t>(34, "workers");
  for (std::uint32_t i = 0; i < workers; ++i) {
    worker_log log = read_worker(in, legend, result.unknown);
    for (const worker_log& other : result.workers) {
      if (other.worker == log.worker) reader::damaged("a second log of the same worker");
    }
    if (!log.records.empty() && log.records.back().ns > result.end_ns) reader::damaged("a record after the end");
    result.workers.push_back(std::move(log));
  }
  if (!in.at_end()) reader::damaged("the end");
  return result;
}

}  // namespace heddle::trace
