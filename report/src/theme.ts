// Colours of canvases, read from the style sheet so that both follow the same theme. Colour alone never carries
// information: activities differ in height and hatching, functions in their letter, workers in their number.

export interface Theme {
  paper: string; panel: string; ink: string; muted: string; line: string; accent: string;
  busy: string; overhead: string; path: string; mark: string;
  names: string[];
  dark: boolean;
}

export function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    paper: value("paper"), panel: value("panel"), ink: value("ink"), muted: value("muted"), line: value("line"), accent: value("accent"),
    busy: value("busy"), overhead: value("overhead"), path: value("path"), mark: value("mark"),
    names: Array.from({ length: 8 }, (_, i) => value(`name-${i}`)),
    dark: value("dark") === "1",
  };
}

/** A letter for each of the eight names with most time; the other names share the last one. */
export const letters = "ABCDEFGH";
export const letterOf = (rank: number) => letters[Math.min(rank, 7)];

// From dark blue to yellow with even steps of lightness, so that the order of workers survives a grey printer.
const stops = [
  [53, 33, 93], [55, 77, 133], [42, 117, 142], [46, 152, 132], [104, 183, 98], [180, 205, 68], [250, 227, 91],
];

export function workerColour(worker: number, workers: number): string {
  const at = workers <= 1 ? 0.35 * (stops.length - 1) : (worker / (workers - 1)) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  const mix = stops[low].map((c, i) => Math.round(c + (stops[low + 1][i] - c) * (at - low)));
  return `rgb(${mix.join(",")})`;
}

/** Returns black or white, whichever can be read on a worker's colour. */
export function workerInk(worker: number, workers: number): string {
  return workers <= 1 || worker / (workers - 1) < 0.5 ? "#fff" : "#111";
}

/** Oblique lines for overhead. */
export function hatch(context: CanvasRenderingContext2D, colour: string, paper: string, scale: number): CanvasPattern {
  const tile = document.createElement("canvas");
  const side = Math.round(5 * scale);
  tile.width = tile.height = side;
  const c = tile.getContext("2d")!;
  c.fillStyle = paper;
  c.fillRect(0, 0, side, side);
  c.strokeStyle = colour;
  c.lineWidth = 1.7 * scale;
  c.beginPath();
  for (const shift of [-side, 0, side]) {
    c.moveTo(shift - scale, side + scale);
    c.lineTo(shift + side + scale, -scale);
  }
  c.stroke();
  return context.createPattern(tile, "repeat")!;
}

/** Sizes a canvas for the screen's pixels and clears it; drawing is in CSS pixels. */
export function prepare(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const scale = window.devicePixelRatio || 1;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d")!;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}
