import { render } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ActivityLegend, Memory, Patterns, ShareBars, shareOf, StealMatrix, WorkerColumns } from "./charts";
import * as format from "./format";
import { load, type Figures, type RawPage, type Run } from "./model";
import { Diagnosis, Summary, Warnings, WorkTable } from "./summary";
import { TaskMap, WorkerScale } from "./taskmap";
import { letters, readTheme, type Theme } from "./theme";
import { matchesOf, moved, Timeline, zoomed } from "./timeline";
import type { Domain, Selection } from "./timeline_draw";

type Scheme = "auto" | "light" | "dark";

/** The theme in force: chosen by the reader, the system, or the printer. */
function useTheme(): [Theme, Scheme, (s: Scheme) => void] {
  const [scheme, setScheme] = useState<Scheme>("auto");
  const [theme, setTheme] = useState<Theme>(readTheme);
  useEffect(() => {
    const root = document.documentElement;
    const apply = () => setTheme(readTheme());
    if (scheme === "auto") delete root.dataset.theme;
    else root.dataset.theme = scheme;
    apply();
    const system = matchMedia("(prefers-color-scheme: dark)");
    const printer = matchMedia("print");
    system.addEventListener("change", apply);
    printer.addEventListener("change", apply);
    return () => {
      system.removeEventListener("change", apply);
      printer.removeEventListener("change", apply);
    };
  }, [scheme]);
  return [theme, scheme, setScheme];
}

function NameLegend({ run }: { run: Run }) {
  const names = Array.from(run.rank.keys()).filter((n) => run.busyOf[n] > 0 && run.rank[n] < 7).sort((a, b) => run.rank[a] - run.rank[b]);
  const others = run.names.filter((_, n) => run.busyOf[n] > 0 && run.rank[n] >= 7).length;
  return (
    <ul class="legend names">
      {names.map((n) => (
        <li title={run.names[n]}><b style={{ background: `var(--name-${run.rank[n]})` }}>{letters[run.rank[n]]}</b><span>{format.taskName(run.names[n])}</span></li>
      ))}
      {others > 0 && <li><b style={{ background: "var(--name-7)" }}>H</b><span>{others} others</span></li>}
    </ul>
  );
}

function Timelines({ runs, theme, jump }: { runs: Run[]; theme: Theme; jump: { run: number; worker: number; from: number; to: number } | null }) {
  const whole = useMemo<Domain>(() => ({ from: 0, to: Math.max(...runs.map((r) => Math.max(r.wall, ...r.lanes.map((l) => (l.count > 0 ? l.end[l.count - 1] : 0)))), 1) }), [runs]);
  const [domain, setDomain] = useState(whole);
  const [query, setQuery] = useState("");
  const [selected, select] = useState<Selection | null>(null);
  const [place, setPlace] = useState(-1);
  const found = useMemo(() => runs.map((r) => matchesOf(r, query)), [runs, query]);
  const all = useMemo(() => {
    const list = found.flatMap((f, run) => (f === null ? [] : f.list.map((m) => ({ run, ...m }))));
    return list.sort((a, b) => a.run - b.run || a.at - b.at);
  }, [found]);
  const centre = (domain.from + domain.to) / 2;

  const show = (run: number, worker: number, from: number, to: number, slice: number | null) => {
    const length = Math.min(Math.max((to - from) * 12, 200), domain.to - domain.from);
    setDomain(moved({ from: (from + to - length) / 2, to: (from + to + length) / 2 }, whole, 0));
    if (slice !== null) select({ run, worker, slice });
  };
  const go = (by: number) => {
    if (all.length === 0) return;
    const next = (place + by + all.length) % all.length;
    setPlace(next);
    const m = all[next];
    const lane = runs[m.run].lanes.find((l) => l.worker === m.worker)!;
    show(m.run, m.worker, lane.begin[m.slice], lane.end[m.slice], m.slice);
  };
  useEffect(() => {
    if (jump === null) return;
    const lane = runs[jump.run].lanes.find((l) => l.worker === jump.worker);
    const slice = lane === undefined ? -1 : Array.from({ length: lane.count }).findIndex((_, i) => lane.end[i] > jump.from);
    show(jump.run, jump.worker, jump.from, Math.max(jump.to, jump.from + 1), slice < 0 ? null : slice);
    document.getElementById("timeline")?.scrollIntoView({ block: "start", behavior: "smooth" });
  }, [jump]);
  const time = found.reduce((sum, f) => sum + (f?.time ?? 0), 0);
  const workerTime = runs.reduce((sum, r) => sum + r.workers.reduce((s, w) => s + w.busy + w.idle + w.overhead + w.off, 0), 0);

  return (
    <section id="timeline" aria-labelledby="timeline-title">
      <h2 id="timeline-title">Timeline</h2>
      <div class="controls">
        <label class="search">
          <span>Search tasks</span>
          <input type="search" value={query} placeholder="part of a name" spellcheck={false}
                 onInput={(e) => { setQuery(e.currentTarget.value); setPlace(-1); }}
                 onKeyDown={(e) => { if (e.key === "Enter") go(e.shiftKey ? -1 : 1); }} />
        </label>
        <button type="button" onClick={() => go(-1)} disabled={all.length === 0} title="Previous match (shift and enter)">‹ previous</button>
        <button type="button" onClick={() => go(1)} disabled={all.length === 0} title="Next match (enter)">next ›</button>
        <output>
          {query.trim() === "" ? "" : all.length === 0 ? "nothing of that name" :
            `${place >= 0 ? `${format.count(place + 1)} of ` : ""}${format.count(all.length)} slices, ${format.percent(time, workerTime)} of the workers' time`}
        </output>
        <span class="gap" />
        <button type="button" onClick={() => setDomain(zoomed(domain, whole, 1 / 0.5, centre))} aria-label="Zoom out" title="Zoom out (minus)">−</button>
        <button type="button" onClick={() => setDomain(zoomed(domain, whole, 0.5, centre))} aria-label="Zoom in" title="Zoom in (plus)">+</button>
        <button type="button" onClick={() => setDomain(whole)} title="Whole run (0)">all</button>
        <output class="range">{format.time(domain.to - domain.from)} from {format.time(domain.from)}</output>
      </div>
      {runs.map((run, i) => (
        <article class="run">
          <header>
            <h3>{run.label}</h3>
            <Badge run={run} />
            <NameLegend run={run} />
          </header>
          {run.lost > 0 && <p class="warning">{format.count(run.lost)} events were lost: what is here is the end of the run.</p>}
          <Timeline run={run} domain={domain} whole={whole} setDomain={setDomain} matches={found[i]?.names ?? null} selected={selected} select={select} theme={theme} />
        </article>
      ))}
      <p class="note">
        A slice of full height is user code, with its name or its letter; half height and hatched is overhead, a line at the foot idle time.
        The line under a slice marks the critical path. Arrows lead from the victim of a steal to its thief, once there is room for them.
        {" "}<kbd>Ctrl</kbd> and wheel or <kbd>+</kbd> <kbd>−</kbd> zoom, dragging or <kbd>←</kbd> <kbd>→</kbd> move, <kbd>0</kbd> shows all;
        {" "}<kbd>↑</kbd> <kbd>↓</kbd> choose a worker, <kbd>Shift</kbd> <kbd>←</kbd> <kbd>→</kbd> a slice, <kbd>Enter</kbd> goes there.
      </p>
    </section>
  );
}

