// Task maps: which worker ran which piece of a grid or a tree, with a picture for each run; after figures 4.1 and B.1
// of the ADWS thesis.
import { useEffect, useRef, useState } from "preact/hooks";
import * as format from "./format";
import type { Pieces, Run } from "./model";
import { prepare, workerColour, workerInk, type Theme } from "./theme";

function place(p: Pieces, side: number): { wide: number; tall: number; sx: number; sy: number } {
  if (p.tree) {
    const tall = Math.max(60, Math.min(side, p.height * 26));
    return { wide: side, tall, sx: side / 0xffffffff, sy: tall / p.height };
  }
  const shape = Math.min(Math.max(p.height / p.width, 0.12), 1);
  const wide = p.height > p.width ? Math.max(side * 0.3, (side * p.width) / p.height) : side;
  const tall = p.height > p.width ? side : Math.max(44, side * shape);
  return { wide, tall, sx: wide / p.width, sy: tall / p.height };
}

/** The pieces of one step. Trees have one step with all their pieces. */
function inStep(p: Pieces, step: number): number[] {
  const found: number[] = [];
  for (let i = 0; i < p.count; ++i) if (p.step[i] === step) found.push(i);
  return found;
}

/** The number of pieces of this step that ran on the worker of the previous step; null for the first step. */
export function stayed(p: Pieces, step: number): number | null {
  if (step === 0) return null;
  const key = (i: number) => `${p.x0[i]},${p.y0[i]},${p.x1[i]},${p.y1[i]}`;
  const before = new Map(inStep(p, step - 1).map((i) => [key(i), p.worker[i]]));
  let same = 0, all = 0;
  for (const i of inStep(p, step)) {
    const worker = before.get(key(i));
    if (worker === undefined) continue;
    ++all;
    if (worker === p.worker[i]) ++same;
  }
  return all === 0 ? null : same / all;
}

export function TaskMap({ run, pieces, step, theme, alone, goTo }: {
  run: Run; alone: boolean; pieces: Pieces; step: number; theme: Theme; goTo: (worker: number, from: number, to: number) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [tip, setTip] = useState<{ x: number; y: number; text: string } | null>(null);
  const workers = run.lanes.length;
  const shown = inStep(pieces, Math.min(step, pieces.steps - 1));
  const p = place(pieces, alone ? (pieces.tree ? 1100 : 560) : 372);

  useEffect(() => {
    const c = prepare(canvas.current!, Math.ceil(p.wide), Math.ceil(p.tall));
    c.textAlign = "center";
    c.textBaseline = "middle";
    for (const i of shown) {
      const x = pieces.x0[i] * p.sx, y = pieces.y0[i] * p.sy;
      const wide = (pieces.x1[i] - pieces.x0[i]) * p.sx, tall = (pieces.y1[i] - pieces.y0[i]) * p.sy;
      const gap = wide > 6 && tall > 6 ? 1 : 0;
      c.fillStyle = workerColour(pieces.worker[i], workers);
      c.fillRect(x, y, Math.max(wide - gap, 0.6), Math.max(tall - gap, 0.6));
      const size = Math.min(13, tall * 0.62);
      if (size >= 7 && wide >= size * (pieces.worker[i] > 9 ? 1.35 : 0.8)) {
        c.fillStyle = workerInk(pieces.worker[i], workers);
        c.font = `${size}px system-ui, sans-serif`;
        c.fillText(String(pieces.worker[i]), x + (wide - gap) / 2, y + (tall - gap) / 2 + 0.5);
      }
    }
  }, [run, pieces, step, theme]);

  const find = (e: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const x = (e.clientX - box.left) / p.sx, y = (e.clientY - box.top) / p.sy;
    const i = shown.find((k) => pieces.x0[k] <= x && x < pieces.x1[k] && pieces.y0[k] <= y && y < pieces.y1[k]);
    return { i, x: e.clientX - box.left, y: e.clientY - box.top };
  };
  const same = stayed(pieces, Math.min(step, pieces.steps - 1));
  const used = new Set(shown.map((i) => pieces.worker[i])).size;
  return (
    <figure class="map">
      <figcaption>
        <strong>{run.label}</strong> {run.simulated ? "simulated" : "measured"}
      </figcaption>
      <div class="holder">
        <canvas
          ref={canvas} role="img"
          aria-label={`Task map of ${pieces.name} under ${run.label}: ${shown.length} pieces on ${used} workers`}
          onMouseMove={(e) => {
            const { i, x, y } = find(e);
            setTip(i === undefined ? null : {
              x, y,
              text: `worker ${pieces.worker[i]}, ` + (pieces.tree
                ? `depth ${pieces.y0[i]}`
                : `[${pieces.x0[i]}, ${pieces.x1[i]}) × [${pieces.y0[i]}, ${pieces.y1[i]})`) + `, ${format.time(pieces.end[i] - pieces.begin[i])}`,
            });
          }}
          onMouseLeave={() => setTip(null)}
          onClick={(e) => {
            const { i } = find(e);
            if (i !== undefined) goTo(pieces.worker[i], pieces.begin[i], pieces.end[i]);
          }}
        />
        {tip !== null && <div class="tip" style={{ left: `${Math.min(tip.x + 12, p.wide - 220)}px`, top: `${tip.y + 14}px` }}>{tip.text}</div>}
      </div>
      <p class="note">
        {format.count(shown.length)} pieces on {used} of {workers} workers
        {same !== null && <>; <strong>{format.percent(same)}</strong> on the worker of the step before</>}
      </p>
    </figure>
  );
}

/** The order of colours, with the numbers that the maps show. */
export function WorkerScale({ workers }: { workers: number }) {
  const cells = Math.min(workers, 16);
  return (
    <div class="scale" aria-hidden="true">
      <span>worker</span>
      {Array.from({ length: cells }, (_, i) => Math.round((i * (workers - 1)) / Math.max(cells - 1, 1))).map((w) => (
        <span class="cell" style={{ background: workerColour(w, workers), color: workerInk(w, workers) }}>{w}</span>
      ))}
    </div>
  );
}
