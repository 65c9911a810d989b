// Draws the timeline of one run: axis, busy workers over time, critical path, a lane for each worker.
import { ticks, tickStep } from "d3-array";
import * as format from "./format";
import { BUSY, IDLE, OFF, OVERHEAD, firstAfter, type Run } from "./model";
import { hatch, letterOf, prepare, type Theme } from "./theme";

export interface Domain { from: number; to: number }

export interface Selection { run: number; worker: number; slice: number }

export interface Layout {
  width: number; height: number;
  left: number; axis: number; chart: number; path: number;
  outside: number;  // y of the parts that kernel threads outside the workers were in
  part: number;        // height of one of their rows
  lanes: number;       // y of the first lane
  lane: number;        // height of a lane, gap included
}

export function layout(run: Run, width: number): Layout {
  const n = Math.max(run.lanes.length, 1);
  const lane = Math.max(7, Math.min(24, Math.round(560 / n)));
  const axis = 22, chart = 64, path = 12;
  const part = 17;
  const outside = axis + chart + path + 10;
  const lanes = outside + outsideRows(run).length * part + (run.outside.length > 0 ? 4 : 0);
  return { width, height: lanes + n * lane + 6, left: 92, axis, chart, path, outside, part, lanes, lane };
}

/** A row for each kernel thread and each depth of nesting, at most six. */
function outsideRows(run: Run): string[] {
  return [...new Set(run.outside.map(([thread, depth]) => `${thread} ${depth}`))].slice(0, 6);
}

const small = '11px system-ui, "Segoe UI", sans-serif';

