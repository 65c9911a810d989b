// Charts of a few dozen marks, as SVG or tables. So they can be printed, and a screen reader can read them.
import { scaleLinear } from "d3-scale";
import * as format from "./format";
import type { Figures, Run, WorkerTotals } from "./model";

/** Patterns that the bars below refer to. */
export function Patterns() {
  return (
    <svg width="0" height="0" class="patterns" aria-hidden="true">
      <defs>
        <pattern id="hatched" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="6" height="6" fill="var(--panel)" />
          <rect width="2.6" height="6" fill="var(--overhead)" />
        </pattern>
        <pattern id="dotted" width="6" height="6" patternUnits="userSpaceOnUse">
          <rect width="6" height="6" fill="var(--panel)" />
          <circle cx="3" cy="3" r="1.1" fill="var(--muted)" />
        </pattern>
      </defs>
    </svg>
  );
}

export interface Share { busy: number; overhead: number; idle: number; off: number }
const kinds: (keyof Share)[] = ["busy", "overhead", "idle", "off"];

export function shareOf(run: Run): Share {
  const sum = { busy: 0, overhead: 0, idle: 0, off: 0 };
  for (const w of run.workers) for (const k of kinds) sum[k] += w[k];
  const whole = sum.busy + sum.overhead + sum.idle + sum.off || 1;
  return { busy: sum.busy / whole, overhead: sum.overhead / whole, idle: sum.idle / whole, off: sum.off / whole };
}

export function ActivityLegend() {
  return (
    <ul class="legend">
      <li><svg width="22" height="12"><rect width="22" height="12" class="fill-busy" /></svg>busy: user code</li>
      <li><svg width="22" height="12"><rect width="22" height="12" fill="url(#hatched)" class="outline" /></svg>overhead: run loop, switches, steals that succeed</li>
      <li><svg width="22" height="12"><rect x="0.5" y="0.5" width="21" height="11" class="fill-idle" /></svg>idle: searching in vain, asleep</li>
    </ul>
  );
}

