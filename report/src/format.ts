// Numbers for people: few digits, with the unit beside them.

const space = "\u2009";

function digits(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

export function time(ns: number): string {
  const size = Math.abs(ns);
  if (size < 1) return `0${space}ns`;
  if (size < 1e3) return `${digits(ns)}${space}ns`;
  if (size < 1e6) return `${digits(ns / 1e3)}${space}µs`;
  if (size < 1e9) return `${digits(ns / 1e6)}${space}ms`;
  return `${digits(ns / 1e9)}${space}s`;
}

/** A point on a time axis that ends at `last` and whose labels are `step` apart. */
export function tick(ns: number, step: number, last: number): string {
  const [scale, unit] = last >= 1e9 ? [1e9, "s"] : last >= 1e6 ? [1e6, "ms"] : last >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  return `${(ns / scale).toFixed(Math.max(0, Math.ceil(-Math.log10(step / scale) - 1e-9)))}${space}${unit}`;
}

export function count(n: number): string {
  const size = Math.abs(n);
  if (size >= 1e10) return `${digits(n / 1e9)}${space}G`;
  if (size >= 1e7) return `${digits(n / 1e6)}${space}M`;
  return Math.round(n).toLocaleString("en-US");
}

export function bytes(n: number): string {
  if (n >= 2 ** 30) return `${digits(n / 2 ** 30)}${space}GiB`;
  if (n >= 2 ** 20) return `${digits(n / 2 ** 20)}${space}MiB`;
  if (n >= 2 ** 10) return `${digits(n / 2 ** 10)}${space}KiB`;
  return `${n}${space}B`;
}

export function percent(part: number, whole = 1): string {
  if (!(whole > 0)) return "–";
  const p = (100 * part) / whole;
  return `${p.toFixed(p < 10 ? 1 : 0)}${space}%`;
}

export function ratio(x: number): string {
  return Number.isFinite(x) ? digits(x) : "–";
}

/** Returns a C++ name without namespaces, template arguments and parameters: `trainer::build, lambda 3`. Other names stay. */
export function taskName(full: string): string {
  if (!full.includes("::")) return full;
  const lambda = /\{lambda\([^{}]*\)#(\d+)\}[^{}]*$/.exec(full);
  let depth = 0, bare = "";
  for (const c of lambda === null ? full : full.slice(0, lambda.index)) {
    if (c === "<" || c === "(") ++depth;
    else if (c === ">" || c === ")") --depth;
    else if (depth === 0) bare += c;
  }
  if (depth !== 0) return full;
  const words = bare.split("::").filter((w) => w !== "");
  const name = words.slice(-2).join("::");
  if (name === "") return full;
  return lambda === null ? name : `${name}, lambda ${lambda[1]}`;
}