export function draw(canvas: HTMLCanvasElement, run: Run, width: number, domain: Domain, theme: Theme, matches: Uint8Array | null,
                     selected: Selection | null): void {
  const l = layout(run, width);
  const c = prepare(canvas, l.width, l.height);
  const inner = l.width - l.left - 2;
  const scale = inner / (domain.to - domain.from);
  const x = (ns: number) => l.left + (ns - domain.from) * scale;
  const pixels = Math.max(1, Math.ceil(inner));
  const striped = hatch(c, theme.overhead, theme.paper, 1);
  c.font = small;
  c.textBaseline = "middle";

  // Axis.
  const step = tickStep(domain.from, domain.to, Math.max(2, inner / 110));
  c.strokeStyle = theme.line;
  c.lineWidth = 1;
  c.textAlign = "center";
  for (const t of ticks(domain.from, domain.to, Math.max(2, inner / 110))) {
    const at = Math.round(x(t)) + 0.5;
    c.beginPath();
    c.moveTo(at, l.axis - 5);
    c.lineTo(at, l.height);
    c.stroke();
    c.fillStyle = theme.muted;
    const label = format.tick(t, step, domain.to);
    const half = c.measureText(label).width / 2;
    c.fillText(label, Math.min(Math.max(at, l.left + half), l.width - half - 1), l.axis - 13);
  }

  // Parts that the program named in main and in other kernel threads outside the workers.
  outsideRows(run).forEach((row, i) => {
    const top = l.outside + i * l.part;
    c.fillStyle = theme.muted;
    c.textAlign = "right";
    if (row.endsWith(" 0")) c.fillText("outside", l.left - 8, top + l.part / 2);
    for (const [thread, depth, begin, end, name] of run.outside) {
      if (`${thread} ${depth}` !== row || end < domain.from || begin > domain.to) continue;
      const a = Math.max(x(begin), l.left), b = Math.min(x(end), l.width - 2);
      c.strokeStyle = theme.muted;
      c.strokeRect(a + 0.5, top + 1.5, Math.max(b - a - 1, 1), l.part - 4);
      if (b - a < 30) continue;
      c.save();
      c.beginPath();
      c.rect(a, top, b - a - 3, l.part);
      c.clip();
      c.fillStyle = theme.ink;
      c.textAlign = "left";
      c.fillText(name, a + 5, top + l.part / 2);
      c.restore();
    }
  });

  // Lanes, and the sums for the chart above them.
  const busy = new Float64Array(pixels);
  const spent = new Float64Array(pixels);
  const shares = { busy: new Float64Array(pixels), over: new Float64Array(pixels), off: new Float64Array(pixels), name: new Int32Array(pixels), most: new Float64Array(pixels) };
  for (let row = 0; row < run.lanes.length; ++row) {
    const lane = run.lanes[row];
    const top = l.lanes + row * l.lane;
    const tall = l.lane - (l.lane > 9 ? 3 : 1);
    const floor = top + tall;
    if (l.lane >= 12 || row % Math.ceil(13 / l.lane) === 0) {
      c.fillStyle = theme.muted;
      c.textAlign = "right";
      c.fillText(`worker ${lane.worker}`, l.left - 8, top + tall / 2 + 0.5);
    }
    c.fillStyle = theme.line;
    c.fillRect(l.left, floor - 1, inner, 1);
    shares.busy.fill(0);
    shares.over.fill(0);
    shares.off.fill(0);
    shares.most.fill(0);
    for (let i = firstAfter(lane.end, lane.count, domain.from); i < lane.count && lane.begin[i] < domain.to; ++i) {
      const begin = Math.max(lane.begin[i], domain.from);
      const end = Math.min(lane.end[i], domain.to);
      const what = lane.what[i];
      const a = (begin - domain.from) * scale;
      const b = (end - domain.from) * scale;
      // Shares of pixels, for the chart and for slices that are thinner than a pixel.
      const first = Math.min(pixels - 1, Math.floor(a));
      const last = Math.min(pixels - 1, Math.floor(b));
      if (what === BUSY) {
        if (first === last) busy[first] += b - a;
        else {
          busy[first] += first + 1 - a;
          for (let p = first + 1; p < last; ++p) busy[p] += 1;
          busy[last] += b - last;
        }
      }
      if (first === last) spent[first] += b - a;
      else {
        spent[first] += first + 1 - a;
        for (let p = first + 1; p < last; ++p) spent[p] += 1;
        spent[last] += b - last;
      }
      if (b - a < 1.5) {
        const add = (p: number, part: number) => {
          if (what === BUSY) shares.busy[p] += part;
          else if (what === OVERHEAD) shares.over[p] += part;
          else if (what === OFF) shares.off[p] += part;
          if (what === BUSY && part > shares.most[p]) {
            shares.most[p] = part;
            shares.name[p] = lane.name[i];
          }
        };
        if (first === last) add(first, b - a);
        else {
          add(first, first + 1 - a);
          add(last, b - last);
        }
        continue;
      }
      const dim = matches !== null && (what !== BUSY || matches[lane.name[i]] === 0);
      c.globalAlpha = dim ? 0.22 : 1;
      const left = l.left + a;
      const wide = b - a;
      if (what === BUSY) {
        const rank = run.rank[lane.name[i]];
        c.fillStyle = theme.names[Math.min(rank, 7)];
        c.fillRect(left, top, Math.max(wide - (wide > 3 ? 0.6 : 0), 0.7), tall);
        if (tall >= 10 && wide > 14 && !dim) label(c, run, lane.name[i], left, top, wide, tall, theme);
      } else if (what === OVERHEAD) {
        c.fillStyle = striped;
        c.fillRect(left, top + tall * 0.45, wide, tall * 0.55);
      } else if (what === IDLE) {
        c.fillStyle = theme.muted;
        c.fillRect(left, floor - 1.5, wide, 1.5);
      } else {
        c.fillStyle = theme.muted;
        for (let at = left; at < left + wide; at += 6) c.fillRect(at, floor - 2, 2, 2);
      }
      c.globalAlpha = 1;
    }
    for (let p = 0; p < pixels; ++p) {
      const full = Math.min(1, shares.busy[p]);
      if (full > 0.01) {
        const dim = matches !== null && matches[shares.name[p]] === 0;
        c.globalAlpha = dim ? 0.22 : 1;
        c.fillStyle = theme.names[Math.min(run.rank[shares.name[p]], 7)];
        c.fillRect(l.left + p, floor - tall * full, 1, tall * full);
      }
      if (shares.over[p] > 0.05) {
        c.fillStyle = theme.overhead;
        const height = Math.min(tall * 0.55, tall * shares.over[p]);
        c.fillRect(l.left + p, floor - tall * full - height, 1, height);
      }
      c.globalAlpha = 1;
    }
    if (selected !== null && selected.worker === lane.worker && selected.slice < lane.count) {
      const a = Math.max(x(lane.begin[selected.slice]), l.left), b = Math.min(x(lane.end[selected.slice]), l.width);
      if (b >= l.left && a <= l.width) {
        c.strokeStyle = theme.ink;
        c.lineWidth = 2;
        c.strokeRect(a - 0.5, top - 0.5, Math.max(b - a, 3), tall + 1);
      }
    }
  }

  // Busy workers.
  const base = l.axis + l.chart;
  const n = Math.max(run.lanes.length, 1);
  c.fillStyle = theme.busy;
  c.globalAlpha = 0.28;
  c.beginPath();
  c.moveTo(l.left, base);
  for (let p = 0; p < pixels; ++p) c.lineTo(l.left + p + 0.5, base - (busy[p] / n) * (l.chart - 8));
  c.lineTo(l.left + inner, base);
  c.fill();
  c.globalAlpha = 1;
  c.strokeStyle = theme.busy;
  c.lineWidth = 1.4;
  c.beginPath();
  for (let p = 0; p < pixels; ++p) {
    if (spent[p] === 0 && p > 0 && spent[p - 1] === 0) continue;
    const y = base - (busy[p] / n) * (l.chart - 8);
    if (p === 0) c.moveTo(l.left + 0.5, y);
    else c.lineTo(l.left + p + 0.5, y);
  }
  c.stroke();
  c.strokeStyle = theme.line;
  c.lineWidth = 1;
  for (const part of [0, 0.5, 1]) {
    const y = Math.round(base - part * (l.chart - 8)) + 0.5;
    c.beginPath();
    c.moveTo(l.left, y);
    c.lineTo(l.width, y);
    c.stroke();
    c.fillStyle = theme.muted;
    c.textAlign = "right";
    c.fillText(String(+(n * part).toFixed(1)), l.left - 8, y);
  }
  c.save();
  c.translate(11, base - (l.chart - 8) / 2);
  c.rotate(-Math.PI / 2);
  c.textAlign = "center";
  c.fillText("busy", 0, 0);
  c.restore();

  // Critical path: a strip, and a line under the slices that are on it.
  const strip = base + 4;
  c.fillStyle = theme.muted;
  c.textAlign = "right";
  c.fillText("critical path", l.left - 8, strip + l.path / 2);
  const rowOf = new Map(run.lanes.map((lane, row) => [lane.worker, row]));
  c.fillStyle = theme.path;
  let drawn = -1;
  for (let i = firstAfter(run.path.end, run.path.count, domain.from); i < run.path.count && run.path.begin[i] < domain.to; ++i) {
    const a = Math.max(x(run.path.begin[i]), l.left), b = Math.min(x(run.path.end[i]), l.width - 2);
    const wide = Math.max(b - a, 0.6);
    // there may be thousands of them in one pixel
    if (b < drawn && wide < 1) continue;
    drawn = Math.floor(b) + (wide < 1 ? 0.25 : 0);
    c.fillRect(a, strip + 2, wide, l.path - 4);
    const row = rowOf.get(run.path.worker[i]);
    if (row !== undefined && wide >= 0.6) c.fillRect(a, l.lanes + (row + 1) * l.lane - (l.lane > 9 ? 2.5 : 1), wide, l.lane > 9 ? 2 : 1);
  }

  // Steals, once there is room for arrows.
  const from = firstAfter(run.thefts.at, run.thefts.count, domain.from);
  const to = firstAfter(run.thefts.at, run.thefts.count, domain.to);
  if (to - from <= inner / 12 && l.lane >= 10) {
    c.strokeStyle = theme.ink;
    c.fillStyle = theme.ink;
    c.lineWidth = 1;
    c.globalAlpha = 0.75;
    for (let i = from; i < to; ++i) {
      const source = rowOf.get(run.thefts.victim[i]), goal = rowOf.get(run.thefts.thief[i]);
      if (source === undefined || goal === undefined) continue;
      const a = x(run.thefts.at[i] - run.thefts.took[i]), b = x(run.thefts.at[i]);
      const y0 = l.lanes + (source + 0.5) * l.lane, y1 = l.lanes + (goal + 0.5) * l.lane;
      c.beginPath();
      c.moveTo(a, y0);
      c.lineTo(b, y1);
      c.stroke();
      const angle = Math.atan2(y1 - y0, b - a);
      c.beginPath();
      c.moveTo(b, y1);
      c.lineTo(b - 6 * Math.cos(angle - 0.4), y1 - 6 * Math.sin(angle - 0.4));
      c.lineTo(b - 6 * Math.cos(angle + 0.4), y1 - 6 * Math.sin(angle + 0.4));
      c.fill();
    }
    c.globalAlpha = 1;
  }

  // The end of the run, in the common scale of all runs.
  if (run.wall < domain.to && run.wall >= domain.from) {
    const end = Math.round(x(run.wall)) + 0.5;
    if (l.width - end > 60) {
      c.setLineDash([3, 3]);
      c.strokeStyle = theme.muted;
      c.beginPath();
      c.moveTo(end, l.axis);
      c.lineTo(end, l.height);
      c.stroke();
      c.setLineDash([]);
      c.fillStyle = theme.muted;
      c.textAlign = "left";
      c.fillText(`ended after ${format.time(run.wall)}`, end + 6, l.axis + 14);
    }
  } else if (run.wall < domain.from) {
    c.fillStyle = theme.muted;
    c.textAlign = "center";
    c.fillText(`ended after ${format.time(run.wall)}`, l.left + inner / 2, l.axis + l.chart / 2);
  }
}