export function Badge({ run }: { run: Run }) {
  return run.simulated
    ? <span class="badge simulated" title="Times of a modelled machine">simulated</span>
    : <span class="badge" title="Times of a real machine">measured</span>;
}

function TaskMaps({ runs, theme, goTo }: { runs: Run[]; theme: Theme; goTo: (run: number, worker: number, from: number, to: number) => void }) {
  const names = [...new Set(runs.flatMap((r) => r.pieces.map((p) => p.name)))];
  const [name, setName] = useState(names[0]);
  const shown = runs.map((run) => ({ run, pieces: run.pieces.find((p) => p.name === name) }));
  const steps = Math.max(1, ...shown.map((s) => s.pieces?.steps ?? 1));
  const [step, setStep] = useState(0);
  if (names.length === 0) return null;
  return (
    <section aria-labelledby="map-title">
      <h2 id="map-title">Task map</h2>
      <div class="controls">
        {names.length > 1 && (
          <label>of <select value={name} onChange={(e) => { setName(e.currentTarget.value); setStep(0); }}>
            {names.map((n) => <option value={n}>{n}</option>)}
          </select></label>
        )}
        {steps > 1 && (
          <label class="step">step
            <input type="range" min="0" max={steps - 1} value={step} onInput={(e) => setStep(+e.currentTarget.value)} />
            <output>{step + 1} of {steps}</output>
          </label>
        )}
        <span class="gap" />
        <WorkerScale workers={Math.max(...runs.map((r) => r.lanes.length))} />
      </div>
      <div class="side-by-side">
        {shown.map(({ run, pieces }) => pieces !== undefined && (
          <TaskMap run={run} pieces={pieces} step={step} theme={theme} alone={shown.length === 1} goTo={(w, a, b) => goTo(run.index, w, a, b)} />
        ))}
      </div>
      <p class="note">Which worker ran which piece of <code>{name}</code>; the numbers are the workers. A click shows the piece in the timeline.</p>
    </section>
  );
}

