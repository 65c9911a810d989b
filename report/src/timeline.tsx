// The timeline of one run: the canvas, the actions of mouse and keyboard on it, and the line that describes the
// selection.
import { useEffect, useRef, useState } from "preact/hooks";
import * as format from "./format";
import { activities, BUSY, firstAfter, type Run } from "./model";
import { draw, hit, layout, type Domain, type Selection } from "./timeline_draw";
import type { Theme } from "./theme";

interface Props {
  run: Run;
  domain: Domain;
  whole: Domain;
  setDomain: (d: Domain) => void;
  matches: Uint8Array | null;
  selected: Selection | null;
  select: (s: Selection | null) => void;
  theme: Theme;
}

export function zoomed(d: Domain, whole: Domain, factor: number, centre: number): Domain {
  const length = Math.min(Math.max((d.to - d.from) * factor, 20), whole.to - whole.from);
  return clamped({ from: centre - (centre - d.from) * (length / (d.to - d.from)), to: 0 }, length, whole);
}

export function moved(d: Domain, whole: Domain, by: number): Domain {
  return clamped({ from: d.from + by, to: 0 }, d.to - d.from, whole);
}

function clamped(d: Domain, length: number, whole: Domain): Domain {
  const from = Math.min(Math.max(d.from, whole.from), whole.to - length);
  return { from, to: from + length };
}