// Draws the name or, where it has no room, its letter in the legend.
function label(c: CanvasRenderingContext2D, run: Run, name: number, left: number, top: number, wide: number, tall: number, theme: Theme): void {
  c.fillStyle = theme.dark ? "#0d1014" : "#fff";
  const rank = run.rank[name];
  const y = top + tall / 2 + 0.5;
  if (wide < 46) {
    c.textAlign = "center";
    if (rank < 8) c.fillText(letterOf(rank), left + wide / 2, y);
    return;
  }
  c.textAlign = "left";
  let text = format.taskName(run.names[name]);
  const room = wide - 8;
  if (c.measureText(text).width > room) {
    const fits = Math.max(1, Math.floor((room / c.measureText(text).width) * text.length) - 1);
    text = `${text.slice(0, fits)}…`;
  }
  c.fillText(text, left + 4, y);
}

export interface Hit { worker: number; slice: number }

/** The slice at a point of the canvas. */
export function hit(run: Run, width: number, domain: Domain, px: number, py: number): Hit | null {
  const l = layout(run, width);
  const row = Math.floor((py - l.lanes) / l.lane);
  if (row < 0 || row >= run.lanes.length || px < l.left) return null;
  const lane = run.lanes[row];
  const time = domain.from + ((px - l.left) * (domain.to - domain.from)) / (l.width - l.left - 2);
  const i = firstAfter(lane.end, lane.count, time);
  return i < lane.count && lane.begin[i] <= time ? { worker: lane.worker, slice: i } : null;
}
