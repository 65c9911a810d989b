// The data of the page as the file has them (src/trace/page.cpp writes them) and as the views use them.

export const activities = ["busy", "idle", "overhead", "off"] as const;
export type Activity = (typeof activities)[number];
export const BUSY = 0, IDLE = 1, OVERHEAD = 2, OFF = 3;

export interface WorkerTotals {
  number: number; place: string;
  busy: number; idle: number; overhead: number; off: number;
  tasks: number; steals: number; tried: number; parks: number; switches: number;
}

export interface FunctionProfile {
  name: string; count: number; work_ns: number; own_ns: number; on_path_ns: number;
  hinted: number; wrong_hints: number; worst_hint: number;
}

/** A cause that kept workers idle, in words, with the place to look for it in the timeline. */
export interface Finding { kind: string; share: number; text: string; worker: number; begin_ns: number; end_ns: number }

export interface Dag {
  work_ns: number; span_ns: number; parallelism: number;
  burdened_span_ns: number; burdened_parallelism: number;
  forks: number; spawns: number; threads: number; steals: number;
  forks_traced: boolean; grain_ns: number;
  speedups: { workers: number; least: number; most: number }[];
  functions: FunctionProfile[];
  warnings: string[];
}

/** [count, median, largest], in ns. */
export type Distribution = [number, number, number];

interface RawRun {
  name: string; program: string; machine: string; policy: string;
  attributes: Record<string, string>;
  events: number; lost: number; wall: number; imbalance: number | null;
  workers: WorkerTotals[];
  task_slice: Distribution; idle_spell: Distribution; steal_latency: Distribution; wake_latency: Distribution;
  diagnosis: Finding[];
  /** Kernel thread, depth, begin, end and name of a part that the program named, for example in main. */
  outside: [number, number, number, number, string][];
  dag: Dag;
  path: { count: number; data: string };
  slices: [number, number, string][];
  thefts: { count: number; data: string; matrix: [number, number, number, number, number][] };
  pieces: { name: string; tree: boolean; count: number; data: string }[];
  names: string[];
}

/** A row of `heddle sim --json`. */
export interface Figures {
  program?: string; machine?: string; policy?: string; workers?: number; seed?: number;
  virtual_seconds?: number; serial_virtual_seconds?: number; speedup?: number;
  levels?: { level: string; accesses: number; misses: number }[];
  nodes?: { node: number; local_bytes: number; remote_bytes: number }[];
  steals?: number; failed_steals?: number; migrations?: number;
  busy?: number; idle?: number; overhead?: number; real_seconds?: number;
}

export interface RawPage { version: number; runs: RawRun[]; figures: Figures[] }

/** The states of one worker in order: columns of equal length, times in ns since the first event of the run. */
export interface Lane {
  worker: number;
  count: number;
  begin: Float64Array;
  end: Float64Array;
  name: Uint32Array;
  what: Uint8Array;
}

export interface Thefts { count: number; at: Float64Array; took: Float64Array; thief: Uint16Array; victim: Uint16Array }
export interface Path { count: number; begin: Float64Array; end: Float64Array; worker: Uint16Array; name: Uint32Array }

export interface Pieces {
  name: string;
  tree: boolean;
  count: number;
  steps: number;
  begin: Float64Array; end: Float64Array;
  worker: Uint16Array;
  /** The number of times that the same piece was worked on before: the iteration of an iterative program. */
  step: Uint32Array;
  x0: Float64Array; y0: Float64Array; x1: Float64Array; y1: Float64Array;
  width: number; height: number;
}

export interface Run extends Omit<RawRun, "path" | "slices" | "thefts" | "pieces"> {
  index: number;
  label: string;
  simulated: boolean;
  lanes: Lane[];
  thefts: Thefts & { matrix: RawRun["thefts"]["matrix"] };
  path: Path;
  pieces: Pieces[];
  /** By name: its rank among the names with most busy time in all runs; 0 is the first. */
  rank: Uint32Array;
  busyOf: Float64Array;
}

/** Reads LEB128 numbers below 2^53 from base64. */
class Numbers {
  private readonly bytes: Uint8Array;
  private at = 0;
  constructor(base64: string) {
    const text = atob(base64);
    this.bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) this.bytes[i] = text.charCodeAt(i);
  }
  next(): number {
    let b = this.bytes[this.at++];
    if (b < 128) return b;
    let value = b & 127, scale = 128;
    do {
      b = this.bytes[this.at++];
      value += (b & 127) * scale;
      scale *= 128;
    } while (b >= 128);
    return value;
  }
}