export function useWidth(): [preact.RefObject<HTMLDivElement>, number] {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = ref.current!;
    const measure = () => setWidth(Math.floor(element.clientWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

export function describe(run: Run, s: Selection): string {
  const lane = run.lanes.find((l) => l.worker === s.worker)!;
  const what = activities[lane.what[s.slice]];
  const name = run.names[lane.name[s.slice]];
  return `worker ${s.worker}: ${name}${what === name ? "" : `, ${what}`}, ${format.time(lane.end[s.slice] - lane.begin[s.slice])} from ${format.time(lane.begin[s.slice])}`;
}

export function Timeline({ run, domain, whole, setDomain, matches, selected, select, theme }: Props) {
  const [holder, width] = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [tip, setTip] = useState<{ x: number; y: number; text: string } | null>(null);
  const drag = useRef<{ x: number; domain: Domain; moved: boolean } | null>(null);
  const mine = selected !== null && selected.run === run.index ? selected : null;

  useEffect(() => {
    if (width === 0) return;
    const frame = requestAnimationFrame(() => {
      draw(canvas.current!, run, width, domain, theme, matches, mine);
      performance.mark("heddle:drawn");
    });
    return () => cancelAnimationFrame(frame);
  }, [run, width, domain, theme, matches, mine]);

  const at = (e: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    return { x: e.clientX - box.left, y: e.clientY - box.top };
  };
  const timeAt = (px: number) => {
    const l = layout(run, width);
    return domain.from + ((Math.max(px, l.left) - l.left) * (domain.to - domain.from)) / (l.width - l.left - 2);
  };
  const wheel = useRef<(e: WheelEvent) => void>(() => {});
  wheel.current = (e: WheelEvent) => {
    const sideways = Math.abs(e.deltaX) > Math.abs(e.deltaY);
    if (!e.ctrlKey && !e.metaKey && !sideways) return;  // a plain wheel scrolls the page
    e.preventDefault();
    if (sideways) setDomain(moved(domain, whole, (e.deltaX / width) * (domain.to - domain.from)));
    else setDomain(zoomed(domain, whole, Math.exp(Math.max(-60, Math.min(60, e.deltaY)) / 120), timeAt(at(e).x)));
  };
  useEffect(() => {
    const element = canvas.current!;
    const listen = (e: WheelEvent) => wheel.current(e);
    element.addEventListener("wheel", listen, { passive: false });
    return () => element.removeEventListener("wheel", listen);
  }, []);

  const keyboard = (e: KeyboardEvent) => {
    const length = domain.to - domain.from;
    const centre = (domain.from + domain.to) / 2;
    let handled = true;
    if (e.key === "+" || e.key === "=") setDomain(zoomed(domain, whole, 0.6, centre));
    else if (e.key === "-") setDomain(zoomed(domain, whole, 1 / 0.6, centre));
    else if (e.key === "0" || e.key === "Home") setDomain(whole);
    else if (e.key === "ArrowLeft" && !e.shiftKey) setDomain(moved(domain, whole, -0.15 * length));
    else if (e.key === "ArrowRight" && !e.shiftKey) setDomain(moved(domain, whole, 0.15 * length));
    else if (e.key === "ArrowLeft" || e.key === "ArrowRight") step(e.key === "ArrowRight" ? 1 : -1);
    else if (e.key === "ArrowDown" || e.key === "ArrowUp") other(e.key === "ArrowDown" ? 1 : -1);
    else if (e.key === "Enter" && mine !== null) toSelected();
    else if (e.key === "Escape") select(null);
    else handled = false;
    if (handled) e.preventDefault();
  };
  const show = (worker: number, slice: number) => {
    const lane = run.lanes.find((l) => l.worker === worker)!;
    const s = { run: run.index, worker, slice };
    select(s);
    if (lane.end[slice] < domain.from || lane.begin[slice] > domain.to) {
      setDomain(moved(domain, whole, lane.begin[slice] - (domain.from + domain.to) / 2));
    }
  };
  const step = (by: number) => {
    const lane = run.lanes.find((l) => l.worker === (mine?.worker ?? run.lanes[0]?.worker));
    if (lane === undefined || lane.count === 0) return;
    const now = mine?.slice ?? firstAfter(lane.end, lane.count, domain.from) - by;
    show(lane.worker, Math.min(Math.max(now + by, 0), lane.count - 1));
  };
  const other = (by: number) => {
    if (run.lanes.length === 0) return;
    const row = run.lanes.findIndex((l) => l.worker === mine?.worker);
    const lane = run.lanes[Math.min(Math.max(row < 0 ? 0 : row + by, 0), run.lanes.length - 1)];
    const now = mine === null ? (domain.from + domain.to) / 2 : (run.lanes[row].begin[mine.slice] + run.lanes[row].end[mine.slice]) / 2;
    if (lane.count > 0) show(lane.worker, Math.min(firstAfter(lane.end, lane.count, now), lane.count - 1));
  };
  const toSelected = () => {
    const lane = run.lanes.find((l) => l.worker === mine!.worker)!;
    const length = Math.max(lane.end[mine!.slice] - lane.begin[mine!.slice], 20) * 3;
    setDomain(clamped({ from: (lane.begin[mine!.slice] + lane.end[mine!.slice] - length) / 2, to: 0 }, Math.min(length, whole.to - whole.from), whole));
  };

  const down = (e: MouseEvent) => {
    if (e.button === 0) drag.current = { x: at(e).x, domain, moved: false };
  };
  const move = (e: MouseEvent) => {
    const p = at(e);
    if (drag.current !== null) {
      const by = drag.current.x - p.x;
      if (Math.abs(by) > 3) drag.current.moved = true;
      if (drag.current.moved) {
        const d = drag.current.domain;
        setDomain(moved(d, whole, (by / width) * (d.to - d.from)));
        return setTip(null);
      }
    }
    const found = hit(run, width, domain, p.x, p.y);
    setTip(found === null ? null : { ...p, text: describe(run, { run: run.index, ...found }) });
  };
  const up = (e: MouseEvent) => {
    const was = drag.current;
    drag.current = null;
    if (was === null || was.moved) return;
    const p = at(e);
    const found = hit(run, width, domain, p.x, p.y);
    select(found === null ? null : { run: run.index, ...found });
  };

  return (
    <div class="timeline" ref={holder}>
      <canvas
        ref={canvas} tabIndex={0} role="application" data-run={run.index}
        aria-label={`Timeline of ${run.label}: ${run.lanes.length} workers over ${format.time(run.wall)}. Arrows move, plus and minus zoom, up and down change the worker, shift and arrows the slice.`}
        onKeyDown={keyboard} onMouseDown={down} onMouseMove={move} onMouseUp={up}
        onMouseLeave={() => { drag.current = null; setTip(null); }}
        onDblClick={(e) => setDomain(zoomed(domain, whole, 0.35, timeAt(at(e).x)))}
      />
      {tip !== null && (
        <div class="tip" style={{ left: `${Math.min(tip.x + 12, Math.max(0, width - 330))}px`, top: `${tip.y + 14}px` }}>{tip.text}</div>
      )}
      <p class="selected" aria-live="polite">{mine === null ? "" : describe(run, mine)}</p>
    </div>
  );
}

/** All slices of a run whose name matches, by time: the places that "next" goes to. */
export function matchesOf(run: Run, query: string): { names: Uint8Array; list: { worker: number; slice: number; at: number }[]; time: number } | null {
  const wanted = query.trim().toLowerCase();
  if (wanted === "") return null;
  const names = new Uint8Array(run.names.length);
  run.names.forEach((n, i) => (names[i] = n.toLowerCase().includes(wanted) ? 1 : 0));
  const list: { worker: number; slice: number; at: number }[] = [];
  let time = 0;
  for (const lane of run.lanes) {
    for (let i = 0; i < lane.count; ++i) {
      if (lane.what[i] !== BUSY || names[lane.name[i]] === 0) continue;
      list.push({ worker: lane.worker, slice: i, at: lane.begin[i] });
      time += lane.end[i] - lane.begin[i];
    }
  }
  list.sort((a, b) => a.at - b.at);
  return { names, list, time };
}
