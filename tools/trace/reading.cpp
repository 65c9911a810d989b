#include "tools/trace/reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
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

  // Reads a number in LEB128 that is no larger than `most`.
  std::uint64_t packed(const char* what, std::uint64_t most = ~std::uint64_t{0}) {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1, what).front());
      const std::uint64_t part = byte & 0x7f;
      if (shift > 63 || part << shift >> shift != part) damaged(what);
      value |= part << shift;
      if (byte < 0x80) break;
    }
    if (value > most) damaged(what);
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

// Reads the records of one worker. The events have their numbers in the file.
class record_reader {
 public:
  record_reader(reader& in, std::uint32_t version, std::uint16_t worker, std::size_t events)
      : in_(in), packed_(version >= 4), worker_(worker), last_(events) {}

  record next() {
    record r;
    if (!packed_) {
      std::memcpy(&r, in_.take(sizeof r, "records").data(), sizeof r);
      if (r.worker != worker_ || r.ns < ns_) reader::damaged("a record's worker or time");
      ns_ = r.ns;
      return r;
    }
    const std::uint64_t number = in_.packed("a record's event", 0xffff);
    r.event = static_cast<event>(number);
    r.worker = worker_;
    r.ns = ns_ + in_.packed("a record's time", ~ns_);
    ns_ = r.ns;
    r.arg = static_cast<std::uint32_t>(in_.packed("a record", 0xffffffff));
    last_words none;
    last_words& before = number < last_.size() ? last_[number] : none;  // a number beyond the legend is refused later
    r.a = before.a += unfolded(in_.packed("a record"));
    r.b = before.b += unfolded(in_.packed("a record"));
    return r;
  }
  // The least number of bytes that a record takes.
  [[nodiscard]] std::size_t least() const { return packed_ ? 5 : sizeof(record); }

 private:
  reader& in_;
  const bool packed_;
  const std::uint16_t worker_;
  std::uint64_t ns_ = 0;
  std::vector<last_words> last_;
};

worker_log read_worker(reader& in, std::uint32_t version, const std::vector<known_event>& legend,
                       std::map<std::string, std::uint64_t>& unknown) {
  worker_log log;
  log.worker = in.number<std::uint16_t>("worker");
  log.place = in.text("worker");
  log.written = in.number<std::uint64_t>("worker");
  log.lost = in.number<std::uint64_t>("worker");
  record_reader from(in, version, log.worker, legend.size());
  const auto records = in.count<std::uint64_t>(from.least(), "record count");
  log.records.reserve(records);
  for (std::uint64_t i = 0; i < records; ++i) {
    record r = from.next();
    const auto number = static_cast<std::size_t>(r.event);
    if (number >= legend.size() || legend[number].name.empty()) {
      throw trace_error(fmt::format("damaged trace: event number {} is not in its legend; record it again", number));
    }
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
    worker_log log = read_worker(in, version, legend, result.unknown);
    for (const worker_log& other : result.workers) {
      if (other.worker == log.worker) reader::damaged("a second log of the same worker");
    }
    if (!log.records.empty() && log.records.back().ns > result.end_ns) reader::damaged("a record after the end");
    result.workers.push_back(std::move(log));
  }
  if (!in.at_end()) reader::damaged("the end");
  return result;
}

recording load(const std::string& path) {
  struct closer {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  const std::unique_ptr<std::FILE, closer> in(std::fopen(path.c_str(), "rb"));
  if (!in)
    throw trace_error(
        fmt::format("{}: cannot open: {}; give the .heddle file a traced program wrote", path, std::strerror(errno)));
  std::string bytes;
  char block[1 << 16];
  for (std::size_t n; (n = std::fread(block, 1, sizeof block, in.get())) > 0;) bytes.append(block, n);
  if (std::ferror(in.get()))
    throw trace_error(fmt::format("{}: cannot read: {}; give a .heddle file", path, std::strerror(errno)));
  try {
    return decode_binary(bytes);
  } catch (const trace_error& e) {
    throw trace_error(fmt::format("{}: {}", path, e.what()));
  }
}

}  // namespace heddle::trace