function lane([worker, count, data]: [number, number, string]): Lane {
  const from = new Numbers(data);
  const l: Lane = {
    worker, count,
    begin: new Float64Array(count), end: new Float64Array(count),
    name: new Uint32Array(count), what: new Uint8Array(count),
  };
  let at = 0;
  for (let i = 0; i < count; ++i) {
    l.begin[i] = at += from.next();
    l.end[i] = at += from.next();
    const word = from.next();
    l.what[i] = word & 3;
    l.name[i] = word >>> 2;
  }
  return l;
}

function thefts(raw: RawRun["thefts"]): Run["thefts"] {
  const from = new Numbers(raw.data);
  const n = raw.count;
  const t = { count: n, at: new Float64Array(n), took: new Float64Array(n), thief: new Uint16Array(n), victim: new Uint16Array(n), matrix: raw.matrix };
  let at = 0;
  for (let i = 0; i < n; ++i) {
    t.at[i] = at += from.next();
    t.took[i] = from.next();
    t.thief[i] = from.next();
    t.victim[i] = from.next();
  }
  return t;
}

function criticalPath(raw: RawRun["path"]): Path {
  const from = new Numbers(raw.data);
  const n = raw.count;
  const p: Path = { count: n, begin: new Float64Array(n), end: new Float64Array(n), worker: new Uint16Array(n), name: new Uint32Array(n) };
  let at = 0;
  for (let i = 0; i < n; ++i) {
    p.begin[i] = at += from.next();
    p.end[i] = at + from.next();
    p.worker[i] = from.next();
    p.name[i] = from.next();
  }
  return p;
}

function pieces(raw: RawRun["pieces"][number]): Pieces {
  const from = new Numbers(raw.data);
  const n = raw.count;
  const column = () => new Float64Array(n);
  const p: Pieces = {
    name: raw.name, tree: raw.tree, count: n, steps: 0, begin: column(), end: column(), worker: new Uint16Array(n), step: new Uint32Array(n),
    x0: column(), y0: column(), x1: column(), y1: column(), width: 1, height: 1,
  };
  let at = 0;
  for (let i = 0; i < n; ++i) {
    p.begin[i] = at += from.next();
    p.end[i] = at + from.next();
    p.worker[i] = from.next();
    p.step[i] = from.next();
    if (raw.tree) {
      p.x0[i] = from.next();
      p.x1[i] = from.next();
      p.y0[i] = from.next();
      p.y1[i] = p.y0[i] + 1;
    } else {
      p.x0[i] = from.next();
      p.y0[i] = from.next();
      p.x1[i] = from.next();
      p.y1[i] = from.next();
    }
    p.steps = Math.max(p.steps, p.step[i] + 1);
    p.width = Math.max(p.width, p.x1[i]);
    p.height = Math.max(p.height, p.y1[i]);
  }
  return p;
}

/** Returns a text that distinguishes the runs: the policy if that suffices, and otherwise the file. */
function labels(runs: RawRun[]): string[] {
  const policies = new Set(runs.map((r) => r.policy));
  const base = (name: string) => name.replace(/^.*\//, "").replace(/\.heddle$/, "");
  return runs.map((r) => (policies.size === runs.length && r.policy !== "" ? r.policy : base(r.name)));
}

export function load(page: RawPage): Run[] {
  const named = labels(page.runs);
  const runs = page.runs.map((raw, index) => {
    const lanes = raw.slices.map(lane);
    const busyOf = new Float64Array(raw.names.length);
    for (const l of lanes) {
      for (let i = 0; i < l.count; ++i) if (l.what[i] === BUSY) busyOf[l.name[i]] += l.end[i] - l.begin[i];
    }
    return {
      ...raw, index, label: named[index], simulated: raw.attributes.clock === "virtual",
      lanes, thefts: thefts(raw.thefts), path: criticalPath(raw.path), pieces: raw.pieces.map(pieces), rank: new Uint32Array(raw.names.length), busyOf,
    };
  });
  // A name has the same letter and colour in all runs.
  const total = new Map<string, number>();
  for (const run of runs) run.names.forEach((name, i) => total.set(name, (total.get(name) ?? 0) + run.busyOf[i]));
  const place = new Map([...total].sort((a, b) => b[1] - a[1]).map(([name], i) => [name, i]));
  for (const run of runs) run.names.forEach((name, i) => (run.rank[i] = place.get(name)!));
  return runs;
}

/** Returns the first slice of the lane that ends after `time`. */
export function firstAfter(end: Float64Array, count: number, time: number): number {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (end[middle] > time) high = middle;
    else low = middle + 1;
  }
  return low;
}
