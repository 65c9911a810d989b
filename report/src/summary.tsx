// Tables that set runs side by side.
import type { ComponentChildren } from "preact";
import { shareOf } from "./charts";
import * as format from "./format";
import { Badge } from "./main";
import type { Figures, Run } from "./model";

interface Row { name: string; note?: string; value: (r: Run) => ComponentChildren; amount?: (r: Run) => number; better?: "less" | "more" }

// For one run alone: its figures side by side, because a table of one column leaves most of the page empty.
function Single({ run, rows, caption }: { run: Run; rows: Row[]; caption: string }) {
  return (
    <dl class="single" aria-label={caption}>
      {rows.map((row) => (
        <div><dt title={row.note}>{row.name}</dt><dd>{row.value(run)}</dd></div>
      ))}
    </dl>
  );
}

function Compare({ runs, rows, caption }: { runs: Run[]; rows: Row[]; caption: string }) {
  if (runs.length === 1) return <Single run={runs[0]} rows={rows} caption={caption} />;
  return (
    <table class="compare">
      <caption class="hidden">{caption}</caption>
      <thead>
        <tr><td />{runs.map((r) => <th scope="col">{r.label} <Badge run={r} /></th>)}</tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const amounts = row.amount === undefined ? [] : runs.map(row.amount);
          const best = row.better === "less" ? Math.min(...amounts) : Math.max(...amounts);
          const worth = runs.length > 1 && row.better !== undefined && amounts.some((a) => Math.abs(a - best) > 0.01 * Math.abs(best));
          return (
            <tr>
              <th scope="row">{row.name}{row.note !== undefined && <small>{row.note}</small>}</th>
              {runs.map((r, i) => <td class={worth && amounts[i] === best ? "best" : ""}>{row.value(r)}{worth && amounts[i] === best && <span class="tick-best" title="best"> ✓</span>}</td>)}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

export function Summary({ runs, figures }: { runs: Run[]; figures: Figures[] }) {
  const steals = (r: Run) => r.thefts.count;
  const rows: Row[] = [
    { name: "policy", value: (r) => r.policy || "–" },
    { name: "machine", value: (r) => r.machine || "–" },
    { name: "workers", value: (r) => r.lanes.length },
    { name: "time", note: "first to last event", value: (r) => format.time(r.wall), amount: (r) => r.wall, better: "less" },
    { name: "busy workers", note: "on average", value: (r) => format.ratio(shareOf(r).busy * r.lanes.length), amount: (r) => shareOf(r).busy * r.lanes.length, better: "more" },
    { name: "idle", value: (r) => format.percent(shareOf(r).idle), amount: (r) => shareOf(r).idle, better: "less" },
    { name: "overhead", value: (r) => format.percent(shareOf(r).overhead), amount: (r) => shareOf(r).overhead, better: "less" },
    { name: "steals", note: "and attempts in vain", value: (r) => `${format.count(steals(r))} + ${format.count(r.workers.reduce((s, w) => s + w.tried - w.steals, 0))}` },
    { name: "task slice", note: "median and longest", value: (r) => `${format.time(r.task_slice[1])}, ${format.time(r.task_slice[2])}` },
    { name: "wake to awake", note: "median", value: (r) => (r.wake_latency[0] === 0 ? "–" : format.time(r.wake_latency[1])) },
  ];
  return (
    <section aria-labelledby="summary-title">
      <h2 id="summary-title">Summary</h2>
      <div class="summary">
      {runs.length > 0 && <Compare runs={runs} rows={rows} caption="Summary of the runs" />}
      {figures.length > 0 && (
        <table class="compare figures">
          <caption>Simulated runs (heddle sim --json)</caption>
          <thead><tr>
            {["policy", "machine", "workers", "virtual time", "speedup", "busy", "overhead", "idle", "steals", "failed", "migrations", "real time"].map((h) => <th scope="col">{h}</th>)}
          </tr></thead>
          <tbody>
            {figures.map((f) => (
              <tr>
                <th scope="row">{f.policy}</th>
                <td>{f.machine}</td>
                <td>{f.workers}</td>
                <td>{f.virtual_seconds === undefined ? "–" : format.time(f.virtual_seconds * 1e9)}</td>
                <td>{f.speedup === undefined ? "–" : format.ratio(f.speedup)}</td>
                {[f.busy, f.overhead, f.idle].map((x) => <td>{x === undefined ? "–" : format.percent(x)}</td>)}
                {[f.steals, f.failed_steals, f.migrations].map((x) => <td>{x === undefined ? "–" : format.count(x)}</td>)}
                <td>{f.real_seconds === undefined ? "–" : format.time(f.real_seconds * 1e9)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      </div>
    </section>
  );
}

export function Warnings({ runs }: { runs: Run[] }) {
  const all = runs.flatMap((r) => r.dag.warnings.map((text) => ({ run: r.label, text })));
  if (all.length === 0) return null;
  return (
    <ul class="warnings">{all.map((w) => <li>{runs.length > 1 && <strong>{w.run}: </strong>}{w.text}</li>)}</ul>
  );
}

/** What to change first: the sentences of `heddle report`, each with its share of the workers' time. */
export function Diagnosis({ runs, goTo }: { runs: Run[]; goTo: (run: number, worker: number, from: number, to: number) => void }) {
  return (
    <section aria-labelledby="diagnosis-title" class="diagnosis">
      <h2 id="diagnosis-title">Diagnosis</h2>
      {runs.map((run) => (
        <div>
          {runs.length > 1 && <h3>{run.label}</h3>}
          {run.diagnosis.length === 0
            ? <p class="sound">Nothing takes more than a twentieth of the workers' time.</p>
            : (
              <ol>
                {run.diagnosis.map((f) => (
                  <li data-kind={f.kind}>
                    <b title="share of all workers' time">{format.percent(f.share)}</b>
                    <span>{marked(f.text)}{f.end_ns > f.begin_ns && f.end_ns - f.begin_ns < run.wall && (
                      <>{" "}<button type="button" class="link" onClick={() => goTo(run.index, f.worker, f.begin_ns, f.end_ns)}>Show it</button></>
                    )}</span>
                  </li>
                ))}
              </ol>
            )}
        </div>
      ))}
    </section>
  );
}

// Names stand between backquotes.
function marked(text: string): ComponentChildren {
  return text.split("`").map((part, i) => (i % 2 === 0 ? part : <code title={part}>{format.taskName(part)}</code>));
}

export function WorkTable({ runs }: { runs: Run[] }) {
  const estimate = (r: Run) => {
    const at = r.dag.speedups.filter((s) => s.workers <= r.lanes.length).at(-1);
    return at === undefined ? "–" : `${format.ratio(at.least)} to ${format.ratio(at.most)} on ${at.workers}`;
  };
  const rows: Row[] = [
    { name: "work", note: "user code, without the cost of tracing", value: (r) => format.time(r.dag.work_ns), amount: (r) => r.dag.work_ns, better: "less" },
    { name: "span", note: "work on the critical path", value: (r) => format.time(r.dag.span_ns) },
    { name: "share of the run's time", note: "the rest is waiting and scheduling", value: (r) => format.percent(r.dag.span_ns, r.wall) },
    { name: "parallelism", note: "work over span", value: (r) => format.ratio(r.dag.parallelism) },
    { name: "burdened parallelism", note: "each fork on the path at the cost of a steal", value: (r) => format.ratio(r.dag.burdened_parallelism) },
    { name: "speedup to expect", value: estimate },
    { name: "forks and children", value: (r) => `${format.count(r.dag.forks)} + ${format.count(r.dag.spawns)}${r.dag.forks_traced ? "" : " (slow path only)"}` },
  ];
  return <Compare runs={runs} rows={rows} caption="Work and span of the runs" />;
}