function PathTable({ run }: { run: Run }) {
  const rows = run.dag.functions.filter((f) => f.on_path_ns > 0).sort((a, b) => b.on_path_ns - a.on_path_ns).slice(0, 8);
  const whole = rows.reduce((sum, f) => sum + f.on_path_ns, 0) || 1;
  let switches = 0;
  for (let i = 1; i < run.path.count; ++i) if (run.path.worker[i] !== run.path.worker[i - 1]) ++switches;
  return (
    <table class="path">
      <caption><strong>{run.label}</strong> {format.time(run.dag.span_ns)} of work, in {format.count(run.path.count)} stretches that change the worker {format.count(switches)} times</caption>
      <tbody>
        {rows.map((f) => (
          <tr>
            <th scope="row" title={f.name}>{format.taskName(f.name)}</th>
            <td class="wide"><svg viewBox="0 0 100 10" preserveAspectRatio="none" class="cellbar" aria-hidden="true"><rect width={(f.on_path_ns / whole) * 100} height="10" class="fill-path" /></svg></td>
            <td class="number">{format.percent(f.on_path_ns, whole)}</td>
            <td class="number">{format.time(f.on_path_ns)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Report({ runs, figures }: { runs: Run[]; figures: Figures[] }) {
  const [theme, scheme, setScheme] = useTheme();
  const [jump, setJump] = useState<{ run: number; worker: number; from: number; to: number } | null>(null);
  const ready = useRef(false);
  useEffect(() => {
    if (ready.current) return;
    ready.current = true;
    requestAnimationFrame(() => requestAnimationFrame(() => { document.documentElement.dataset.ready = "1"; }));
  }, []);
  // A trace knows only the program's name; figures also know its arguments.
  const programs = [...new Set([...runs.map((r) => r.program), ...figures.map((f) => f.program ?? "")].filter((p) => p !== ""))]
    .filter((p, _, all) => !all.some((q) => q.startsWith(`${p} `)));
  const shares = [
    ...runs.map((r) => ({ label: r.label, note: `${r.lanes.length} workers, ${r.simulated ? "simulated" : "measured"}`, share: shareOf(r) })),
    // Figures of runs without a trace.
    ...figures.filter((f) => f.busy !== undefined && !runs.some((r) => r.simulated && r.policy === f.policy && r.lanes.length === f.workers))
      .map((f) => ({ label: f.policy ?? "", note: `${f.workers} workers, simulated`, share: { busy: f.busy!, overhead: f.overhead ?? 0, idle: f.idle ?? 0, off: 0 } })),
  ];
  return (
    <>
      <Patterns />
      <header class="top">
        <div>
          <h1>{programs.join(", ") || "heddle report"}</h1>
          <p class="note">heddle report{runs.length > 0 && `: ${runs.length} ${runs.length === 1 ? "trace" : "traces"}, ${format.count(runs.reduce((s, r) => s + r.events, 0))} events`}</p>
        </div>
        <div class="controls" role="group" aria-label="Theme">
          {(["auto", "light", "dark"] as const).map((s) => <button type="button" aria-pressed={scheme === s} onClick={() => setScheme(s)}>{s}</button>)}
        </div>
      </header>
      <main>
        {runs.length > 0 && <Diagnosis runs={runs} goTo={(run, worker, from, to) => setJump({ run, worker, from, to })} />}
        {runs.length > 0 && <Timelines runs={runs} theme={theme} jump={jump} />}
        <Summary runs={runs} figures={figures} />
        {shares.length > 0 && (
          <section aria-labelledby="time-title">
            <h2 id="time-title">Where the time went</h2>
            <ActivityLegend />
            <ShareBars rows={shares} />
            <div class="side-by-side">{runs.map((r) => <WorkerColumns run={r} alone={runs.length === 1} />)}</div>
          </section>
        )}
        <TaskMaps runs={runs} theme={theme} goTo={(run, worker, from, to) => setJump({ run, worker, from, to })} />
        {figures.some((f) => (f.levels ?? []).length + (f.nodes ?? []).length > 0) && (
          <section aria-labelledby="memory-title">
            <h2 id="memory-title">Caches and memory <span class="badge simulated">simulated</span></h2>
            <Memory figures={figures} />
          </section>
        )}
        {runs.some((r) => r.thefts.count > 0) && (
          <section aria-labelledby="steals-title">
            <h2 id="steals-title">Steals</h2>
            <div class="side-by-side">{runs.map((r) => <StealMatrix run={r} alone={runs.length === 1} />)}</div>
          </section>
        )}
        {runs.some((r) => r.path.count > 0) && (
          <section aria-labelledby="path-title">
            <h2 id="path-title">Critical path and parallelism</h2>
            <WorkTable runs={runs} />
            <Warnings runs={runs} />
            <div class="side-by-side">{runs.map((r) => <PathTable run={r} />)}</div>
          </section>
        )}
      </main>
    </>
  );
}

const page = JSON.parse(document.getElementById("data")!.textContent!) as RawPage;
const started = performance.now();
const runs = load(page);
performance.measure("heddle:decode", { start: started });
document.title = `${[...new Set(runs.map((r) => r.program))].join(", ") || "heddle"}: heddle report`;
render(<Report runs={runs} figures={page.figures} />, document.getElementById("page")!);