/** One line for each run: where its workers' time went. */
export function ShareBars({ rows }: { rows: { label: string; note: string; share: Share }[] }) {
  return (
    <table class="bars">
      <tbody>
        {rows.map((row) => {
          let at = 0;
          return (
            <tr>
              <th scope="row">{row.label}<small>{row.note}</small></th>
              <td class="wide">
                <svg viewBox="0 0 1000 26" preserveAspectRatio="none" role="img"
                     aria-label={kinds.map((k) => `${k} ${format.percent(row.share[k])}`).join(", ")}>
                  {kinds.map((k) => {
                    const x = at * 1000;
                    at += row.share[k];
                    return row.share[k] > 0 && <rect x={x} width={row.share[k] * 1000} height="26" class={`fill-${k}`} />;
                  })}
                </svg>
              </td>
              {kinds.slice(0, 3).map((k) => <td class="number">{format.percent(row.share[k])}<small>{k}</small></td>)}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** One column for each worker. */
export function WorkerColumns({ run, alone }: { run: Run; alone: boolean }) {
  const n = Math.max(run.workers.length, 1);
  const pitch = Math.max(5, Math.min(30, Math.floor((alone ? 900 : 380) / n)));
  const high = 92;
  const longest = Math.max(...run.workers.map((w) => w.busy + w.overhead + w.idle + w.off), 1);
  const y = scaleLinear([0, longest], [0, high]);
  const every = Math.ceil(16 / pitch);
  return (
    <figure class="columns">
      <figcaption><strong>{run.label}</strong> busiest worker over the mean: {format.ratio(run.imbalance ?? NaN)}</figcaption>
      <svg width={n * pitch + 4} height={high + 16} role="img" aria-label={`Busy, overhead and idle time of ${n} workers under ${run.label}`}>
        {run.workers.map((w: WorkerTotals, i) => {
          let top = high;
          const wide = Math.max(pitch - (pitch > 8 ? 3 : 1), 3);
          return (
            <g transform={`translate(${i * pitch + 2},0)`}>
              <title>{`worker ${w.number}${w.place === "" ? "" : ` on ${w.place}`}: busy ${format.time(w.busy)}, overhead ${format.time(w.overhead)}, idle ${format.time(w.idle)}`}</title>
              {kinds.map((k) => {
                const tall = y(w[k]);
                top -= tall;
                return tall > 0 && <rect y={top} width={wide} height={tall} class={`fill-${k}`} />;
              })}
              {i % every === 0 && <text x={wide / 2} y={high + 12} class="tick">{w.number}</text>}
            </g>
          );
        })}
        <line x1="0" x2={n * pitch + 4} y1={high + 0.5} y2={high + 0.5} class="axis" />
      </svg>
    </figure>
  );
}

/** Rows are thieves and columns are victims; a darker cell means more steals. */
export function StealMatrix({ run, alone }: { run: Run; alone: boolean }) {
  const n = Math.max(run.lanes.length, 1);
  const cell = Math.max(4, Math.min(30, Math.floor((alone ? 520 : 330) / n)));
  const most = Math.max(1, ...run.thefts.matrix.map((m) => m[3]));
  const shade = scaleLinear([0, Math.sqrt(most)], [0.06, 1]);
  const numbers = cell >= 20;
  const every = Math.ceil(20 / cell);
  const row = new Map(run.lanes.map((l, i) => [l.worker, i]));
  return (
    <figure class="matrix">
      <figcaption><strong>{run.label}</strong> {format.count(run.thefts.count)} steals, most from one to one: {run.thefts.count === 0 ? 0 : format.count(most)}</figcaption>
      <svg width={n * cell + 46} height={n * cell + 40} role="img"
           aria-label={`Steals between ${n} workers under ${run.label}: ${run.thefts.count} in all`}>
        <text x={44 + (n * cell) / 2} y="10" class="tick">victim</text>
        <text transform={`translate(10,${36 + (n * cell) / 2}) rotate(-90)`} class="tick">thief</text>
        <g transform="translate(44,34)">
          <rect x="-0.5" y="-0.5" width={n * cell + 1} height={n * cell + 1} class="frame" />
          {run.lanes.map((l, i) => i % every === 0 && (
            <>
              <text x={(i + 0.5) * cell} y="-6" class="tick">{l.worker}</text>
              <text x="-5" y={(i + 0.5) * cell + 3.5} class="tick end">{l.worker}</text>
            </>
          ))}
          {run.thefts.matrix.map(([thief, victim, tried, got, level]) => {
            const i = row.get(thief), j = row.get(victim);
            if (i === undefined || j === undefined || got === 0) return null;
            const strength = shade(Math.sqrt(got));
            return (
              <g>
                <rect x={j * cell} y={i * cell} width={cell - (cell > 6 ? 1 : 0)} height={cell - (cell > 6 ? 1 : 0)} class="fill-steal" opacity={strength}>
                  <title>{`worker ${thief} from worker ${victim}: ${got} of ${tried} attempts, distance ${level}`}</title>
                </rect>
                {numbers && got < 1000 && (
                  <text x={(j + 0.5) * cell - 0.5} y={(i + 0.5) * cell + 3.5} class={strength > 0.55 ? "in dark" : "in"}>{got}</text>
                )}
              </g>
            );
          })}
        </g>
      </svg>
    </figure>
  );
}

const rowName = (f: Figures) => f.policy ?? f.program ?? "";

function Bar({ part, of, second = 0 }: { part: number; of: number; second?: number }) {
  const whole = of || 1;
  return (
    <svg viewBox="0 0 100 10" preserveAspectRatio="none" class="cellbar" aria-hidden="true">
      <rect width={(part / whole) * 100} height="10" class="fill-busy" />
      {second > 0 && <rect x={(part / whole) * 100} width={(second / whole) * 100} height="10" fill="url(#hatched)" />}
    </svg>
  );
}

/** Misses of every cache level and traffic of every memory node, with a column for each run. */
export function Memory({ figures }: { figures: Figures[] }) {
  const levels = [...new Set(figures.flatMap((f) => (f.levels ?? []).map((l) => l.level)))];
  const nodes = [...new Set(figures.flatMap((f) => (f.nodes ?? []).map((n) => n.node)))].sort((a, b) => a - b);
  const head = (
    <tr><td />{figures.map((f) => <th scope="col">{rowName(f)}<small>{f.workers} workers, {f.machine}</small></th>)}</tr>
  );
  return (
    <div class="memory">
      {levels.length > 0 && (
        <table>
          <caption>Misses of all caches of a level, and their share of the accesses that reach it</caption>
          <thead>{head}</thead>
          <tbody>
            {levels.map((level) => {
              const of = (f: Figures) => (f.levels ?? []).find((l) => l.level === level);
              const most = Math.max(...figures.map((f) => of(f)?.misses ?? 0));
              return (
                <tr>
                  <th scope="row">{level}</th>
                  {figures.map((f) => {
                    const l = of(f);
                    return l === undefined ? <td>–</td> : (
                      <td><Bar part={l.misses} of={most} /><span>{format.count(l.misses)}</span><small>{format.percent(l.misses, l.accesses)}</small></td>
                    );
                  })}
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
      {nodes.length > 0 && (
        <table>
          <caption>Bytes fetched from the memory of each node: solid by its own cores, hatched by others</caption>
          <thead>{head}</thead>
          <tbody>
            {nodes.map((node) => {
              const of = (f: Figures) => (f.nodes ?? []).find((n) => n.node === node);
              const most = Math.max(...figures.flatMap((f) => (f.nodes ?? []).map((n) => n.local_bytes + n.remote_bytes)));
              return (
                <tr>
                  <th scope="row">node {node}</th>
                  {figures.map((f) => {
                    const n = of(f);
                    return n === undefined ? <td>–</td> : (
                      <td>
                        <Bar part={n.local_bytes} second={n.remote_bytes} of={most} />
                        <span>{format.bytes(n.local_bytes)} local</span>
                        <small>{format.bytes(n.remote_bytes)} remote</small>
                      </td>
                    );
                  })}
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </div>
  );
}
